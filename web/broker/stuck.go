package broker

import (
	"fmt"
	"time"

	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/source"
)

const (
	// fruitless is how long a session that stores nothing must read to count as a success.
	fruitless = time.Minute
	// patienceBarren is how many losses in a row without progress it takes to say that the broker
	// fails at what it delivers.
	patienceBarren = 2

	minWaitBarren = 2 * time.Minute
	maxWaitBarren = 10 * time.Minute
	// firstWaitBarren is the first wait where it may have been the network.
	firstWaitBarren = 30 * time.Second
)

// attempt is what there is to know about a session when it has ended.
type attempt struct {
	consumed time.Time // when the broker answered basic.consume; zero: it never did
	stored   uint64    // messages stored before it
	waiting  int       // messages in the queue when it began
	arrived  bool      // a delivery
	begun    bool      // a delivery, and be it in part
	single   bool      // no more than one message could be under way at the end
	counts   bool      // the queue counts deliveries
	limit    int64     // how many it allows, see queueFacts
}

// stuck notices that the broker fails while it delivers: it answers basic.consume, and then the
// channel or the connection ends before a message is stored, again and again. A broker does so at a
// message that it cannot convert, and then each attempt uses up a delivery on a queue that counts
// them.
type stuck struct {
	barren  int // losses in a row without progress
	cut     int // those of them that were the network's, on a queue that counts deliveries
	leftOut uint64
	last    int64 // offset of the last message left out
}

// verdict is what follows from the end of a session.
type verdict struct {
	progress bool // begin anew with the times between attempts
	e        *Error
	wait     time.Duration // before the next attempt; 0: as after any failure
}

// ended judges a session that ended with e.
func (c *Consumer) ended(a attempt, e *Error) verdict {
	v := verdict{e: e}
	if a.consumed.IsZero() {
		return v
	}
	// A copy's queue is new, so nothing tells what has come into it.
	something := a.waiting > 0 || a.arrived || e.Kind == KindInternal || c.cfg.Mode == source.Copy
	// A broker that fails at a message closes before it has sent anything of it.
	network := e.cause == byNetwork || e.cause == byEither && a.begun
	broken := e.broken() && something && !network
	// The broker's own fault with one message under way is the fault of the message behind it,
	// whatever was stored before.
	atOnce := e.Kind == KindInternal && a.single
	if c.counts.stored.Load() > a.stored && !(broken && atOnce) || c.now().Sub(a.consumed) >= fruitless {
		c.stuck.barren, c.stuck.cut = 0, 0
		v.progress = true
	}
	if network && e.broken() && something && a.counts && a.limit != noLimit && !v.progress {
		if c.stuck.cut++; c.stuck.cut >= patienceForCuts(a) {
			v.e = c.cutOff(e)
		}
		return v
	}
	if !broken {
		return v
	}
	if a.counts || e.Kind == KindInternal {
		c.flow.caution(c.flow.most + 1) // neighbours are not counted, and the message can be told
	}
	if v.progress {
		if c.cfg.Mode == source.Peek && a.counts && e.Kind == KindInternal {
			v.e = c.undeliverable(e, true) // everything in the window has been counted once
		}
		return v
	}
	c.stuck.barren++
	if c.stuck.barren < patienceFor(a) {
		return v
	}
	v.e = c.undeliverable(e, a.counts)
	switch {
	case a.counts:
	case c.leaveOut(e):
	default:
		wait := minWaitBarren
		if e.cause == byEither {
			wait = firstWaitBarren
		}
		v.wait = min(wait<<min(c.stuck.barren-patienceBarren, 8), maxWaitBarren)
	}
	return v
}

// patienceFor is how many losses without progress are enough. A queue that counts drops a message
// that it delivers once more than its limit; two deliveries may have gone before.
func patienceFor(a attempt) int {
	if a.counts && a.limit > 0 && a.limit <= patienceBarren {
		return 1
	}
	return patienceBarren
}

// patienceForCuts is how often the network may take a connection before a message is stored. The
// queue counts a delivery of the message at its head each time.
func patienceForCuts(a attempt) int {
	const some, most = 3, 5
	if a.limit == unknownLimit {
		return some
	}
	return int(min(max(a.limit/2, 1), most))
}

// cutOff says that the network takes each connection.
func (c *Consumer) cutOff(cause *Error) *Error {
	return &Error{Kind: KindLost, stops: true, Err: cause, Msg: fmt.Sprintf(
		"the connection was lost %s in a row before a message of %s could be stored (%s); "+
			"each attempt uses up a delivery, so this explorer has stopped",
		plural.Of(c.stuck.cut, "time"), c.target(), cause.Msg)}
}

// broken reports whether the channel or the connection ended without a reason that has nothing to
// do with what was delivered.
func (e *Error) broken() bool {
	switch e.Kind {
	case KindLost, KindInternal, KindProtocol, KindPrecondition:
		return true
	}
	return false
}

// leaveOut has a stream read on behind the message that cannot be delivered, and reports whether it
// does.
func (c *Consumer) leaveOut(e *Error) bool {
	d := c.delivered
	// Where the connection merely ended, there may be no message at that offset yet.
	if c.cfg.Mode != source.Stream || !d.resumes || e.Kind != KindInternal && e.Kind != KindProtocol {
		return false
	}
	c.stuck.leftOut++
	c.stuck.last = d.next
	d.next++
	c.stuck.barren = 0
	c.status.leftOut(c.stuck.leftOut, c.stuck.last)
	return true
}

// undeliverable says that the broker fails at a message. final: reading on would harm the queue.
func (c *Consumer) undeliverable(cause *Error, final bool) *Error {
	where := "what is at the head of " + c.target()
	past := "take that message out with a client of the protocol it was published with, such as AMQP 1.0, " +
		"or move it with a policy that sets message-ttl and dead-letter-exchange"
	if c.cfg.Mode == source.Stream {
		where = fmt.Sprintf("the message of %s behind what was read", c.target())
		if c.delivered.resumes {
			where = fmt.Sprintf("the message at offset %d of %s", c.delivered.next, c.target())
		}
		past = c.cfg.Remedies.Offset
	}
	if c.cfg.Mode == source.Copy {
		where, past = "a message copied from "+c.target(), c.cfg.Remedies.Binding
	}
	then := ""
	if final {
		then = "; each attempt uses up a delivery, so this explorer has stopped"
	}
	if past != "" {
		then += "; to get past it, " + past
	}
	return &Error{Kind: KindUndeliverable, stops: final, Err: cause, Msg: fmt.Sprintf(
		"the broker fails while delivering %s, and its log says why (%s)%s", where, cause.Msg, then)}
}
