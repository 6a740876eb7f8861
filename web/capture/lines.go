package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// maxLine is the longest line of an export that is read, in bytes. It is also the most that is read
// of a message.json.
const maxLine = 64 << 20

var (
	errLineLength = fmt.Errorf("a message takes more than %d MiB", maxLine>>20)
	errNoContent  = errors.New("content_header_base64 is missing: this is no line of an export")
	errTime       = errors.New("received is missing, or in a year that nothing was received in")
)

// exported is what an export says about a message, as far as it is needed to make the message
// again.
type exported struct {
	Received      time.Time `json:"received"`
	DeliveryTag   uint64    `json:"delivery_tag"`
	Redelivered   bool      `json:"redelivered"`
	ConsumerTag   octets    `json:"consumer_tag"`
	Exchange      octets    `json:"exchange"`
	RoutingKey    octets    `json:"routing_key"`
	BodyBytes     uint64    `json:"body_bytes"`
	ContentHeader []byte    `json:"content_header_base64"`
	Body          []byte    `json:"body_base64"`
}

// octets is a string, or {"hex":"…"} where the octets are not UTF-8.
type octets []byte

func (o *octets) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		var s string
		err := json.Unmarshal(b, &s)
		*o = octets(s)
		return err
	}
	var v struct{ Hex string }
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	var err error
	*o, err = hex.DecodeString(v.Hex)
	return err
}

func (e *exported) delivery() wire.Delivery {
	return wire.Delivery{
		DeliveryTag: e.DeliveryTag,
		Redelivered: e.Redelivered,
		ConsumerTag: e.ConsumerTag,
		Exchange:    e.Exchange,
		RoutingKey:  e.RoutingKey,
		Header:      e.ContentHeader,
		BodySize:    max(e.BodyBytes, uint64(len(e.Body))),
	}
}

// check refuses times that an archive, which counts nanoseconds in 64 bits, cannot keep.
func (e *exported) check() error {
	if y := e.Received.Year(); y < 1970 || y > 2200 {
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
	var e exported
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	if e.ContentHeader == nil {
		return errNoContent
	}
	if err := e.check(); err != nil {
		return err
	}
	d := e.delivery()
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
