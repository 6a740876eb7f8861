package broker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

const (
	// publishFrame is the largest frame where the broker sets no bound, in octets, overhead
	// included.
	publishFrame = 131072
	// publishChannel is the number of a connection's first channel.
	publishChannel = 1
	// underWay is how many messages are sent ahead of the broker's word on them.
	underWay = 64
)

// Publication is a message to be published byte for byte.
type Publication struct {
	RoutingKey []byte
	// Header is the payload of its content header. No octet of it is changed.
	Header []byte
	Body   []byte // as many octets as Header announces
}

// Fate is what became of a Publication.
type Fate uint8

// The fates of a Publication.
const (
	Confirmed Fate = iota + 1 // the broker has it: it was routed to a queue, or nobody wanted it
	Returned                  // mandatory, and the broker could route it to no queue
	Refused                   // the broker said no, or it cannot be sent
	Unknown                   // sent, and the connection ended before the broker's word on it
	Unsent                    // the connection ended before it was sent
)

func (f Fate) String() string {
	switch f {
	case Confirmed:
		return "confirmed"
	case Returned:
		return "returned"
	case Refused:
		return "refused"
	case Unknown:
		return "unknown"
	case Unsent:
		return "not sent"
	}
	return "none"
}

// Outcome tells the fate of one Publication.
type Outcome struct {
	Index  int // of the Publication, from 0
	Fate   Fate
	Reason string // in words; empty for Confirmed
}

// Publisher puts messages on one exchange, as they are: no client library encodes a header table.
type Publisher struct {
	// c dials, opens and puts errors into words. It never runs.
	c    *Consumer
	rate float64
	// Blocked, if set, is called when the broker stops reading, with its reason, and with "" when
	// it reads on.
	Blocked func(reason string)

	mu       sync.Mutex
	waiting  map[uint64]*sent // by publishing sequence number: sent, and not settled
	settled  *sync.Cond       // something was settled, or the connection ended
	ended    *Error           // why nothing more comes
	outcomes func(Outcome)
}

// sent is a message that the broker has not settled yet.
type sent struct {
	index int
	Publication
	returned string // why the broker returned it; empty: it did not
}

// NewPublisher checks cfg, of which it takes the connection's settings and Exchange, where an empty
// name means the default exchange. It sends at most rate messages a second; 0: as fast as the
// broker takes them. It dials nothing.
func NewPublisher(cfg Config, rate float64) (*Publisher, error) {
	e, err := newEndpoint(cfg)
	if err == nil && len(cfg.Exchange) > 255 {
		err = errors.New("an exchange's name has at most 255 bytes")
	}
	if err != nil {
		return nil, &Error{Kind: KindConfig, Msg: err.Error(), Err: err}
	}
	if cfg.CloseTimeout <= 0 {
		cfg.CloseTimeout = DefaultCloseTimeout
	}
	if cfg.Name == "" {
		cfg.Name = "headerglass publish"
	}
	cfg.Mode = source.Copy // errors then speak of the exchange
	p := &Publisher{
		c: &Consumer{
			cfg: cfg, endpoint: e, now: time.Now, reach: new(net.Dialer).DialContext,
			secrets: secretForms(e.username, e.password, e.urlPassword),
		},
		rate: rate, waiting: make(map[uint64]*sent),
	}
	p.settled = sync.NewCond(&p.mu)
	return p, nil
}

// Target says where messages go, without the password.
func (p *Publisher) Target() string {
	exchange := "the default exchange"
	if p.c.cfg.Exchange != "" {
		exchange = fmt.Sprintf("exchange %q", p.c.cfg.Exchange)
	}
	return fmt.Sprintf("%s of %s", exchange, p.c.endpoint)
}

