package wire

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable/plural"
)

// Delivery is one basic.deliver with its content header. Its slices are views that are valid only
// during Sink.Begin.
type Delivery struct {
	Method      Method // of class basic that it came with
	Channel     uint16
	DeliveryTag uint64
	Redelivered bool
	ConsumerTag []byte
	Exchange    []byte
	RoutingKey  []byte
	Header      []byte // the content header frame's payload
	BodySize    uint64 // octets, as the content header declares; a claim until End
}

// Sink takes the deliveries that the Tap takes off the stream. For each delivery it sees Begin, any
// number of Body calls in order, and then End or Abort, or Abort alone where it was cut off before
// its content header was there; deliveries on different channels may interleave. The calls come on
// the goroutine that reads the connection, so a sink stores and returns: while it waits, the
// connection stands still, heartbeats included. Bytes are valid only during the call.
type Sink interface {
	Begin(d *Delivery)
	// Body gives the next octets of the body, cut as they arrived from the network.
	Body(channel uint16, chunk []byte)
	// End: the body is complete.
	End(channel uint16)
	// Abort: the delivery in progress on this channel will not be completed. Either the channel or
	// the whole stream has ended, too, or the channel goes on, and what follows on it are other
	// deliveries (spec §4.2.6).
	Abort(channel uint16, goesOn bool)
}

// DefaultMaxHeaderBytes is the largest content header payload the Tap takes unless told otherwise.
const DefaultMaxHeaderBytes = 16 << 20

// TapConfig configures a Tap.
type TapConfig struct {
	Sink           Sink             // nil: the Tap passes everything through
	MaxHeaderBytes int              // of a content header's payload; 0: DefaultMaxHeaderBytes
	Now            func() time.Time // nil: time.Now
	// Stall is how long a delivery may stand still that has begun, while other frames arrive; 0:
	// for ever. Where nothing arrives at all, it is for the connection's deadline to say so.
	Stall time.Duration
}

// FrameError is what Read returns when the peer breaks the order or the form of a content that the
// Tap has begun to take: the client library never saw its beginning and cannot judge it.
type FrameError struct {
	Channel uint16
	Reason  string
}

// Error gives one plain line.
func (e *FrameError) Error() string { return fmt.Sprintf("channel %d: %s", e.Channel, e.Reason) }

// StallError is what Read returns when a delivery has stood still for longer than TapConfig.Stall.
type StallError struct {
	Channel uint16
	Stall   time.Duration
}

// Error gives one plain line.
func (e *StallError) Error() string {
	return fmt.Sprintf("channel %d: a delivery has stood still for %s", e.Channel, e.Stall)
}

const (
	tapBufferBytes = 256 << 10
	keepalive      = time.Second

	// Sizes of a basic.deliver payload: class, method, delivery tag, redelivered, and three short
	// strings.
	minDeliver = 2 + 2 + 1 + 8 + 1 + 1 + 1
	maxDeliver = minDeliver + 3*255
)

// stage says what the next octet of the inbound stream is part of.
type stage uint8

const (
	atFrame stage = iota // a frame begins
	// inside a frame for the library, frame-end included; left octets remain
	passing
	// inside a content header payload larger than the buffer, frame-end included
	takingHeader
	takingBody  // inside the payload of a body frame that is taken
	endOfBody   // at the frame-end octet of a body frame that is taken
	transparent // everything passes, for good
)

