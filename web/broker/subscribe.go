package broker

import (
	"context"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// prepare makes sure that what is to be read is there, and that reading it does no harm.
func (s *session) prepare() *Error {
	c := s.c
	if c.cfg.Mode == source.Copy {
		s.facts = queueFacts{Type: "classic", DeliveryLimit: noLimit} // the explorer's own
		return s.declareCopy()
	}
	q, err := s.ch.QueueDeclarePassive(s.queue, false, false, false, false, nil)
	if err != nil {
		return s.explain(phaseDeclare, err)
	}
	s.attempt.waiting = q.Messages
	if c.cfg.Mode == source.Stream {
		if c.offset.word == "next" && !c.delivered.resumes {
			return s.findTail()
		}
		return nil
	}
	if s.facts.Type == "" && s.answersProbe() {
		if s.facts.Type, err = s.probe(); err != nil {
			return s.explain(phaseDeclare, err)
		}
		c.status.queueType(s.facts.Type)
	}
	c.delivered.print.stampedBy(s.broker(), s.facts.Type)
	s.facts.complete(c.status.rabbitMQ(4, 0))
	c.status.limit(s.facts.DeliveryLimit)
	c.status.note(s.notes()...)
	if s.browses() {
		return nil // nothing is acquired, and so nothing counted
	}
	// where neither holds, anybody may have written the counts
	if s.facts.counts() || s.facts.Type == "" {
		judge := s.judge
		s.sink.guard.Store(&judge)
	}
	return c.refusal(s.facts)
}

// notes say what reading does to this queue that others of the same mode are not exposed to.
func (s *session) notes() (notes []string) {
	if s.c.cfg.Mode == source.Peek && s.facts.Type == "quorum" && s.facts.DeliveryLimit == noLimit {
		notes = append(notes, "This quorum queue has no delivery limit, so it puts what is given back at its end: "+
			"unless the window holds the whole queue, its order changes.")
	}
	if s.facts.SingleActive {
		notes = append(notes, "This queue serves one consumer at a time (x-single-active-consumer): "+
			"while this explorer is the active one, every other waits, and while another is, nothing arrives here.")
	}
	return notes
}

// subscribe consumes what was prepared.
func (s *session) subscribe() *Error {
	c := s.c
	careful := c.cfg.Mode != source.Stream && !s.browses() &&
		(s.facts.counts() || s.facts.Type == "" || c.cfg.Spool != nil)
	e := s.consume(c.flow.begin(careful))
	if c.cfg.Mode == source.Stream {
		if e == nil {
			c.status.queueType("stream")
		} else if _, found := typeInReply(e.Err); found {
			return c.refuseNoStream()
		}
	}
	return e
}

// consume begins a subscription with up to width messages under way, and ends the one before it.
// RabbitMQ applies a prefetch count to the consumers that come after it.
func (s *session) consume(width int) *Error {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	defer s.changing()()
	if s.leaving {
		return nil
	}
	args := amqp.Table{}
	if s.browses() {
		args = browsing()
	}
	if s.facts.Type == "quorum" || s.c.cfg.Mode == source.Stream {
		// Two subscriptions of one quorum queue get their messages in no order, and a stream is
		// read on from what has arrived when this is answered. On other queues the next one comes
		// first: some are deleted with their last consumer.
		s.cancel()
	}
	if s.c.cfg.Mode == source.Stream {
		args["x-stream-offset"] = s.c.offset.argument(s.c.now())
		if s.c.delivered.resumes {
			args["x-stream-offset"] = s.c.delivered.next
		}
		addStreamFilter(args, &s.c.cfg)
	}
	if s.c.cfg.Mode == source.Peek && s.facts.SingleActive {
		args["x-priority"] = int32(-1) // others go first where the queue heeds priorities
	}
	if err := s.ch.Qos(width, 0, false); err != nil {
		return s.explain(phaseDeclare, err)
	}
	tag := consumerTag
	if s.tags++; s.tags > 1 {
		tag = fmt.Sprintf("%s %d", consumerTag, s.tags)
	}
	deliveries, err := s.ch.Consume(s.queue, tag, false, false, false, false, args)
	if err != nil {
		return s.explain(phaseDeclare, err)
	}
	go discard(deliveries)
	s.cancel()
	s.reading, s.width = tag, width
	s.sink.batch.Store(uint64(max(width/4, 1)))
	s.c.status.width(width)
	return nil
}

// resize gives the subscription another width, and reports whether it could.
func (s *session) resize(ctx context.Context, width int) bool {
	if e := s.within(ctx, s.c.endpoint.dialTimeout, func() *Error { return s.consume(width) }); e != nil {
		s.sink.stop(e)
		return false
	}
	s.c.flow.resized(width)
	return true
}

// answersProbe reports whether the broker says what a queue is without delivering a message of it.
func (s *session) answersProbe() bool {
	return s.c.status.rabbitMQ(3, 9) || s.broker().TellsQueueType() && s.c.cfg.Mode == source.Peek
}
