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
	w    io.Writer
	s    Selection
	line []byte
}

func (e *jsonlWriter) Write(m archive.Message) error {
	b := append(typedjson.AppendWhole(e.line[:0], m, e.s.Dialect), '\n')
	_, err := e.w.Write(b)
	e.line = scratch(b)
	return err
}

func (e *jsonlWriter) Close() error { return nil }