// Publish sends messages, mandatory and with publisher confirms, and tells the outcome of each, in
// the order in which the broker settles them; calls do not overlap. It returns when all are told.
// The error is why the connection could not be opened or ended early; what was refused or returned
// is told as an outcome only. When ctx ends, nothing more is sent.
//
// RabbitMQ closes the connection at a table that it cannot read. Such a message travels alone, so
// that it is the one that is named.
func (p *Publisher) Publish(ctx context.Context, messages iter.Seq[Publication], tell func(Outcome)) error {
	p.outcomes = tell
	dialing, cancel := context.WithTimeout(ctx, p.c.endpoint.dialTimeout)
	defer cancel()
	raw, e := p.c.dial(dialing)
	if e != nil {
		return e
	}
	t := &publishing{
		watched: raw, in: bufio.NewReaderSize(raw, 64<<10),
		channel: publishChannel, settled: p.onSettled, returned: p.onReturn,
	}
	defer raw.Close()
	conn, e := p.c.open(dialing, t, raw)
	if e != nil {
		return e
	}
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	ch, err := conn.Channel()
	if err != nil {
		return p.c.explain(phaseDeclare, err, raw.seen())
	}
	chClosed := ch.NotifyClose(make(chan *amqp.Error, 1))
	if err := p.checkExchange(conn); err != nil {
		_ = conn.Close()
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return p.c.explain(phaseDeclare, err, raw.seen())
	}
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 8))
	var watching sync.WaitGroup
	watching.Go(func() {
		var cause *amqp.Error
		for open := true; open; {
			select {
			case cause = <-chClosed:
				open = false
			case cause = <-closed:
				open = false
			case b, ok := <-blocked:
				if !ok {
					blocked = nil
				} else if p.Blocked != nil {
					p.Blocked(p.c.withoutSecrets(b.Reason))
				}
			}
		}
		if cause == nil {
			p.end(p.c.explain(phaseRun, amqp.ErrClosed, raw.seen()))
			return
		}
		p.end(p.c.explain(phaseRun, cause, raw.seen()))
	})
	failure := p.sendAll(ctx, t, conn.Config.FrameSize, messages)
	stop := time.AfterFunc(p.c.cfg.CloseTimeout, func() { _ = raw.Close() })
	defer stop.Stop()
	_ = conn.Close()
	watching.Wait()
	return failure
}

// checkExchange asks on a channel of its own whether the exchange is there: publishing to one that
// is not closes the channel only after the messages were sent.
func (p *Publisher) checkExchange(conn *amqp.Connection) error {
	if p.c.cfg.Exchange == "" {
		return nil
	}
	ch, err := conn.Channel()
	if err != nil {
		return p.c.explain(phaseDeclare, err, evidence{})
	}
	// The type is not compared in a passive declaration.
	if err := ch.ExchangeDeclarePassive(p.c.cfg.Exchange, "direct", false, false, false, false, nil); err != nil {
		return p.c.explain(phaseDeclare, err, evidence{})
	}
	return ch.Close()
}

func (p *Publisher) sendAll(ctx context.Context, t *publishing, frameMax int, messages iter.Seq[Publication]) error {
	if frameMax <= 0 {
		frameMax = publishFrame
	}
	// What is under way when ctx ends is waited for, but not for long.
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(p.c.cfg.CloseTimeout, func() { p.end(p.interrupted()) })
	})()
	var frames []byte
	var due time.Time
	index, tag := -1, uint64(0)
	for m := range messages {
		index++
		if why := unsendable(m, frameMax); why != "" {
			p.tell(Outcome{Index: index, Fate: Refused, Reason: why})
			continue
		}
		alone := !readable(m) || p.claimsAnother(m)
		room := underWay - 1
		if alone {
			room = 0
		}
		if ctx.Err() != nil || !p.await(room) || !p.pace(ctx, &due) {
			p.tell(Outcome{Index: index, Fate: Unsent, Reason: p.why()})
			continue
		}
		tag++
		p.mu.Lock()
		p.waiting[tag] = &sent{index: index, Publication: m}
		p.mu.Unlock()
		frames = appendPublish(frames[:0], t.channel, p.c.cfg.Exchange, m, frameMax)
		if err := t.send(frames); err != nil {
			p.end(p.c.explain(phaseRun, err, evidence{err: err}))
		}
		if alone {
			p.await(0)
		}
		if cap(frames) > 4<<20 {
			frames = nil
		}
	}
	if !p.await(0) {
		return p.giveUp()
	}
	if ctx.Err() != nil {
		return p.interrupted()
	}
	return nil
}

func (p *Publisher) interrupted() *Error {
	return &Error{Kind: KindLost, Msg: "publishing was interrupted", Err: context.Canceled}
}

// unsendable says why a message cannot be published at all; empty: it can.
func unsendable(m Publication, frameMax int) string {
	switch h := wire.ViewContentHeader(m.Header); {
	case len(m.Header) < wire.ContentHeaderFixed || h.ClassID() != wire.ClassBasic:
		return "it has no content header of class basic"
	case h.BodySize() != uint64(len(m.Body)):
		return fmt.Sprintf("its body has %s and only %d of them %s kept",
			plural.Of(h.BodySize(), "octet"), len(m.Body), plural.Verb(len(m.Body), "was", "were"))
	case len(m.Header)+wire.FrameOverhead > frameMax:
		return fmt.Sprintf(
			"its content header needs a frame of %d octets and the broker takes at most %d",
			len(m.Header)+wire.FrameOverhead, frameMax,
		)
	case len(m.RoutingKey) > 255:
		return "a routing key has at most 255 octets"
	}
	return ""
}

