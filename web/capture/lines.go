package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

// maxLine is the longest line of an export that is read, in bytes. It is also the most that is read
// of a message.json.
const maxLine = 64 << 20

var (
	errLineLength = fmt.Errorf("a message takes more than %d MiB", maxLine>>20)
	errNoContent  = errors.New("content_header_base64 is missing: this is no line of an export")
	errTime       = errors.New("received is missing, or in a year that nothing was received in")
)

// checkReceived refuses times that an archive, which counts nanoseconds in 64 bits, cannot keep.
func checkReceived(t time.Time) error {
	if y := t.Year(); y < 1970 || y > 2200 {
		return errTime
	}
	return nil
}

// readLines reads an export.jsonl.
func readLines(ctx context.Context, r io.Reader, s *streams) error {
	in := bufio.NewReaderSize(r, readBuffer)
	var line []byte
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		fail := func(err error) error { return &Error{Line: n, Err: err} }
		var err error
		line, err = readLine(in, line[:0])
		if err != nil && err != io.EOF {
			return fail(err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := s.line(text); err != nil {
				return fail(err)
			}
		}
		if err == io.EOF {
			return nil
		}
		if cap(line) > largeBuffer {
			line = nil
		}
	}
}

func (s *streams) line(text []byte) error {
	var e typedjson.Message
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	if e.ContentHeader == nil {
		var end map[string]json.RawMessage
		if json.Unmarshal(text, &end) == nil && json.Unmarshal(end[CutMember], &s.Missing) == nil {
			return nil
		}
		return errNoContent
	}
	if err := checkReceived(e.Received); err != nil {
		return err
	}
	d := e.Delivery()
	s.record(&d, e.Received, e.Body)
	return nil
}

// readLine appends the next line to dst, with its end. The error is io.EOF with the last line.
func readLine(in *bufio.Reader, dst []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(dst)+len(part) > maxLine {
			return dst, errLineLength
		}
		dst = append(dst, part...)
		if err != bufio.ErrBufferFull {
			return dst, err
		}
	}
}
