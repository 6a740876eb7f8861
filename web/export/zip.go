package export

import (
	"archive/zip"
	"fmt"
	"io"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
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

// zipFolders is a folder a message, with the octets as delivered and typed JSON.
func zipFolders() Format {
	return Format{
		Extension:  "zip",
		Type:       "application/zip",
		Label:      "ZIP",
		Use:        "each message's bytes as delivered, and its JSON; headerglass replay opens it",
		Compressed: true,
		Decodes:    true,
		Most:       zipMessages,
		Begin: func(w io.Writer, s Selection) (Writer, error) {
			z := zip.NewWriter(w)
			// Folders sort by number in any program: as many digits as the last one has, and some
			// for company.
			digits := max(len(fmt.Sprint(s.Last)), 6)
			comment := s.String()
			err := z.SetComment(comment[:min(len(comment), maxZipComment)])
			return &zipWriter{s: s, z: z, digits: digits}, err
		},
	}
}

// maxZipComment is shorter than the 65,535 bytes that a zip can say, so that all programs find its
// end.
const maxZipComment = 1 << 10

type zipWriter struct {
	s      Selection
	z      *zip.Writer
	digits int
	json   []byte
}

func (e *zipWriter) Write(m archive.Message) error {
	folder := fmt.Sprintf("%0*d/", e.digits, m.Seq())
	e.json = append(typedjson.AppendMessage(scratch(e.json)[:0], m, e.s.Dialect), '\n')
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

func (e *zipWriter) file(m archive.Message, name string, b []byte) error {
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

func (e *zipWriter) Close() error { return e.z.Close() }
