package export

import (
	"fmt"
	"io"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/web/capture"
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

// Cut writes a line that is no message, which replay understands.
func (e *jsonlWriter) Cut(missing int) error {
	_, err := fmt.Fprintf(e.w, "{%q:%d,%q:%q}\n", capture.CutMember, missing, "reason", capture.CutOff(missing))
	return err
}
