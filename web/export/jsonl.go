package export

import (
	"io"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

// jsonLines is a message a line: its typed JSON, with its octets in base64.
func jsonLines() Format {
	return Format{
		Extension: "jsonl",
		Type:      "application/jsonl",
		Label:     "JSON Lines",
		Use:       "typed and lossless, a message a line; headerglass replay opens it",
		Decodes:   true,
		Begin:     func(w io.Writer, s Selection) (Writer, error) { return &jsonlWriter{w: w, s: s}, nil },
	}
}

type jsonlWriter struct {
	w   io.Writer
	s   Selection
	buf []byte
}

func (e *jsonlWriter) Write(m archive.Message) error {
	var err error
	if e.buf, err = typedjson.WriteWhole(e.w, e.buf, m, e.s.Dialect); err != nil {
		return err
	}
	_, err = e.w.Write([]byte{'\n'})
	return err
}

func (e *jsonlWriter) Close() error { return nil }