// Tap is a net.Conn around the connection, TLS or not, that is given to a client library. Read
// takes every basic.deliver with its content header and body frames off the inbound stream and
// gives them to the sink; all else, replies to basic.get and returned messages included, passes
// through byte for byte. Write, Close and the deadlines are the connection's own. Read is for one
// goroutine at a time, as amqp091-go calls it.
//
// The result does not depend on how the network cuts the stream. Body octets go on as they arrive
// and are never collected; a content header is collected up to MaxHeaderBytes, whatever frame_max
// was tuned, because RabbitMQ sends larger ones after dead-lettering.
//
// amqp091-go renews its read deadline with each frame it sees. So while deliveries are taken away
// from it, the Tap shows it one heartbeat frame a second, at frame boundaries and only as long as
// octets really arrive.
//
// A content that an error, the end of the stream, or a method on its channel cuts short is aborted.
// Errors of the connection are final: Read returns them again.
type Tap struct {
	net.Conn
	sink      Sink
	maxHeader int
	now       func() time.Time
	stall     time.Duration

	// buf[r:w] has arrived and is not parsed; out, often a part of buf before r, is for the library
	// and is handed over before anything is parsed or read.
	buf  []byte
	r, w int
	out  []byte
	err  error

	stage    stage
	left     uint64   // octets left in the stage, see there
	cur      *content // the content that takingHeader, takingBody and endOfBody belong to
	large    []byte   // the payload collected by takingHeader, then the frame-end octet
	contents map[uint16]*content

	fed       time.Time // when the library last got octets
	owed      bool      // octets have arrived since then
	heartbeat []byte
}

// content is the delivery in progress on a channel. Kept and used again, so that a delivery
// allocates nothing; forgotten with its channel.
type content struct {
	d     Delivery
	args  []byte // what the slices of d point into
	state contentState
	left  uint64 // body octets still to come in further frames

	moved bool      // since still was set
	still time.Time // when another frame came first after the last part of it
}

type contentState uint8

const (
	idle contentState = iota
	wantHeader
	wantBody
)

// NewTap wraps c.
func NewTap(c net.Conn, cfg TapConfig) *Tap {
	t := &Tap{
		Conn:      c,
		sink:      cfg.Sink,
		maxHeader: cmp.Or(cfg.MaxHeaderBytes, DefaultMaxHeaderBytes),
		now:       cfg.Now,
		stall:     cfg.Stall,
		contents:  make(map[uint16]*content),
		heartbeat: AppendHeartbeat(nil),
	}
	if t.now == nil {
		t.now = time.Now
	}
	if t.sink == nil {
		t.stage = transparent
	} else {
		t.buf = make([]byte, tapBufferBytes)
	}
	t.fed = t.now()
	return t
}

// Read gives the library the next octets that are meant for it.
func (t *Tap) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if len(t.out) > 0 {
			n := copy(p, t.out)
			t.out = t.out[n:]
			t.fed, t.owed = t.now(), false
			return n, nil
		}
		if t.step() {
			continue
		}
		if t.err != nil {
			if t.finish() {
				continue
			}
			return 0, t.err
		}
		if t.stage == transparent {
			return t.Conn.Read(p)
		}
		if t.owed && t.stage != passing && t.now().Sub(t.fed) >= keepalive {
			t.out = t.heartbeat
			continue
		}
		t.makeRoom()
		var n int
		n, t.err = t.Conn.Read(t.buf[t.w:])
		t.w += n
		t.owed = t.owed || n > 0
	}
}

// makeRoom frees space behind w. Only a frame that fits the buffer is ever waited for, so there is
// always some to free.
func (t *Tap) makeRoom() {
	if t.r == t.w {
		t.r, t.w = 0, 0
	} else if t.r > 0 && len(t.buf)-t.w < len(t.buf)/8 {
		t.w = copy(t.buf, t.buf[t.r:t.w])
		t.r = 0
	}
}

// finish ends the stream after an error: octets too few to tell whose they are go to the library,
// and it reports whether there were any; what has been begun is aborted.
func (t *Tap) finish() bool {
	t.abortAll()
	if t.stage != atFrame || t.r == t.w {
		t.r = t.w
		return false
	}
	unjudged := t.buf[t.r:t.w]
	t.r = t.w
	if len(unjudged) < FrameHead || unjudged[0] == FrameMethod && len(unjudged) < FrameHead+4 {
		t.out = unjudged
		return true
	}
	return false
}

