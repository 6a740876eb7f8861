package broker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/plural"

	"github.com/headerglass/headerglass/fieldtable/source"
)

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
		e := s.wait(ctx, hold.C, func() *Error {
			first := s.sink.firstAt.Load()
			if first == 0 || armed {
				return nil
			}
			armed = true
			hold.Reset(time.Unix(0, first).Add(c.hold()).Sub(c.now()))
			if s.width == c.cfg.Window {
				return nil
			}
			// The first message was judged, and the window opens. It stays with the subscription
			// that it came with.
			return s.within(ctx, c.endpoint.dialTimeout, func() *Error {
				e := s.consume(c.cfg.Window - 1)
				s.width = c.cfg.Window
				return e
			})
		})
		hold.Stop()
		if e != nil || ctx.Err() != nil {
			s.leave(true)
			return e
		}
		stop := s.deadline()
		s.unsubscribe(false)
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
			e = s.within(ctx, c.endpoint.dialTimeout, s.subscribe)
		}
		if e != nil || ctx.Err() != nil {
			s.leave(true)
			return e
		}
		c.status.consuming(s.queue, false)
	}
}

// hold is how long peek holds messages: no longer than half of the time after which the broker has
// taken them away before.
func (c *Consumer) hold() time.Duration {
	if limit := time.Duration(c.patience.Load()); limit > 0 {
		return min(c.cfg.Hold, limit/2)
	}
	return c.cfg.Hold
}

// judge decides what to do about a message, given how often the queue has delivered it before.
func (s *session) judge(count int64) *Error {
	c, limit := s.c, s.facts.DeliveryLimit
	c.status.counted(count)
	if c.cfg.Mode != source.Peek {
		if s.facts.near(count) {
			c.flow.caution(growth * growth)
		}
		return nil
	}
	if !s.facts.counts() { // its type is not known, but this queue counts
		known := s.facts
		known.Type = "quorum"
		if e := c.refuseCounted(known); e != nil {
			return e
		}
	}
	if s.facts.near(count) {
		return &Error{
			Kind: KindQueueType,
			Msg: fmt.Sprintf(
				"a message of %s has been given back %s, and after %d the queue drops or dead-letters it: "+
					"everything was given back, and peek stops at half; each further start gives the message at the head back once more",
				c.target(), plural.Of(count, "time"), limit,
			),
		}
	}
	return nil
}

// refuseCounted says why peek must not read a queue that counts deliveries; nil: it may.
func (c *Consumer) refuseCounted(f queueFacts) *Error {
	const least = 10 // with a lower limit there is no half to stop at
	switch limit := f.DeliveryLimit; {
	case !c.cfg.AcceptRedeliveryCount:
		return c.refuseQuorum()
	case limit == unknownLimit && c.management != nil:
		return &Error{
			Kind: KindPrecondition,
			Msg: fmt.Sprintf(
				"%s counts deliveries, and without the management API peek cannot know after how many a message is dropped: "+
					"nothing was read",
				c.target(),
			),
		}
	case limit == unknownLimit:
		return &Error{
			Kind: KindQueueType,
			Msg: remedied(fmt.Sprintf(
				"%s counts deliveries, and peek does not know after how many a message is dropped: nothing was read",
				c.target(),
			), c.cfg.Remedies.Limit),
		}
	case limit >= 0 && limit < least:
		return &Error{
			Kind: KindQueueType,
			Msg: remedied(fmt.Sprintf(
				"%s drops or dead-letters a message that was given back more than %s, which is too few for peek: "+
					"nothing was read",
				c.target(), plural.Of(limit, "time"),
			), c.cfg.Remedies.Few),
		}
	}
	return nil
}

// impatient learns from the broker's words after how long it takes back what is held.
func (c *Consumer) impatient(words string) {
	const before = "Timeout value used: "
	if _, rest, ok := strings.Cut(words, before); ok {
		var ms int64
		if n, _ := fmt.Sscanf(rest, "%d ms", &ms); n == 1 && ms > 0 && ms < int64(time.Hour/time.Millisecond)*24*365 {
			c.patience.Store(ms * int64(time.Millisecond))
		}
	}
}

func (c *Consumer) refuseQuorum() *Error {
	return &Error{
		Kind: KindQueueType,
		Msg: remedied(fmt.Sprintf(
			"%s counts deliveries, as quorum queues do: each time peek gives a message back it comes nearer to being "+
				"dropped or dead-lettered, so peek stops",
			c.target(),
		), c.cfg.Remedies.Counted),
	}
}

func (c *Consumer) refuseStream() *Error {
	return &Error{
		Kind: KindQueueType,
		Msg: remedied(
			c.target()+" is a stream, which nothing is removed from", c.cfg.Remedies.Stream),
	}
}

func (c *Consumer) refuseNoStream() *Error {
	return &Error{
		Kind: KindQueueType,
		Msg: remedied(
			c.target()+" is not a stream, so acknowledging would remove its messages: nothing was acknowledged",
			c.cfg.Remedies.NoStream),
	}
}
