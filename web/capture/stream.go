package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

const (
	// maxFrame is the largest frame that is waited for, in octets of its payload. RabbitMQ sends
	// content headers far above frame_max, but none above this.
	maxFrame = wire.DefaultMaxHeaderBytes
	// maxKept is how many octets a file's streams may keep in all: out of order, of frames and of
	// contents not complete.
	maxKept = 128 << 20
	// largeBuffer is the size above which an empty buffer is given up rather than used again.
	largeBuffer = 1 << 20

	protocolHeader = 8
)

// streams is what the streams of one file share.
type streams struct {
	recorder
	keeping
}

// keeping bounds what streams keep of what is not complete.
type keeping struct {
	bodyLimit int        // octets kept of a body
	kept      int        // octets that streams keep now
	most      int        // the bound on kept
	spare     []*content // emptied, to be used again
}

// maxSpare is how many contents wait to be used again.
const maxSpare = 16

// stream finds the contents in one direction of a TCP connection. It is given the octets in order
// and told where some are missing. Frames are looked for at their place; where none is, or octets
// are missing, the stream is hunting: it goes on at the next octets that can only be a method
// frame. It begins hunting too, as a capture may begin anywhere.
type stream struct {
	shared   *keeping
	to       Listener
	report   *Report
	buf      []byte    // octets of a frame that is not complete
	at       time.Time // when the last octets were captured
	hunting  bool
	started  bool // octets have been seen
	speaks   bool // a frame has been seen
	contents map[uint16]*content
}

// content is a message in progress on a channel.
type content struct {
	d        wire.Delivery
	method   uint16
	args     []byte    // of the method; what d has of them points here
	header   []byte    // what d.Header is
	received time.Time // of the packet that completed the content header; zero: it has not come yet
	left     uint64    // octets of the body still to come
	body     []byte    // as much of it as is kept
	reserved int       // octets of keeping.kept that are its own
}

func newStream(s *streams) stream {
	return stream{shared: &s.keeping, to: &s.recorder, report: &s.Report, hunting: true}
}

// data takes the next octets of a packet captured at that time.
func (s *stream) data(b []byte, at time.Time) {
	s.at = at
	if !s.started && len(b) > 0 {
		s.started = true
		s.recognize(b)
	}
	if len(s.buf) == 0 {
		n := s.parse(b)
		s.keep(b[n:])
		return
	}
	s.keep(b)
	s.release(s.parse(s.buf))
}

// recognize counts streams of what cannot be read. It looks at the first octets only.
func (s *stream) recognize(b []byte) {
	switch {
	case len(b) >= 3 && (b[0] == 0x16 || b[0] == 0x17) && b[1] == 3 && b[2] <= 4: // a TLS record, handshake or data
		s.report.Encrypted++
	case len(b) >= protocolHeader && bytes.Equal(b[:4], []byte("AMQP")) && b[5] == 1 && b[6] == 0 && b[7] == 0:
		s.report.AMQP10++
	}
}

// gap: octets are missing here.
func (s *stream) gap() {
	s.salvage()
	s.lose()
	s.search()
}

// end: nothing follows.
func (s *stream) end() {
	s.salvage()
	s.finishAll()
	s.search()
}

// search goes through the octets of a frame that will not be completed, for if it was none there
// may be some in them.
func (s *stream) search() {
	for b := s.buf; len(b) > 1; {
		s.hunting = true
		b = b[1:]
		b = b[s.parse(b):]
	}
	s.finishAll()
	s.hunting = true
	s.release(len(s.buf))
}

// salvage adds to a body what there is of a body frame that will not be completed.
func (s *stream) salvage() {
	if s.hunting || len(s.buf) <= wire.FrameHead || s.buf[0] != wire.FrameBody {
		return
	}
	if c := s.contents[binary.BigEndian.Uint16(s.buf[1:])]; c != nil && !c.received.IsZero() {
		s.body(c, s.buf[wire.FrameHead:])
	}
}

// lose ends what is in progress and begins the hunt for the next method.
func (s *stream) lose() {
	s.finishAll()
	if s.speaks && !s.hunting {
		s.report.Breaks++
	}
	s.hunting = true
}

// keep puts octets aside.
func (s *stream) keep(b []byte) {
	if len(b) == 0 {
		return
	}
	if !s.shared.reserve(len(b)) {
		s.lose()
		s.release(len(s.buf))
		return
	}
	s.buf = append(s.buf, b...)
}

// release forgets the first n octets put aside.
func (s *stream) release(n int) {
	if n == 0 {
		return
	}
	s.shared.kept -= n
	s.buf = s.buf[:copy(s.buf, s.buf[n:])]
	if len(s.buf) == 0 && cap(s.buf) > largeBuffer {
		s.buf = nil
	}
}

// content returns one that is empty.
func (k *keeping) content() *content {
	n := len(k.spare)
	if n == 0 {
		return &content{}
	}
	c := k.spare[n-1]
	k.spare = k.spare[:n-1]
	return c
}

// reuse empties a content for another message.
func (k *keeping) reuse(c *content) {
	if len(k.spare) == maxSpare || cap(c.body)+cap(c.header) > largeBuffer {
		return
	}
	*c = content{args: c.args[:0], header: c.header[:0], body: c.body[:0]}
	k.spare = append(k.spare, c)
}

func (k *keeping) reserve(n int) bool {
	if n > k.most-k.kept {
		return false
	}
	k.kept += n
	return true
}

