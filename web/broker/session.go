package broker

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

const (
	consumerTag  = "headerglass"
	observeEvery = 5 * time.Second
	observeAgain = 50 * time.Millisecond // when the subscription has changed meanwhile
)

// session is one connection with one channel to read on.
type session struct {
	c         *Consumer
	sink      *sink
	conn      *amqp.Connection
	transport *transport
	ch        *amqp.Channel
	queue     string // read from: the configured one, or the copy's
	facts     queueFacts

	// subscribing guards the subscription, which two goroutines change in the modes that
	// acknowledge.
	subscribing sync.Mutex
	leaving     bool   // there shall be none any more
	reading     string // the consumer tag of the subscription; empty: there is none
	width       int    // messages that the subscription may have under way
	tags        int    // consumer tags used
	// changes is odd while the subscription changes: the broker may then count none of it, or two.
	changes atomic.Uint64
	own     atomic.Int64 // subscriptions
	attempt attempt

	connClosed, chClosed chan *amqp.Error
	cancelled            chan string
	blocked              chan amqp.Blocking
	gone                 chan *Error   // the observer has found that there is no queue any more
	yield                chan struct{} // another consumer waits for what peek holds
}

// session connects and reads until ctx is done, which gives nil, or something fails.
func (c *Consumer) session(ctx context.Context) (attempt, *Error) {
	if e := c.checkSpool(); e != nil {
		return attempt{}, e
	}
	facts := c.ask(ctx)
	if e := c.refusal(facts); e != nil && e.final() {
		return attempt{}, e
	}
	if c.delivered.seen != nil {
		c.delivered.seen.begin()
	}
	s := &session{
		c: c, queue: c.cfg.Queue, sink: newSink(c), facts: facts,
		gone: make(chan *Error, 1), yield: make(chan struct{}, 1),
		attempt: attempt{stored: c.counts.stored.Load()},
	}
	var e *Error
	if s.conn, s.transport, e = c.connect(ctx, s.sink); e == nil {
		e = s.run(ctx)
	}
	c.delivered.finish(s.sink)
	s.attempt.arrived, s.attempt.begun = s.sink.arrived.Load() > 0, s.sink.begun.Load()
	s.attempt.single, s.attempt.counts, s.attempt.limit = s.width == 1, s.facts.counts(), s.facts.DeliveryLimit
	return s.attempt, e
}

// run reads on the connection, and has closed it when it returns.
func (s *session) run(ctx context.Context) *Error {
	c := s.c
	var observing sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		s.transport.shut()
		s.sink.drop()
		c.current.Store(nil)
		observing.Wait()
	}()
	s.connClosed = s.conn.NotifyClose(make(chan *amqp.Error, 1))
	s.blocked = s.conn.NotifyBlocked(make(chan amqp.Blocking, 8))
	c.status.greeted(text(s.conn.Properties, "product"), text(s.conn.Properties, "version"), s.conn.Config.FrameSize)
	c.current.Store(s.sink)
	s.settleIn()
	e := s.within(ctx, c.endpoint.dialTimeout, func() *Error {
		if e := s.open(); e != nil {
			return e
		}
		if e := s.prepare(); e != nil {
			return e
		}
		return s.subscribe()
	})
	if e != nil {
		s.leave(false)
		return e
	}
	s.attempt.consumed = c.now()
	c.status.consuming(s.queue, c.stuck.barren >= patienceBarren)
	defer func() { c.status.lost(s.transport.raw.endedAt(c.now())) }()
	observing.Go(func() { s.observe(ctx) })
	if c.cfg.Mode == source.Peek {
		return s.peek(ctx)
	}
	return s.acknowledge(ctx)
}

func text(t amqp.Table, name string) string {
	v, _ := t[name].(string)
	return v
}

// explain adds what the transport saw to an error of the library.
func (s *session) explain(p phase, err error) *Error {
	return s.c.explain(p, err, s.transport.raw.seen())
}

func (s *session) open() *Error {
	var err error
	if s.ch, err = s.conn.Channel(); err != nil {
		return s.explain(phaseDeclare, err)
	}
	s.chClosed = s.ch.NotifyClose(make(chan *amqp.Error, 1))
	s.cancelled = s.ch.NotifyCancel(make(chan string, 1))
	return nil
}

