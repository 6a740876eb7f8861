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
	// zipMemory is what compressing takes, zipKept the directory's entries of a message.
	zipMemory = 1 << 20
	zipKept   = zipFiles * 320
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
		Memory:     zipMemory,
		Kept:       zipKept,
		Begin: func(w io.Writer, s Selection) (Writer, error) {
			z := zip.NewWriter(w)
			// Folders sort by number in any program: as many digits as the last one has, and some
			// for company.
			digits := max(len(fmt.Sprint(s.Last)), 6)
			e := &zipWriter{s: s, z: z, digits: digits}
			return e, e.comment(s.String())
		},
	}
}

// Message is the form that one message is downloaded in.
func Message() Format { return zipFolders() }

// maxZipComment is shorter than the 65,535 bytes that a zip can say, so that all programs find its
// end.
const maxZipComment = 1 << 10

type zipWriter struct {
	s      Selection
	z      *zip.Writer
	digits int
	buf    []byte
}

func (e *zipWriter) Write(m archive.Message) error {
	folder := fmt.Sprintf("%0*d/", e.digits, m.Seq())
	if e.s.Sourced {
		folder = m.Origin().Source + "-" + folder
	}
	w, err := e.z.CreateHeader(e.header(m, folder+capture.MessageJSON, zip.Deflate))
	if err != nil {
		return err
	}
	if e.buf, err = typedjson.WriteMessage(w, e.buf, m, e.s.Dialect, nil); err != nil {
		return err
	}
	if _, err := w.Write([]byte{'\n'}); err != nil {
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
	method := zip.Store
	if len(b) >= zipDeflate {
		method = zip.Deflate
	}
	w, err := e.z.CreateHeader(e.header(m, name, method))
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func (e *zipWriter) header(m archive.Message, name string, method uint16) *zip.FileHeader {
	return &zip.FileHeader{Name: name, Modified: m.Received().UTC(), Method: method}
}

func (e *zipWriter) comment(text string) error {
	return e.z.SetComment(text[:min(len(text), maxZipComment)])
}

func (e *zipWriter) Close() error { return e.z.Close() }

// Cut begins the comment of the file with what is missing.
func (e *zipWriter) Cut(missing int) error {
	if err := e.comment(capture.CutOff(missing) + "; " + e.s.String()); err != nil {
		return err
	}
	return e.z.Close()
}