// step parses on and reports whether it could without reading more.
func (t *Tap) step() bool {
	b := t.buf[t.r:t.w]
	if len(b) == 0 {
		return false
	}
	switch t.stage {
	case atFrame:
		return t.frame(b)
	case passing:
		n := int(min(t.left, uint64(len(b))))
		t.out = b[:n]
		t.r += n
		t.left -= uint64(n)
		if t.left == 0 {
			t.stage = atFrame
			if b[n-1] != FrameEnd {
				t.passRest()
			}
		}
	case takingHeader:
		n := int(min(t.left, uint64(len(b))))
		t.large = append(t.large, b[:n]...)
		t.cur.moved = true
		t.take(n)
		t.left -= uint64(n)
		if t.left == 0 {
			t.stage = atFrame
			payload, end := t.large[:len(t.large)-1], t.large[len(t.large)-1]
			t.large = nil
			t.begin(t.cur, payload, end)
		}
	case takingBody:
		n := int(min(t.left, uint64(len(b))))
		t.sink.Body(t.cur.d.Channel, b[:n])
		t.cur.moved = true
		t.take(n)
		t.left -= uint64(n)
		if t.left == 0 {
			t.stage = endOfBody
		}
	case endOfBody:
		t.take(1)
		t.stage = atFrame
		if b[0] != FrameEnd {
			t.fail(t.cur.d.Channel, "body frame ends in 0x%02X instead of 0xCE", b[0])
		} else if t.cur.left == 0 {
			t.whole(t.cur)
		}
	case transparent:
		t.out = b
		t.r = t.w
	}
	return true
}

// frame decides about the frame that begins with b.
func (t *Tap) frame(b []byte) bool {
	if !knownFrameType(b[0]) {
		t.passRest()
		return true
	}
	if len(b) < FrameHead {
		return false
	}
	channel, size := binary.BigEndian.Uint16(b[1:]), binary.BigEndian.Uint32(b[3:])
	switch b[0] {
	case FrameMethod:
		return t.method(b, channel, size)
	case FrameHeader:
		if c := t.contents[channel]; c != nil && c.state != idle {
			return t.header(b, c, size)
		}
	case FrameBody:
		if c := t.contents[channel]; c != nil && c.state != idle {
			t.body(c, size)
			return true
		}
	}
	t.pass(size)
	return true
}

func (t *Tap) method(b []byte, channel uint16, size uint32) bool {
	if size < 4 {
		t.pass(size)
		return true
	}
	if len(b) < FrameHead+4 {
		return false
	}
	class, method := binary.BigEndian.Uint16(b[FrameHead:]), binary.BigEndian.Uint16(b[FrameHead+2:])
	if class == ClassBasic && method == MethodBasicDeliver && channel != 0 {
		return t.deliver(b, channel, size)
	}
	ends := class == ClassChannel && (method == MethodChannelClose || method == MethodChannelCloseOk)
	t.interrupt(channel, !ends)
	switch {
	case ends:
		delete(t.contents, channel)
	case class == ClassConnection && (method == MethodConnectionClose || method == MethodConnectionCloseOk):
		t.abortAll()
	}
	t.pass(size)
	return true
}

func (t *Tap) deliver(b []byte, channel uint16, size uint32) bool {
	if size < minDeliver || size > maxDeliver {
		t.passRest()
		return true
	}
	whole := int(size) + FrameOverhead
	if len(b) < whole {
		return false
	}
	t.interrupt(channel, true)
	c := t.contents[channel]
	if c == nil {
		c = &content{}
		t.contents[channel] = c
	}
	c.args = append(c.args[:0], b[FrameHead+4:whole-1]...)
	d, ok := readDeliver(c.args)
	if !ok || b[whole-1] != FrameEnd {
		t.passRest()
		return true
	}
	d.Channel = channel
	c.d, c.state, c.moved = d, wantHeader, true
	t.take(whole)
	return true
}

// readDeliver reads the arguments of basic.deliver (spec §1.8.3.13 of the XML definition); they
// must be exact.
func readDeliver(args []byte) (d Delivery, ok bool) {
	if d.ConsumerTag, args, ok = cutShortStr(args); !ok || len(args) < 9 {
		return d, false
	}
	d.DeliveryTag = binary.BigEndian.Uint64(args)
	d.Redelivered = args[8]&1 != 0
	if d.Exchange, args, ok = cutShortStr(args[9:]); !ok {
		return d, false
	}
	d.RoutingKey, args, ok = cutShortStr(args)
	return d, ok && len(args) == 0
}