// within runs f and closes the connection if f has not returned after limit; once ctx is done f
// gets CloseTimeout more.
func (s *session) within(ctx context.Context, limit time.Duration, f func() *Error) *Error {
	var late atomic.Bool
	timer := time.AfterFunc(limit, func() {
		late.Store(true)
		_ = s.transport.raw.Close()
	})
	defer timer.Stop()
	defer context.AfterFunc(ctx, func() { timer.Reset(s.c.cfg.CloseTimeout) })()
	e := f()
	if e != nil && late.Load() {
		return &Error{
			Kind: KindLost,
			Err:  e,
			Msg:  fmt.Sprintf("%s is connected but does not answer about %s", s.c.endpoint.address(), s.c.target()),
		}
	}
	return e
}

// wait returns nil when ctx is done, due fires, or peek shall make way for others; else what went
// wrong. look is called for each token of the sink.
func (s *session) wait(ctx context.Context, due <-chan time.Time, look func() *Error) *Error {
	wake := s.sink.wake
	if look == nil {
		wake = nil
	}
	for {
		select {
		case e := <-s.sink.halt: // before anything follows from what was delivered
			return e
		default:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-due:
			return nil
		case <-s.yield:
			return nil
		case <-wake:
			if len(s.sink.halt) > 0 {
				continue
			}
			if e := look(); e != nil {
				return e
			}
		case e := <-s.sink.halt:
			return e
		case e := <-s.gone:
			return e
		case err := <-s.chClosed:
			return s.closed(err)
		case err := <-s.connClosed:
			return s.closed(err)
		case _, ok := <-s.cancelled:
			if !ok { // the channel ended, which says why
				s.cancelled = nil
				continue
			}
			return &Error{
				Kind: KindCancelled,
				Msg: fmt.Sprintf(
					"the broker cancelled the consumer: %s was deleted, or the node that held it is gone",
					s.c.target(),
				),
			}
		case b, ok := <-s.blocked:
			if !ok {
				s.blocked = nil
				continue
			}
			s.c.status.blocked(b.Active, s.c.withoutSecrets(b.Reason))
		}
	}
}

func (s *session) closed(err *amqp.Error) *Error {
	if err == nil {
		return s.explain(phaseRun, amqp.ErrClosed)
	}
	return s.explain(phaseRun, err)
}

// acknowledge reads in the modes that acknowledge.
func (s *session) acknowledge(ctx context.Context) *Error {
	var settling sync.WaitGroup
	quit := make(chan struct{})
	settling.Go(func() {
		settle(s.sink, s.ch, quit, func(width int) bool { return s.resize(ctx, width) })
	})
	e := s.wait(ctx, nil, nil)
	stop := s.deadline()
	defer stop()
	s.unsubscribe(true)
	s.sink.store.finish()
	close(quit)
	settling.Wait()
	s.leave(s.sink.withheld.Load() || len(s.sink.aside.upTo(s.sink.arrived.Load())) > 0)
	return e
}

// deadline bounds how long giving back and closing may take.
func (s *session) deadline() (stop func() bool) {
	return time.AfterFunc(s.c.cfg.CloseTimeout, func() { _ = s.transport.raw.Close() }).Stop
}

// cancel ends the subscription and waits for basic.cancel-ok. The caller holds subscribing.
func (s *session) cancel() {
	if s.reading != "" && !s.ch.IsClosed() {
		_ = s.ch.Cancel(s.reading, false)
	}
	s.reading = ""
}

// unsubscribe ends the subscription. final: none shall follow it.
func (s *session) unsubscribe(final bool) {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	defer s.changing()()
	s.leaving = s.leaving || final
	s.cancel()
}

// changing has the observer count nothing until the subscription has changed.
func (s *session) changing() (changed func()) {
	s.changes.Add(1)
	return func() {
		s.own.Store(0)
		if s.reading != "" {
			s.own.Store(1)
		}
		s.changes.Add(1)
	}
}

// giveBack returns everything unsettled to its place in the queue.
func (s *session) giveBack() {
	if s.ch == nil || s.ch.IsClosed() || s.browses() { // of what is browsed nothing is held
		return
	}
	arrived, held := s.sink.arrived.Load(), s.sink.held()
	// Tag 0 is everything delivered on the channel, also what may still be on its way.
	if s.ch.Nack(0, true, true) == nil {
		s.sink.settled.Store(arrived)
		s.c.counts.givenBack.Add(held)
	}
}

// leave closes channel and connection in order.
func (s *session) leave(giveBack bool) {
	stop := s.deadline()
	defer stop()
	s.unsubscribe(true)
	if giveBack {
		s.giveBack()
	}
	if s.ch != nil && !s.ch.IsClosed() {
		_ = s.ch.Close() // answered after everything sent before was dealt with
	}
	if !s.conn.IsClosed() {
		_ = s.conn.CloseDeadline(time.Now().Add(s.c.cfg.CloseTimeout))
	}
}
