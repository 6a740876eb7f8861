package broker

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/spool"
)

// Headers that RabbitMQ adds to deliveries.
const (
	deliveryCountKey = "x-delivery-count" // quorum queues: how often the message was returned
	acquiredCountKey = "x-acquired-count" // quorum queues of RabbitMQ 4.3 and later
	streamOffsetKey  = "x-stream-offset"  // streams
)

// sink writes the deliveries of one connection into the archive, or hands them to the spooler. The
// methods of wire.Sink run on the connection's reader goroutine: they store and return.
type sink struct {
	memory  *memory
	writer  *archive.Writer // the spooler's, if there is one
	spooler *spooler        // nil: there is no spool
	now     func() time.Time
	counts  *counters

	// The delivery in progress.
	open        bool
	probed      bool // for the probe, which settles it itself
	skip        bool // of a stream, below the offset asked for
	redelivered bool
	tag         uint64
	offset      int64
	record      spool.Record // with a spooler

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
	batch   uint64
	settled atomic.Uint64 // tag up to which the broker was told
	// attempted is the tag up to which it may have been told.
	attempted atomic.Uint64
	wake      chan struct{}
	// halt gets the first reason not to go on.
	halt chan *Error
	// guard judges the x-delivery-count of a message; nil: any will do.
	guard func(count int64) *Error
	// withheld is set when what was delivered must not be acknowledged but given back.
	withheld atomic.Bool
	// looks counts the looks that ran their course; aged is how many of them the memory knows of.
	looks atomic.Uint32
	aged  uint32
	// noStream is what to say when a message of a stream has no offset, brokenOff when the broker
	// ends one early.
	noStream, brokenOff *Error
	// probedOffset is the highest x-stream-offset that the probe was given; -1: none.
	probedOffset atomic.Int64
}

func newSink(c *Consumer) *sink {
	s := &sink{
		memory: c.memory, writer: c.cfg.Archive.Writer(), now: c.now, counts: &c.counts,
		batch: uint64(max(c.prefetch()/4, 1)), wake: make(chan struct{}, 1), halt: make(chan *Error, 1),
		noStream: c.refuseNoStream(),
		brokenOff: &Error{
			Kind: KindLost,
			Msg: fmt.Sprintf(
				"the broker broke off a message of %s and went on with others: neither it nor what followed was acknowledged",
				c.target(),
			),
		},
	}
	s.probedOffset.Store(-1)
	if c.cfg.Spool != nil {
		s.spooler = newSpooler(c, s)
	}
	return s
}

// endLook says that everything was given back after a look that ran its course. The reader takes it
// up with the next delivery.
func (s *sink) endLook() {
	s.firstAt.Store(0)
	s.looks.Add(1)
}

// memory is what outlives a connection: which messages were stored, and how far a stream was read.
// It belongs to one reader at a time.
type memory struct {
	mode   source.Mode
	print  *fingerprint // peek and drain; with a spool the spooler's
	seen   *seen        // peek
	recent *recent      // drain; with a spool the spooler's
	next   int64        // stream: the lowest offset not stored yet
	// resumes says that a stream is read from next, and no longer from where the configuration
	// says.
	resumes bool
}

func newMemory(cfg Config) *memory {
	m := &memory{mode: cfg.Mode}
	switch cfg.Mode {
	case source.Peek:
		m.print, m.seen = newFingerprint(), newSeen(4*MaxWindow)
	case source.Drain:
		m.print, m.recent = newFingerprint(), newRecent(MaxWindow+1)
	}
	if m.recent != nil && cfg.Spool != nil {
		m.print = newLastingFingerprint(cfg.Spool.Key())
	}
	return m
}

// counters are shared between the reader and Status.
type counters struct {
	stored, known, givenBack, acknowledged atomic.Uint64
	// of the last stored message of a stream; -1: none
	offset atomic.Int64
}

// held is how many deliveries the broker waits for.
func (s *sink) held() uint64 {
	// settled first: it never passes the others, so the difference is not negative.
	settled := s.settled.Load()
	return s.arrived.Load() - settled
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

// Begin implements wire.Sink.
func (s *sink) Begin(d *wire.Delivery) {
	if s.probed = string(d.ConsumerTag) == probeTag; s.probed {
		if offset, ok := headerInt(d, streamOffsetKey); ok {
			s.probedOffset.Store(max(offset, s.probedOffset.Load()))
		}
		return
	}
	now := s.now()
	s.open, s.skip, s.tag, s.redelivered = true, false, d.DeliveryTag, d.Redelivered
	if s.firstAt.Load() == 0 {
		s.firstAt.Store(now.UnixNano())
	}
	if s.spooler != nil {
		s.record = spool.NewRecord(d, now)
		return
	}
	switch s.memory.mode {
	case source.Stream:
		offset, ok := headerInt(d, streamOffsetKey)
		if !ok {
			s.withheld.Store(true)
			s.stop(s.noStream)
		}
		s.offset, s.skip = offset, offset < s.memory.next
	case source.Peek:
		if s.guard != nil {
			count, counted := headerInt(d, deliveryCountKey)
			if _, acquired := headerInt(d, acquiredCountKey); counted || acquired {
				if e := s.guard(count); e != nil {
					s.stop(e)
				}
			}
		}
	}
	if s.memory.print != nil {
		s.memory.print.begin(d)
	}
	if !s.skip {
		s.writer.Begin(d, now)
	}
}

// Body implements wire.Sink.
func (s *sink) Body(_ uint16, chunk []byte) {
	if s.probed {
		return
	}
	if s.spooler != nil {
		s.record = append(s.record, chunk...)
		return
	}
	if s.memory.print != nil {
		s.memory.print.body(chunk)
	}
	if !s.skip {
		s.writer.Body(chunk)
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
	if s.spooler != nil {
		s.spooler.offer(spooled{s.record, s.tag, s.redelivered})
		s.record = nil
		return
	}
	known := s.skip
	switch s.memory.mode {
	case source.Peek:
		for ; s.aged != s.looks.Load(); s.aged++ {
			s.memory.seen.end()
			s.memory.seen.begin()
		}
		known = s.memory.seen.known(s.memory.print.sum())
	case source.Drain:
		h := s.memory.print.sum()
		if known = s.memory.recent.known(h, s.redelivered, s.now()); !known {
			s.memory.recent.stored(h, s.tag)
		}
	}
	switch {
	case s.skip:
		s.counts.known.Add(1)
	case known:
		s.writer.Abort()
		s.counts.known.Add(1)
	default:
		s.writer.Commit()
		s.counts.stored.Add(1)
		if s.memory.mode == source.Stream {
			s.memory.next, s.memory.resumes = s.offset+1, true
			s.counts.offset.Store(s.offset)
		}
	}
	s.open = false
	s.stored.Store(s.tag)
	if n := s.unsettled(); n == 1 || n == s.batch {
		s.rouse()
	}
}

func (s *sink) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Abort implements wire.Sink. A delivery that was cut off by the channel's or the connection's end
// comes again. Where the channel goes on, acknowledging what follows would acknowledge what was cut
// off, too.
func (s *sink) Abort(_ uint16, goesOn bool) {
	s.drop()
	if goesOn {
		s.withheld.Store(true)
		s.stop(s.brokenOff)
	}
}

// drop forgets the delivery in progress.
func (s *sink) drop() {
	if s.open && !s.skip && s.spooler == nil {
		s.writer.Abort()
	}
	s.open, s.record = false, nil
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
