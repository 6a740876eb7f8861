package web

import (
	"archive/zip"
	"fmt"
	"io"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/web/capture"
)

const (
	// zipMessages keeps the number of files in 16 bits, which every program that opens a zip can
	// count, and the directory, which must be kept until it is written last, in 20 MB of memory.
	zipMessages = (1<<16 - 1) / zipFiles
	zipFiles    = 4 // of a message
	// zipDeflate is from how many bytes on a file is compressed.
	zipDeflate = 512
)

// zipExport is a folder a message, with the octets as delivered and typed JSON. It decodes every
// message that it writes, and counts it.
func zipExport() exportFormat {
	return exportFormat{
		extension:   "zip",
		contentType: "application/zip",
		max:         zipMessages,
		begin: func(s *Server, w io.Writer, e export) (exporter, error) {
			z := zip.NewWriter(w)
			// Folders sort by number in any program: as many digits as the last one has, and some
			// for company.
			digits := max(len(fmt.Sprint(e.last)), 6)
			return &zipExporter{
				s:       s,
				z:       z,
				dialect: e.dialect,
				digits:  digits,
			}, z.SetComment(e.String()[:min(len(e.String()), maxZipComment)])
		},
	}
}

// maxZipComment is shorter than the 65,535 bytes that a zip can say, so that all programs find its
// end.
const maxZipComment = 1 << 10

type zipExporter struct {
	s       *Server
	z       *zip.Writer
	dialect *fieldtable.Dialect
	digits  int
	json    []byte
}

func (e *zipExporter) message(m archive.Message) error {
	folder := fmt.Sprintf("%0*d/", e.digits, m.Seq())
	e.json = append(e.s.appendMessage(scratch(e.json)[:0], m, e.dialect), '\n')
	if err := e.file(m, folder+capture.MessageJSON, e.json); err != nil {
		return err
	}
	if headers, ok := m.HeaderTable(); ok {
		if err := e.file(m, folder+capture.HeadersBin, headers); err != nil {
			return err
		}
	}
	if err := e.file(m, folder+capture.ContentHeaderBin, m.Header().Payload()); err != nil {
		return err
	}
	return e.file(m, folder+capture.BodyBin, m.Body())
}

func (e *zipExporter) file(m archive.Message, name string, b []byte) error {
	h := &zip.FileHeader{Name: name, Modified: m.Received().UTC()}
	if len(b) >= zipDeflate {
		h.Method = zip.Deflate
	}
	w, err := e.z.CreateHeader(h)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func (e *zipExporter) close() error { return e.z.Close() }
