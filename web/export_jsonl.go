package web

import (
	"encoding/base64"
	"io"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// jsonlExport is a message a line, as /api/messages/{seq} has it and with its octets in base64. It
// decodes every message that it writes, and counts it.
func jsonlExport() exportFormat {
	return exportFormat{
		extension:   "jsonl",
		contentType: "application/jsonl",
		begin: func(s *Server, w io.Writer, e export) (exporter, error) {
			return &jsonlExporter{s: s, w: w, dialect: e.dialect}, nil
		},
	}
}

type jsonlExporter struct {
	s       *Server
	w       io.Writer
	dialect *fieldtable.Dialect
	line    []byte
}

func (e *jsonlExporter) message(m archive.Message) error {
	b := e.s.appendMessage(e.line[:0], m, e.dialect)
	b = b[:len(b)-1]
	b = append(member(b, "content_header_base64"), '"')
	b = base64.StdEncoding.AppendEncode(b, m.Header().Payload())
	b = append(b, '"')
	b = append(member(b, "body_base64"), '"')
	b = base64.StdEncoding.AppendEncode(b, m.Body())
	b = append(b, '"', '}', '\n')
	_, err := e.w.Write(b)
	e.line = scratch(b)
	return err
}

func (e *jsonlExporter) close() error { return nil }

// maxScratch is how large a buffer may be that is kept for the next message.
const maxScratch = 1 << 20

// scratch returns b to be used again, unless it has grown too large for that.
func scratch(b []byte) []byte {
	if cap(b) > maxScratch {
		return nil
	}
	return b
}
