package broker

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Headers that RabbitMQ adds to deliveries.
const (
	deliveryCountKey = "x-delivery-count" // quorum queues: how often the message was returned
	acquiredCountKey = "x-acquired-count" // quorum queues of RabbitMQ 4.3 and later
	streamOffsetKey  = "x-stream-offset"  // streams
	// RabbitMQ 4.2 and later, if configured: when the message was delivered
	sentTimeKey = "x-opt-rabbitmq-sent-time"
)

// store keeps the deliveries of one connection. The methods are called as those of wire.Sink are,
// on the connection's reader goroutine, for one delivery at a time; what is dealt with is told to
// sink.dealt.
type store interface {
	begin(d *wire.Delivery, now time.Time)
	body(chunk []byte)
	// end: the delivery is whole.
	end(tag uint64, redelivered bool)
	// abort forgets the delivery in progress.
	abort()
	// finish is called after the last delivery. When it returns, all that has ended is dealt with,
	// or refused.
	finish()
}

// sink takes the deliveries of one connection, hands them to a store, and counts what is dealt with
// and what the broker was told of it. The methods of wire.Sink run on the connection's reader
// goroutine.
type sink struct {
	store  store
	now    func() time.Time
	counts *counters

	// The delivery in progress.
	open        bool
	probed      bool // for the probe, which settles it itself
	redelivered bool
	tag         uint64

	// begun says that a part of a delivery has arrived.
	begun atomic.Bool
	// arrived is the tag of the last delivery that arrived whole.
	arrived atomic.Uint64
	// stored is the tag of the last delivery that is dealt with: stored, or known to be. All before
	// it are, too.
	stored atomic.Uint64
	// firstAt is when the first delivery of this subscription arrived, in Unix nanoseconds; 0: none
	// yet.
	firstAt atomic.Int64
	// batch deliveries at most are left to pile up before wake gets a token; the first one gives a
	// token, too.
	batch   atomic.Uint64
	settled atomic.Uint64 // tag up to which the broker was told
	// attempted is the tag up to which it may have been told.
	attempted atomic.Uint64
	wake      chan struct{}
	// halt gets the first reason not to go on.
	halt chan *Error
	// guard judges the x-delivery-count of a message; nil: any will do.
	guard atomic.Pointer[func(count int64) *Error]
	// holds reports what is wrong with the disk that acknowledged messages are on; nil: they are in
	// memory.
	holds func() *Error
	flow  *flow
	aside asides
	// withheld is set when what was delivered must not be acknowledged but given back.
	withheld atomic.Bool
	// looks counts the looks that ran their course.
	looks atomic.Uint32
	// brokenOff is what to say when the broker ends a message early.
	brokenOff *Error
	// probedOffset is the highest x-stream-offset that the probe was given; -1: none.
	probedOffset atomic.Int64
}

func newSink(c *Consumer) *sink {
	s := &sink{
		now: c.now, counts: &c.counts, flow: c.flow,
		wake: make(chan struct{}, 1), halt: make(chan *Error, 1),
		brokenOff: &Error{
			Kind: KindLost,
			Msg: fmt.Sprintf(
				"the broker broke off a message of %s and went on with others: neither it nor what followed was acknowledged",
				c.target(),
			),
		},
	}
	s.probedOffset.Store(-1)
	s.batch.Store(uint64(max(c.cfg.Prefetch/4, 1)))
	if c.cfg.Spool != nil {
		s.store = newSpooler(c, s)
	} else {
		s.store = newMemoryStore(c, s)
	}
	return s
}

// endLook says that everything was given back after a look that ran its course. The reader takes it
// up with the next delivery.
func (s *sink) endLook() {
	s.firstAt.Store(0)
	s.looks.Add(1)
}

// held is how many deliveries the broker waits for.
func (s *sink) held() uint64 {
	// settled first: it never passes the others, so the difference is not negative.
	settled := s.settled.Load()
	return s.arrived.Load() - settled + uint64(len(s.aside.upTo(settled)))
}

// unsettled is how many deliveries are dealt with and not yet acknowledged.
func (s *sink) unsettled() uint64 {
	settled := s.settled.Load()
	return s.stored.Load() - settled
}

func (s *sink) stop(e *Error) {
	select {
	case s.halt <- e:
	default:
	}
}

// refuse has the session end and give back everything that is not dealt with.
func (s *sink) refuse(e *Error) {
	s.withheld.Store(true)
	s.stop(e)
}

// dealt says that everything up to this delivery tag is stored, or known to be.
func (s *sink) dealt(tag uint64) {
	s.stored.Store(tag)
	if n := s.unsettled(); n == 1 || n >= s.batch.Load() {
		s.rouse()
	}
}

func (s *sink) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Begin implements wire.Sink.
func (s *sink) Begin(d *wire.Delivery) {
	if s.probed = string(d.ConsumerTag) == probeTag; s.probed {
		if offset, ok := headerInt(d, streamOffsetKey); ok {
			s.probedOffset.Store(max(offset, s.probedOffset.Load()))
		}
		return
	}
	now := s.now()
	s.open, s.tag, s.redelivered = true, d.DeliveryTag, d.Redelivered
	if s.firstAt.Load() == 0 {
		s.firstAt.Store(now.UnixNano())
		s.begun.Store(true)
	}
	s.judge(d)
	s.store.begin(d, now)
}

// judge looks at how often a queue that counts deliveries has given the message back.
func (s *sink) judge(d *wire.Delivery) {
	guard := s.guard.Load()
	if guard == nil {
		return
	}
	count, counted := headerInt(d, deliveryCountKey)
	if _, acquired := headerInt(d, acquiredCountKey); counted || acquired {
		if e := (*guard)(count); e != nil {
			s.stop(e)
		}
	}
}

// Body implements wire.Sink.
func (s *sink) Body(_ uint16, chunk []byte) {
	if !s.probed {
		s.store.body(chunk)
	}
}

// End implements wire.Sink.
func (s *sink) End(uint16) {
	if s.probed {
		return
	}
	defer s.arrived.Store(s.tag)
	if s.withheld.Load() {
		s.drop()
		return
	}
	s.open = false
	s.store.end(s.tag, s.redelivered)
}

// Abort implements wire.Sink. A delivery that was cut off by the channel's or the connection's end
// comes again. Where the channel goes on, acknowledging what follows would acknowledge what was cut
// off, too.
func (s *sink) Abort(_ uint16, goesOn bool) {
	s.drop()
	if goesOn {
		s.refuse(s.brokenOff)
	}
}

// drop forgets the delivery in progress.
func (s *sink) drop() {
	if s.open {
		s.store.abort()
	}
	s.open = false
}

// headerInt reads an integer from the top level of a delivery's header table, without decoding
// anything else.
func headerInt(d *wire.Delivery, key string) (int64, bool) {
	table, ok := wire.ViewContentHeader(d.Header).HeaderTable()
	if !ok {
		return 0, false
	}
	v, ok := fieldtable.View(table, fieldtable.Lenient()).Get(key)
	if !ok {
		return 0, false
	}
	return v.Int64()
}
