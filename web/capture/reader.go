package capture

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Listener is told what a stream is made of, in order.
type Listener interface {
	// Method is called for every method. Its arguments are valid only during the call.
	Method(channel, class, method uint16, args []byte)
	// Content is called for every message once it is complete, or will not be. What it holds is
	// valid only during the call.
	Content(c Content)
}

// Content is a message and the method of class basic that it came with.
type Content struct {
	Method   uint16
	Args     []byte // of the method
	Delivery wire.Delivery
	Received time.Time
	Body     []byte // as much of it as is kept
	Whole    bool   // all of the body came
}

// Reader follows connections while they last. What it keeps of frames and contents that are not
// complete is bounded for all of them together. It is for one goroutine.
type Reader struct{ keeping }

// NewReader returns a Reader that keeps bodyLimit octets of a body, and at most most octets in all
// of what is not complete.
func NewReader(bodyLimit, most int) *Reader {
	return &Reader{keeping{bodyLimit: max(bodyLimit, 0), most: most}}
}

// Stream is one direction of a connection.
type Stream struct {
	stream
	found Report
}

// Stream begins a direction at its first octet.
func (r *Reader) Stream(to Listener) *Stream {
	s := &Stream{}
	s.stream = stream{shared: &r.keeping, to: to, report: &s.found, started: true}
	return s
}

// Data takes the next octets, which arrived at that time. They are not kept.
func (s *Stream) Data(b []byte, at time.Time) { s.data(b, at) }

// Gap says that octets are missing here.
func (s *Stream) Gap() { s.gap() }

// End says that nothing follows.
func (s *Stream) End() { s.end() }

// Breaks is how often octets were no frames, and the stream went on at the next that can only be
// some.
func (s *Stream) Breaks() uint64 { return s.found.Breaks }
