package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable/plural"
)

// reading is what came of a stream: the octets for the library, what the sink was told, and the
// error at the end.
type reading struct {
	library []byte
	events  []string
	err     string
}

// recorder is a Sink that joins body chunks.
type recorder struct {
	events []string
	body   map[uint16][]byte
}

func newRecorder() *recorder { return &recorder{body: make(map[uint16][]byte)} }

func (r *recorder) Begin(d *Delivery) {
	r.events = append(
		r.events,
		fmt.Sprintf("begin %d tag=%d redelivered=%t consumer=%q exchange=%q key=%q size=%d header=%x",
			d.Channel, d.DeliveryTag, d.Redelivered, d.ConsumerTag, d.Exchange, d.RoutingKey, d.BodySize, d.Header),
	)
	r.body[d.Channel] = nil
}

func (r *recorder) Body(channel uint16, chunk []byte) {
	r.body[channel] = append(r.body[channel], chunk...)
}

func (r *recorder) End(channel uint16) {
	r.events = append(r.events, fmt.Sprintf("end %d body=%x", channel, r.body[channel]))
	delete(r.body, channel)
}

func (r *recorder) Abort(channel uint16, goesOn bool) {
	r.events = append(r.events, fmt.Sprintf("abort %d goes on=%t body=%x", channel, goesOn, r.body[channel]))
	delete(r.body, channel)
}