func cutShortStr(b []byte) (s, rest []byte, ok bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return nil, nil, false
	}
	n := 1 + int(b[0])
	return b[1:n:n], b[n:], true
}

func (t *Tap) header(b []byte, c *content, size uint32) bool {
	switch {
	case c.state == wantBody:
		t.fail(c.d.Channel, "content header where %s of a body %s to come",
			plural.Of(c.left, "octet"), plural.Verb(c.left, "was", "were"))
		return true
	case size < ContentHeaderFixed:
		t.fail(c.d.Channel, "content header of %s is too short to name its body size", plural.Of(size, "octet"))
		return true
	case uint64(size) > uint64(t.maxHeader):
		t.fail(c.d.Channel, "content header of %s is larger than the limit of %d", plural.Of(size, "octet"), t.maxHeader)
		return true
	}
	whole := int(size) + FrameOverhead
	if whole > len(t.buf) {
		t.take(FrameHead)
		t.stage, t.cur, t.left = takingHeader, c, uint64(size)+1
		return true
	}
	if len(b) < whole {
		return false
	}
	t.take(whole)
	t.begin(c, b[FrameHead:whole-1:whole-1], b[whole-1])
	return true
}

func (t *Tap) begin(c *content, payload []byte, end byte) {
	if end != FrameEnd {
		t.fail(c.d.Channel, "content header frame ends in 0x%02X instead of 0xCE", end)
		return
	}
	c.d.Header = payload
	c.d.BodySize = ViewContentHeader(payload).BodySize()
	c.state, c.left, c.moved = wantBody, c.d.BodySize, true
	t.sink.Begin(&c.d)
	c.d.Header = nil
	if c.left == 0 {
		t.whole(c)
	}
}

func (t *Tap) body(c *content, size uint32) {
	switch {
	case c.state == wantHeader:
		t.fail(c.d.Channel, "body frame where a content header was to come")
		return
	case uint64(size) > c.left:
		t.fail(c.d.Channel, "body frame of %s where %d %s to come",
			plural.Of(size, "octet"), c.left, plural.Verb(c.left, "was", "were"))
		return
	}
	t.take(FrameHead)
	c.left -= uint64(size)
	t.cur, t.left, t.stage = c, uint64(size), takingBody
	if size == 0 {
		t.stage = endOfBody
	}
}

func (t *Tap) whole(c *content) {
	c.state = idle
	t.sink.End(c.d.Channel)
}

// take steps over n octets that the library will not see.
func (t *Tap) take(n int) { t.r += n }

// pass gives the library the frame that begins at r.
func (t *Tap) pass(size uint32) {
	if t.stall > 0 && t.stalled() {
		return
	}
	t.stage, t.left = passing, uint64(size)+FrameOverhead
}

// stalled reports whether a delivery has stood still for too long, and ends the stream then.
func (t *Tap) stalled() bool {
	for channel, c := range t.contents {
		switch {
		case c.state == idle:
		case c.moved:
			c.moved, c.still = false, t.now()
		case t.now().Sub(c.still) >= t.stall:
			t.end(&StallError{channel, t.stall})
			return true
		}
	}
	return false
}

// passRest gives the library everything from r on.
func (t *Tap) passRest() {
	t.abortAll()
	t.stage = transparent
}

// fail ends the stream with an error of its own.
func (t *Tap) fail(channel uint16, format string, args ...any) {
	t.end(&FrameError{Channel: channel, Reason: fmt.Sprintf(format, args...)})
}

func (t *Tap) end(err error) {
	t.abortAll()
	t.err = err
	t.stage, t.r = atFrame, t.w
}

// interrupt ends what is in progress on a channel when a method comes between; the method counts.
func (t *Tap) interrupt(channel uint16, goesOn bool) {
	if c := t.contents[channel]; c != nil && c.state != idle {
		c.state = idle
		t.sink.Abort(channel, goesOn)
	}
}

func (t *Tap) abortAll() {
	for _, channel := range slices.Sorted(maps.Keys(t.contents)) {
		t.interrupt(channel, false)
	}
	clear(t.contents)
}
