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
)

// session is one connection with one channel to read on.
type session struct {
	c         *Consumer
	sink      *sink
	conn      *amqp.Connection
	transport *transport
	ch        *amqp.Channel
	queue     string // read from: the configured one, or the copy's
	reading   bool   // there is a subscription to cancel

	connClosed, chClosed chan *amqp.Error
	cancelled            chan string
	blocked              chan amqp.Blocking
	gone                 chan *Error // the observer has found that there is no queue any more
}

// session connects and reads until ctx is done, which gives nil, or something fails.
func (c *Consumer) session(ctx context.Context) *Error {
	if e := c.checkSpool(); e != nil {
		return e
	}
	facts, e := c.ask(ctx)
	if e != nil {
		return e
	}
	if c.delivered.seen != nil {
		c.delivered.seen.begin()
	}
	s := &session{c: c, queue: c.cfg.Queue, sink: newSink(c), gone: make(chan *Error, 1)}
	defer c.delivered.finish(s.sink)
	if s.conn, s.transport, e = c.connect(ctx, s.sink); e != nil {
		return e
	}
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
	if c.cfg.Mode == source.Peek {
		s.sink.guard = c.guard(facts)
	}
	e = s.within(ctx, c.endpoint.dialTimeout, func() *Error {
		if e := s.open(); e != nil {
			return e
		}
		return s.subscribe(facts)
	})
	if e != nil {
		s.leave(false)
		return e
	}
	c.status.consuming(s.queue)
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
	return s.c.explain(p, err, s.transport.raw.failure())
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

// subscribe makes sure that what is to be read is there, and consumes it.
func (s *session) subscribe(facts queueFacts) *Error {
	cfg := &s.c.cfg
	var args amqp.Table
	switch cfg.Mode {
	case source.Copy:
		if e := s.declareCopy(); e != nil {
			return e
		}
	case source.Stream:
		if e := s.exists(); e != nil {
			return e
		}
		if s.c.offset.word == "next" && !s.c.delivered.resumes {
			if e := s.findTail(); e != nil {
				return e
			}
		}
		args = amqp.Table{"x-stream-offset": s.c.offset.argument(s.c.now())}
		if s.c.delivered.resumes {
			args["x-stream-offset"] = s.c.delivered.next
		}
		addStreamFilter(args, cfg)
	default:
		if e := s.exists(); e != nil {
			return e
		}
	}
	if s.browses() {
		args = browsing()
	}
	if cfg.Mode == source.Peek && facts.Type == "" && s.broker().TellsQueueType() {
		if e := s.probe(); e != nil {
			return e
		}
	}
	if err := s.ch.Qos(s.c.prefetch(), 0, false); err != nil {
		return s.explain(phaseDeclare, err)
	}
	e := s.consume(args)
	if cfg.Mode == source.Stream {
		if e == nil {
			s.c.status.queueType("stream")
		} else if _, found := typeInReply(e.Err); found {
			return s.c.refuseNoStream()
		}
	}
	return e
}

func (s *session) exists() *Error {
	if _, err := s.ch.QueueDeclarePassive(s.queue, false, false, false, false, nil); err != nil {
		return s.explain(phaseDeclare, err)
	}
	return nil
}

func (s *session) consume(args amqp.Table) *Error {
	deliveries, err := s.ch.Consume(s.queue, consumerTag, false, false, false, false, args)
	if err != nil {
		return s.explain(phaseDeclare, err)
	}
	s.reading = true
	go discard(deliveries)
	return nil
}

// within drops the connection when the broker does not answer what f asks it in time, or goes on
// not to after ctx is done.
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

// wait returns nil when ctx is done or due fires, else what went wrong. look is called for each
// token of the sink.
func (s *session) wait(ctx context.Context, due <-chan time.Time, look func()) *Error {
	wake := s.sink.wake
	if look == nil {
		wake = nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-due:
			return nil
		case <-wake:
			look()
		case e := <-s.sink.halt:
			return e
		case e := <-s.gone:
			return e
		case err := <-s.chClosed:
			s.reading = false
			return s.closed(err)
		case err := <-s.connClosed:
			s.reading = false
			return s.closed(err)
		case <-s.cancelled:
			s.reading = false
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
	settling.Go(func() { settle(s.sink, s.ch, quit) })
	e := s.wait(ctx, nil, nil)
	stop := s.deadline()
	defer stop()
	s.cancel()
	s.sink.store.finish()
	close(quit)
	settling.Wait()
	s.leave(s.sink.withheld.Load())
	return e
}

// deadline bounds how long giving back and closing may take.
func (s *session) deadline() (stop func() bool) {
	return time.AfterFunc(s.c.cfg.CloseTimeout, func() { _ = s.transport.raw.Close() }).Stop
}

// cancel ends the subscription and waits for basic.cancel-ok.
func (s *session) cancel() {
	if s.reading {
		_ = s.ch.Cancel(consumerTag, false)
		s.reading = false
	}
}

// giveBack returns everything unsettled to its place in the queue.
func (s *session) giveBack() {
	if s.ch == nil || s.ch.IsClosed() || s.browses() { // of what is browsed nothing is held
		return
	}
	arrived, settled := s.sink.arrived.Load(), s.sink.settled.Load()
	// Tag 0 is everything delivered on the channel, also what may still be on its way.
	if s.ch.Nack(0, true, true) == nil {
		s.sink.settled.Store(arrived)
		s.c.counts.givenBack.Add(arrived - settled)
	}
}

// leave closes channel and connection in order.
func (s *session) leave(giveBack bool) {
	stop := s.deadline()
	defer stop()
	s.cancel()
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

// observe asks on a channel of its own how many messages wait and who else reads, until it may not
// or the connection ends.
func (s *session) observe(ctx context.Context) {
	ticker := time.NewTicker(observeEvery)
	defer ticker.Stop()
	ch, err := s.conn.Channel()
	if err != nil {
		return
	}
	var idle idle
	for {
		q, err := ch.QueueDeclarePassive(s.queue, false, false, false, false, nil)
		if err != nil {
			s.missing(err)
			return
		}
		s.c.status.observed(q.Messages, q.Consumers)
		idle.observe(s, q)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
