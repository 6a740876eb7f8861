package export

import (
	"encoding/base64"
	"io"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// jsonLines is a message a line: its typed JSON, and its octets in base64.
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
	b := e.s.AppendMessage(e.line[:0], m, e.s.Dialect)
	b = append(b[:len(b)-1], `,"content_header_base64":"`...)
	b = base64.StdEncoding.AppendEncode(b, m.Header().Payload())
	b = append(b, `","body_base64":"`...)
	b = base64.StdEncoding.AppendEncode(b, m.Body())
	b = append(b, '"', '}', '\n')
	_, err := e.w.Write(b)
	e.line = scratch(b)
	return err
}

func (e *jsonlWriter) Close() error { return nil }