// parse takes all frames that are complete and returns how many octets are done with.
func (s *stream) parse(b []byte) int {
	rest := b
	for len(rest) > 0 {
		if s.hunting {
			n, found := hunt(rest)
			rest = rest[n:]
			if !found {
				break
			}
			s.hunting = false
		}
		if rest[0] == 'A' {
			if len(rest) < protocolHeader {
				break
			}
			if bytes.HasPrefix(rest, []byte("AMQP")) {
				rest = rest[protocolHeader:]
				continue
			}
		}
		f, after, err := wire.CutFrame(rest)
		switch {
		case err == nil:
			s.speaks = true
			s.frame(f)
			rest = after
		case errors.Is(err, wire.ErrShortFrame) &&
			(len(rest) < wire.FrameHead || binary.BigEndian.Uint32(rest[3:]) <= maxFrame):
			return len(b) - len(rest)
		default:
			s.lose()
			rest = rest[1:]
		}
	}
	return len(b) - len(rest)
}

// hunt returns how many octets can be skipped, and whether a frame begins after them. When none is
// found, what is not skipped may still turn out to begin one.
func hunt(b []byte) (skip int, found bool) {
	for {
		next := bytes.IndexByte(b[skip:], wire.FrameMethod)
		if next < 0 {
			return len(b), false
		}
		skip += next
		switch looksLikeMethod(b[skip:]) {
		case yes:
			return skip, true
		case maybe:
			return skip, false
		}
		skip++
	}
}

type guess uint8

const (
	no guess = iota
	maybe
	yes
)

const (
	// maxHunted is the largest method frame that a hunt waits for.
	maxHunted = 1 << 16
	// maxMethod is above the number of every method of every class.
	maxMethod = 127
)

// looksLikeMethod judges whether b, which begins with the type of one, begins with a method frame
// that ends in a frame-end octet and is followed by another frame. Contents begin with methods, so
// nothing is missed by passing over other frames.
func looksLikeMethod(b []byte) guess {
	if len(b) < wire.FrameHead+4 {
		return maybe
	}
	size := binary.BigEndian.Uint32(b[3:])
	class, method := binary.BigEndian.Uint16(b[wire.FrameHead:]), binary.BigEndian.Uint16(b[wire.FrameHead+2:])
	if size < 4 || size > maxHunted || !knownClass(class) || method == 0 || method > maxMethod {
		return no
	}
	whole := int(size) + wire.FrameOverhead
	switch {
	case len(b) < whole:
		return maybe
	case b[whole-1] != wire.FrameEnd:
		return no
	case len(b) == whole:
		return maybe
	}
	switch b[whole] {
	case wire.FrameMethod, wire.FrameHeader, wire.FrameBody, wire.FrameHeartbeat:
		return yes
	}
	return no
}

// knownClass: connection, channel, access, exchange, queue, basic, confirm, tx.
func knownClass(class uint16) bool {
	switch class {
	case 10, 20, 30, 40, 50, 60, 85, 90:
		return true
	}
	return false
}

func (s *stream) frame(f wire.Frame) {
	c := s.contents[f.Channel]
	switch f.Type {
	case wire.FrameMethod:
		s.finish(f.Channel)
		class, method, args, ok := f.Method()
		if !ok {
			return
		}
		s.to.Method(f.Channel, class, method, args)
		if class == wire.ClassBasic {
			s.begin(f.Channel, method, args)
		}
	case wire.FrameHeader:
		if c == nil || !c.received.IsZero() || len(f.Payload) < wire.ContentHeaderFixed ||
			!s.reserve(c, len(f.Payload)) {
			s.finish(f.Channel)
			return
		}
		c.received = s.at
		c.header = append(c.header[:0], f.Payload...)
		c.d.Header = c.header
		c.d.BodySize = wire.ViewContentHeader(c.d.Header).BodySize()
		c.left = c.d.BodySize
		if c.left == 0 {
			s.finish(f.Channel)
		}
	case wire.FrameBody:
		if c == nil || c.received.IsZero() || uint64(len(f.Payload)) > c.left {
			s.finish(f.Channel)
			return
		}
		s.body(c, f.Payload)
		if c.left == 0 {
			s.finish(f.Channel)
		}
	}
}

// begin starts a content, if the method carries one.
func (s *stream) begin(channel uint16, method uint16, args []byte) {
	if _, ok := readContentMethod(method, args); !ok {
		return
	}
	c := s.shared.content()
	if !s.reserve(c, len(args)) {
		return
	}
	c.method = method
	c.args = append(c.args[:0], args...)
	c.d, _ = readContentMethod(method, c.args)
	c.d.Channel = channel
	if s.contents == nil {
		s.contents = make(map[uint16]*content)
	}
	s.contents[channel] = c
}

func (s *stream) reserve(c *content, n int) bool {
	if !s.shared.reserve(n) {
		return false
	}
	c.reserved += n
	return true
}

// body adds octets to a body as far as it is kept.
func (s *stream) body(c *content, b []byte) {
	b = b[:min(uint64(len(b)), c.left)]
	c.left -= uint64(len(b))
	b = b[:min(len(b), s.shared.bodyLimit-len(c.body))]
	if s.reserve(c, len(b)) {
		c.body = append(c.body, b...)
	}
}

// finish ends what is in progress on a channel. A content whose header has come is a message,
// however much of its body is there.
func (s *stream) finish(channel uint16) {
	c := s.contents[channel]
	if c == nil {
		return
	}
	delete(s.contents, channel)
	s.shared.kept -= c.reserved
	defer s.shared.reuse(c)
	if c.received.IsZero() {
		return
	}
	s.to.Content(Content{
		Method: c.method, Args: c.args, Delivery: c.d, Received: c.received, Body: c.body, Whole: c.left == 0,
	})
}

func (s *stream) finishAll() {
	for _, channel := range slices.Sorted(maps.Keys(s.contents)) {
		s.finish(channel)
	}
}