// refer reads a whole stream in the plainest way: frame by frame, with everything in memory.
func refer(stream []byte, maxHeader int) reading {
	type open struct {
		d     Delivery
		begun bool
		left  uint64
	}
	sink := newRecorder()
	contents := map[uint16]*open{}
	var library []byte
	interrupt := func(channel uint16, goesOn bool) {
		if contents[channel] != nil {
			sink.Abort(channel, goesOn)
		}
		delete(contents, channel)
	}
	finish := func(rest []byte, err string) reading {
		var open []uint16
		for channel := range contents {
			open = append(open, channel)
		}
		slices.Sort(open)
		for _, channel := range open {
			interrupt(channel, false)
		}
		return reading{append(library, rest...), sink.events, err}
	}

	for rest := stream; ; {
		if len(rest) == 0 {
			return finish(nil, io.EOF.Error())
		}
		if !slices.Contains([]byte{1, 2, 3, 8}, rest[0]) {
			return finish(rest, io.EOF.Error())
		}
		if len(rest) < 7 {
			return finish(rest, io.EOF.Error())
		}
		kind, channel, size := rest[0], binary.BigEndian.Uint16(rest[1:]), uint64(binary.BigEndian.Uint32(rest[3:]))
		there := rest[7:min(uint64(len(rest)), 7+size)]
		whole := uint64(len(rest)) >= size+8
		next := func() []byte { return rest[size+8:] }
		end := func() byte { return rest[7+size] }
		fail := func(reason string) reading { return finish(nil, (&FrameError{channel, reason}).Error()) }
		c := contents[channel]

		switch {
		case kind == 1 && size >= 4 && len(there) < 4:
			return finish(rest, io.EOF.Error())
		case kind == 1 && size >= 4 && channel != 0 && string(there[:4]) == "\x00\x3c\x00\x3c":
			if size < 16 || size > 16+3*255 {
				return finish(rest, io.EOF.Error())
			}
			if !whole {
				return finish(nil, io.EOF.Error())
			}
			interrupt(channel, true)
			args := there[4:]
			shortStr := func() (s []byte, ok bool) {
				if len(args) == 0 || len(args) <= int(args[0]) {
					return nil, false
				}
				s, args = args[1:1+int(args[0])], args[1+int(args[0]):]
				return s, true
			}
			d := Delivery{Channel: channel}
			ok1, ok2, ok3 := false, false, false
			if d.ConsumerTag, ok1 = shortStr(); ok1 && len(args) >= 9 {
				d.DeliveryTag, d.Redelivered = binary.BigEndian.Uint64(args), args[8]&1 == 1
				args = args[9:]
				d.Exchange, ok2 = shortStr()
				d.RoutingKey, ok3 = shortStr()
			}
			if !ok1 || !ok2 || !ok3 || len(args) > 0 || end() != 0xCE {
				return finish(rest, io.EOF.Error())
			}
			contents[channel] = &open{d: d}
			rest = next()
			continue
		case kind == 1 && size >= 4:
			m := string(there[:4])
			interrupt(channel, m != "\x00\x14\x00\x28" && m != "\x00\x14\x00\x29")
			if m == "\x00\x0a\x00\x32" || m == "\x00\x0a\x00\x33" {
				finish(nil, "")
			}
		case kind == 2 && c != nil:
			switch {
			case c.begun:
				return fail(fmt.Sprintf("content header where %s of a body %s to come",
					plural.Of(c.left, "octet"), plural.Verb(c.left, "was", "were")))
			case size < 14:
				return fail(fmt.Sprintf("content header of %s is too short to name its body size", plural.Of(size, "octet")))
			case size > uint64(maxHeader):
				return fail(fmt.Sprintf("content header of %s is larger than the limit of %d", plural.Of(size, "octet"), maxHeader))
			case !whole:
				return finish(nil, io.EOF.Error())
			case end() != 0xCE:
				return fail(fmt.Sprintf("content header frame ends in 0x%02X instead of 0xCE", end()))
			}
			c.begun, c.d.Header = true, there
			c.d.BodySize = binary.BigEndian.Uint64(there[4:])
			c.left = c.d.BodySize
			sink.Begin(&c.d)
			if c.left == 0 {
				sink.End(channel)
				delete(contents, channel)
			}
			rest = next()
			continue
		case kind == 3 && c != nil:
			switch {
			case !c.begun:
				return fail("body frame where a content header was to come")
			case size > c.left:
				return fail(fmt.Sprintf("body frame of %s where %d %s to come",
					plural.Of(size, "octet"), c.left, plural.Verb(c.left, "was", "were")))
			}
			sink.Body(channel, there)
			if !whole {
				return finish(nil, io.EOF.Error())
			}
			if end() != 0xCE {
				return fail(fmt.Sprintf("body frame ends in 0x%02X instead of 0xCE", end()))
			}
			if c.left -= size; c.left == 0 {
				sink.End(channel)
				delete(contents, channel)
			}
			rest = next()
			continue
		}
		// For the library.
		if !whole || end() != 0xCE {
			return finish(rest, io.EOF.Error())
		}
		library = append(library, rest[:size+8]...)
		rest = next()
	}
}

// script is a net.Conn whose Read gives the stream in the pieces that cuts asks for, over and over,
// and then EOF.
type script struct {
	net.Conn
	stream []byte
	cuts   []int
	reads  int
}

func (s *script) Read(p []byte) (int, error) {
	if len(s.stream) == 0 {
		return 0, io.EOF
	}
	n := len(p)
	if len(s.cuts) > 0 {
		n = min(n, max(1, s.cuts[s.reads%len(s.cuts)]))
		s.reads++
	}
	n = copy(p[:n], s.stream)
	s.stream = s.stream[n:]
	return n, nil
}

// tapped reads a stream through a Tap: cut as cuts says on the network's side, and in reads of the
// given sizes, over and over, on the library's.
func tapped(stream []byte, maxHeader int, cuts, reads []int) reading {
	sink := newRecorder()
	stopped := time.Unix(0, 0)
	tap := NewTap(&script{stream: stream, cuts: cuts}, TapConfig{
		Sink: sink, MaxHeaderBytes: maxHeader, Now: func() time.Time { return stopped },
	})
	var library []byte
	for i := 0; ; i++ {
		p := make([]byte, max(1, reads[i%len(reads)]))
		n, err := tap.Read(p)
		library = append(library, p[:n]...)
		if err != nil {
			return reading{library, sink.events, err.Error()}
		}
	}
}
