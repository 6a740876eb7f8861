package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/headerglass/headerglass/fieldtable/plural"
)

// guardDistance is how many returns must be left before a queue's delivery limit.
const guardDistance = 2

// peek looks at the queue, gives back after Hold, leaves it alone for Pause and looks again.
func (s *session) peek(ctx context.Context) *Error {
	c := s.c
	if s.browses() { // nothing is held, so there is nothing to give back
		e := s.wait(ctx, nil, nil)
		s.leave(false)
		return e
	}
	for {
		hold := time.NewTimer(c.cfg.Hold)
		hold.Stop()
		armed := false
		e := s.wait(ctx, hold.C, func() {
			if first := s.sink.firstAt.Load(); first != 0 && !armed {
				armed = true
				hold.Reset(time.Unix(0, first).Add(c.cfg.Hold).Sub(c.now()))
			}
		})
		hold.Stop()
		if e != nil || ctx.Err() != nil {
			s.leave(true)
			return e
		}
		stop := s.deadline()
		s.cancel()
		s.giveBack()
		if !stop() {
			return &Error{
				Kind: KindLost,
				Msg: fmt.Sprintf(
					"%s did not answer within %s when the messages of %s were given back: the connection was closed, which gives them back, too",
					c.endpoint.address(),
					c.cfg.CloseTimeout,
					c.target(),
				),
			}
		}
		s.sink.endLook()
		c.status.paused(c.now().Add(c.cfg.Pause))
		pause := time.NewTimer(c.cfg.Pause)
		e = s.wait(ctx, pause.C, nil)
		pause.Stop()
		if e == nil && ctx.Err() == nil {
			e = s.within(ctx, c.endpoint.dialTimeout, func() *Error { return s.consume(nil) })
		}
		if e != nil || ctx.Err() != nil {
			s.leave(true)
			return e
		}
		c.status.consuming(s.queue)
	}
}

// guard judges the x-delivery-count of a message that peek was given.
func (c *Consumer) guard(facts queueFacts) func(count int64) *Error {
	limit := facts.DeliveryLimit
	if limit < 0 && c.status.rabbitMQ(4, 0) {
		limit = 20 // RabbitMQ's default since 4.0
	}
	return func(count int64) *Error {
		switch {
		case !c.cfg.AcceptRedeliveryCount:
			return c.refuseQuorum()
		case limit >= 0 && count >= limit-guardDistance:
			return &Error{
				Kind: KindQueueType,
				Msg: fmt.Sprintf("a message of %s has been returned %s and the queue's delivery limit is %d: "+
					"everything was given back, and peek stops before a message is dropped or dead-lettered", c.target(), plural.Of(count, "time"), limit),
			}
		}
		return nil
	}
}

func (c *Consumer) refuseQuorum() *Error {
	return &Error{
		Kind: KindQueueType,
		Msg: fmt.Sprintf(
			"%s counts deliveries, as quorum queues do: each time peek gives a message back it comes nearer to being dropped or dead-lettered, so peek stops. "+
				"Read a copy instead with --exchange and --binding, or allow it with --accept-redelivery-count",
			c.target(),
		),
	}
}

func (c *Consumer) refuseStream() *Error {
	return &Error{
		Kind: KindQueueType,
		Msg:  fmt.Sprintf("%s is a stream: read it with --offset, which removes nothing either", c.target()),
	}
}

func (c *Consumer) refuseNoStream() *Error {
	return &Error{
		Kind: KindQueueType,
		Msg: fmt.Sprintf(
			"%s is not a stream, so acknowledging would remove its messages: nothing was acknowledged; read it without --offset",
			c.target(),
		),
	}
}
