package capture

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Names of the files in a message's folder of an export.zip.
const (
	MessageJSON      = "message.json"       // typed JSON
	ContentHeaderBin = "content-header.bin" // the content header's payload
	// the field table with its length octets; absent where there is no headers property
	HeadersBin = "headers.bin"
	BodyBin    = "body.bin" // as much of the body as was kept
)

const (
	// maxDirectory is how much of a zip's directory is read, in bytes.
	maxDirectory = 16 << 20
	// maxInflation is how many times larger than the zip its files may be in all. Deflate cannot
	// reach it, but files that share their octets can.
	maxInflation = 1032
)

var (
	errDirectory = fmt.Errorf("the directory of the zip takes more than %d MiB", maxDirectory>>20)
	errInflation = errors.New("the files of the zip are larger in all than anything that compresses to its size")
	errNoFolders = errors.New("there is no content-header.bin in the zip: it is no export of messages")
	errHeader    = fmt.Errorf("a content header has more than %d MiB", maxFrame>>20)
)

// folder is a message in an export.zip.
type folder struct{ message, header, body *zip.File }

// readFolders reads an export.zip. Only messages that have a content-header.bin count.
func readFolders(ctx context.Context, r io.ReaderAt, size int64, s *streams) error {
	limited := &directoryReader{r: r, left: maxDirectory}
	z, err := zip.NewReader(limited, size)
	if err != nil {
		return &Error{Offset: -1, Err: err}
	}
	limited.left = -1
	s.Missing = cut(z.Comment)
	byName := make(map[string]*folder)
	var inOrder []*folder
	for _, f := range z.File {
		name := path.Dir(f.Name)
		d := byName[name]
		if d == nil {
			d = &folder{}
			byName[name] = d
			inOrder = append(inOrder, d)
		}
		switch path.Base(f.Name) {
		case MessageJSON:
			d.message = f
		case ContentHeaderBin:
			d.header = f
		case BodyBin:
			d.body = f
		}
	}
	left := size * maxInflation
	found := false
	for _, d := range inOrder {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.header == nil {
			continue
		}
		found = true
		if err := s.folder(d, &left); err != nil {
			return err
		}
	}
	if !found && len(z.File) > 0 {
		return &Error{Offset: -1, Err: errNoFolders}
	}
	return nil
}

// folder takes a message. left is how many octets may still be unpacked.
func (s *streams) folder(d *folder, left *int64) error {
	var e typedjson.Message
	var err error
	if e.ContentHeader, err = unpack(d.header, maxFrame, errHeader, left); err != nil {
		return err
	}
	e.BodyBytes = wire.ViewContentHeader(e.ContentHeader).BodySize()
	e.Received = d.header.Modified
	header := e.ContentHeader
	if d.message != nil {
		text, err := unpack(d.message, maxLine, errLineLength, left)
		if err == nil {
			if err = json.Unmarshal(text, &e); err != nil {
				err = &Error{Entry: d.message.Name, Err: err}
			}
		}
		if err != nil {
			return err
		}
	}
	e.ContentHeader = header
	if d.body != nil {
		if e.Body, err = unpack(d.body, s.bodyLimit, nil, left); err != nil {
			return err
		}
	}
	if err := checkReceived(e.Received); err != nil {
		return &Error{Entry: d.header.Name, Err: err}
	}
	delivery := e.Delivery()
	s.record(&delivery, e.Received, e.Body)
	return nil
}

// unpack reads a file of a zip. One that is longer than the limit is an error, or, when tooLong is
// nil, read up to there.
func unpack(f *zip.File, limit int, tooLong error, left *int64) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, &Error{Entry: f.Name, Err: err} }
	r, err := f.Open()
	if err != nil {
		return fail(err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, min(int64(limit)+1, *left+1)))
	*left -= int64(len(b))
	switch {
	case err != nil:
		return fail(err)
	case *left < 0:
		return fail(errInflation)
	case len(b) > limit && tooLong != nil:
		return fail(tooLong)
	}
	return b[:min(len(b), limit)], nil
}

// directoryReader bounds how much is read while left is not negative.
type directoryReader struct {
	r    io.ReaderAt
	left int64
}

func (d *directoryReader) ReadAt(p []byte, off int64) (int, error) {
	if d.left < 0 {
		return d.r.ReadAt(p, off)
	}
	if int64(len(p)) > d.left {
		return 0, errDirectory
	}
	d.left -= int64(len(p))
	return d.r.ReadAt(p, off)
}