// readable reports whether RabbitMQ can read the message's content header. It decides only how a
// message travels.
func readable(m Publication) bool {
	h := wire.ViewContentHeader(m.Header)
	for _, err := range h.All() {
		if err != nil {
			return false
		}
	}
	table, ok := h.HeaderTable()
	return !ok || fieldtable.View(table, fieldtable.RabbitMQ()).Valid() == nil
}

// claimsAnother reports whether the message names another user than the one who publishes it, for
// which RabbitMQ closes the channel (https://www.rabbitmq.com/docs/validated-user-id).
func (p *Publisher) claimsAnother(m Publication) bool {
	user, ok := wire.ViewContentHeader(m.Header).Property("user_id")
	return ok && string(user.Raw) != p.c.endpoint.username
}

func appendPublish(dst []byte, channel uint16, exchange string, m Publication, frameMax int) []byte {
	const mandatory = 1
	args := make([]byte, 0, 2+1+len(exchange)+1+len(m.RoutingKey)+1)
	args = append(args, 0, 0) // reserved
	args = append(append(args, byte(len(exchange))), exchange...)
	args = append(append(args, byte(len(m.RoutingKey))), m.RoutingKey...)
	args = append(args, mandatory)
	dst = wire.AppendMethod(dst, channel, wire.ClassBasic, wire.MethodBasicPublish, args)
	dst = wire.AppendContentHeader(dst, channel, m.Header)
	return wire.AppendBody(dst, channel, m.Body, frameMax)
}

// await waits until at most n messages are not settled; false: the connection has ended.
func (p *Publisher) await(most int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.ended == nil && len(p.waiting) > most {
		p.settled.Wait()
	}
	return p.ended == nil
}

// pace waits until the next message is due; false: ctx is done.
func (p *Publisher) pace(ctx context.Context, due *time.Time) bool {
	if p.rate <= 0 {
		return true
	}
	now := time.Now()
	if wait := due.Sub(now); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
		now = now.Add(wait)
	}
	*due = now.Add(time.Duration(float64(time.Second) / p.rate))
	return true
}

// end notes the first reason for which nothing more comes.
func (p *Publisher) end(e *Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil {
		p.ended = e
	}
	p.settled.Broadcast()
}

func (p *Publisher) why() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil {
		return p.interrupted().Msg
	}
	return p.ended.Msg
}

// giveUp tells of what was sent and never settled. A message that was alone under way is the one at
// which the broker ended the connection.
func (p *Publisher) giveUp() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	fate := Unknown
	if reply, ok := errors.AsType[*amqp.Error](p.ended.Err); ok && reply.Server && len(p.waiting) == 1 {
		fate = Refused
	}
	for _, tag := range slices.Sorted(maps.Keys(p.waiting)) {
		p.outcomes(Outcome{Index: p.waiting[tag].index, Fate: fate, Reason: p.ended.Msg})
	}
	clear(p.waiting)
	return p.ended
}

func (p *Publisher) tell(o Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcomes(o)
}

func (p *Publisher) onSettled(tag uint64, multiple, accepted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	tags := []uint64{tag}
	if multiple {
		tags = tags[:0]
		for _, t := range slices.Sorted(maps.Keys(p.waiting)) {
			if t <= tag {
				tags = append(tags, t)
			}
		}
	}
	for _, t := range tags {
		s := p.waiting[t]
		if s == nil {
			continue
		}
		delete(p.waiting, t)
		switch {
		case s.returned != "":
			p.outcomes(Outcome{Index: s.index, Fate: Returned, Reason: s.returned})
		case accepted:
			p.outcomes(Outcome{Index: s.index, Fate: Confirmed})
		default:
			p.outcomes(Outcome{
				Index: s.index, Fate: Refused,
				Reason: "the broker refused it (basic.nack): a queue that it is for is full or cannot take it",
			})
		}
	}
	p.settled.Broadcast()
}

// onReturn finds the message that came back. basic.return does not name it; messages come back in
// the order they were sent in, each before its confirm (https://www.rabbitmq.com/docs/confirms).
func (p *Publisher) onReturn(r returned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *sent
	for _, tag := range slices.Sorted(maps.Keys(p.waiting)) {
		s := p.waiting[tag]
		if s.returned != "" || !bytes.Equal(s.RoutingKey, r.routingKey) {
			continue
		}
		if bytes.Equal(s.Header, r.header) {
			found = s
			break
		}
		// A broker may encode the table anew.
		if found == nil && wire.ViewContentHeader(r.header).BodySize() == uint64(len(s.Body)) {
			found = s
		}
	}
	if found != nil {
		found.returned = fmt.Sprintf("the broker returned it: %d %s", r.code, p.c.withoutSecrets(string(r.text)))
	}
}
