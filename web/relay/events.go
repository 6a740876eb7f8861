package relay

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/capture"
)

// Method is described at capture.Listener.
func (h *half) Method(id, class, method uint16, args []byte) {
	c, a := h.conversation, wire.ReadArguments(args)
	switch class {
	case wire.ClassConnection:
		c.onConnection(h.fromClient, method, &a)
	case wire.ClassChannel:
		c.onChannel(h.fromClient, id, method, &a)
	case wire.ClassConfirm:
		if h.fromClient && method == wire.MethodConfirmSelect {
			c.channel(id).confirms = true
		}
	case wire.ClassBasic:
		if h.fromClient {
			c.fromClient(c.channel(id), method, &a)
		} else {
			c.fromServer(c.channel(id), method, &a)
		}
	}
}

func (c *conversation) onConnection(fromClient bool, method uint16, a *wire.Arguments) {
	switch {
	case fromClient && method == wire.MethodConnectionStartOk:
		c.startOk(a)
	case fromClient && method == wire.MethodConnectionOpen:
		host := clip(a.ShortStr())
		c.relay.mu.Lock()
		c.peer.VHost = host
		c.relay.mu.Unlock()
	case !fromClient && method == wire.MethodConnectionStart:
		c.start(a)
	case !fromClient && method == wire.MethodConnectionOpenOk:
		c.opened.Store(true)
	case method == wire.MethodConnectionClose:
		why := reasonOf(a)
		for _, ch := range c.channels {
			c.settleAll(ch, closed, why)
		}
	}
}

func (c *conversation) onChannel(fromClient bool, id, method uint16, a *wire.Arguments) {
	switch {
	case fromClient && method == wire.MethodChannelOpen, method == wire.MethodChannelCloseOk:
		if ch := c.channels[id]; ch != nil {
			c.settleAll(ch, closed, nil)
			delete(c.channels, id)
		}
	case method == wire.MethodChannelClose:
		if ch := c.channels[id]; ch != nil {
			c.settleAll(ch, closed, reasonOf(a))
		}
	}
}

// reasonOf reads a reply code and text; nil: all went well.
func reasonOf(a *wire.Arguments) *reason {
	code, said := a.Uint16(), clip(a.ShortStr())
	if code == 0 || code == 200 {
		return nil
	}
	return &reason{code, said}
}

// fromClient takes a method of class basic that a client sent.
func (c *conversation) fromClient(ch *channel, method uint16, a *wire.Arguments) {
	const noAck = 1 << 1 // of the bits of basic.consume
	switch method {
	case wire.MethodBasicConsume:
		a.Take(2) // reserved
		queue, tag, bits := clip(a.ShortStr()), clip(a.ShortStr()), a.Uint8()
		s := &consumer{queue: queue, tag: tag, noAck: bits&noAck != 0}
		if noWait := bits&(1<<3) != 0; noWait {
			ch.subscribe(s)
		} else if len(ch.asked) < maxConsumers {
			ch.asked = append(ch.asked, s)
		}
	case wire.MethodBasicCancel:
		delete(ch.consumers, clip(a.ShortStr()))
	case wire.MethodBasicGet:
		a.Take(2) // reserved
		queue := clip(a.ShortStr())
		if len(ch.gets) < maxConsumers {
			ch.gets = append(ch.gets, &consumer{queue: queue, noAck: a.Uint8()&1 != 0})
		}
	case wire.MethodBasicAck:
		tag, bits := a.Uint64(), a.Uint8()
		c.settle(&ch.unacked, tag, bits&1 != 0, acknowledged)
	case wire.MethodBasicReject:
		tag, bits := a.Uint64(), a.Uint8()
		c.settle(&ch.unacked, tag, false, rejection(bits&1 != 0))
	case wire.MethodBasicNack:
		tag, bits := a.Uint64(), a.Uint8()
		c.settle(&ch.unacked, tag, bits&1 != 0, rejection(bits&2 != 0))
	case wire.MethodBasicRecover, wire.MethodBasicRecoverAsync:
		c.settle(&ch.unacked, 0, true, requeued)
	}
}

func rejection(requeue bool) outcome {
	if requeue {
		return requeued
	}
	return rejected
}

// fromServer takes a method of class basic that the broker sent.
func (c *conversation) fromServer(ch *channel, method uint16, a *wire.Arguments) {
	switch method {
	case wire.MethodBasicConsumeOk:
		if len(ch.asked) > 0 {
			s := ch.asked[0]
			ch.asked = ch.asked[1:]
			s.tag = clip(a.ShortStr())
			ch.subscribe(s)
		}
	case wire.MethodBasicCancel:
		delete(ch.consumers, clip(a.ShortStr()))
	case wire.MethodBasicGetEmpty:
		ch.got()
	case wire.MethodBasicAck:
		c.confirm(ch, a, confirmed)
	case wire.MethodBasicNack:
		c.confirm(ch, a, refused)
	}
}

func (ch *channel) subscribe(s *consumer) {
	if len(ch.consumers) < maxConsumers {
		ch.consumers[s.tag] = s
	}
}

// got is where the answer to the oldest basic.get comes from; nil: not known.
func (ch *channel) got() *consumer {
	if len(ch.gets) == 0 {
		return nil
	}
	s := ch.gets[0]
	ch.gets = ch.gets[1:]
	return s
}

// confirm settles publishes.
func (c *conversation) confirm(ch *channel, a *wire.Arguments, o outcome) {
	tag, multiple := a.Uint64(), a.Uint8()&1 != 0
	c.settle(&ch.waiting, tag, multiple, o)
	ch.mandatory = slices.DeleteFunc(ch.mandatory, func(m awaited) bool {
		return m.tag == tag || multiple && m.tag < tag
	})
}

// settle writes an outcome into the lines of what a tag settles.
func (c *conversation) settle(w *window, tag uint64, multiple bool, o outcome) {
	r, now := c.relay, time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	w.take(tag, multiple, func(m awaited) { r.ledger.settle(m, o, nil, now) })
}

// settleAll writes an outcome into all lines that wait for one on a channel.
func (c *conversation) settleAll(ch *channel, o outcome, why *reason) {
	r, now := c.relay, time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range []*window{&ch.waiting, &ch.unacked} {
		w.take(0, true, func(m awaited) { r.ledger.settle(m, o, why, now) })
	}
	ch.mandatory = nil
}

// settle writes an outcome that came at a time, unless there is one.
func (l *ledger) settle(m awaited, o outcome, why *reason, at time.Time) {
	if n := l.line(m.seq); n != nil && n.outcome == awaitedOutcome {
		n.outcome, n.reason, n.after = o, why, max(at.Sub(m.at), 0)
	}
}

// Content is described at capture.Listener. It stores a message.
func (h *half) Content(m capture.Content) {
	c, d := h.conversation, m.Delivery
	ch, a := c.channel(d.Channel), wire.ReadArguments(m.Args)
	n := line{peer: c.peer, channel: d.Channel, key: c.relay.keyOf(d.Header, m.Body)}
	this := awaited{key: n.key, at: m.Received}
	var waits *window
	var why *reason
	switch m.Method {
	case wire.MethodBasicPublish:
		n.method = publish
		a.Take(2) // reserved
		a.ShortStr()
		a.ShortStr()
		n.flags = a.Uint8() & (flagMandatory | flagImmediate)
		if ch.confirms {
			n.flags |= flagConfirms
			n.outcome = missed
			if !ch.unsure {
				ch.published++
				this.tag, d.DeliveryTag, waits = ch.published, ch.published, &ch.waiting
			}
		}
	case wire.MethodBasicReturn:
		n.method = returned
		why = reasonOf(&a)
	case wire.MethodBasicDeliver:
		n.method, n.subscribed = deliver, ch.consumers[clip(d.ConsumerTag)]
	case wire.MethodBasicGetOk:
		n.method, n.subscribed = getOk, ch.got()
	}
	if n.method == deliver || n.method == getOk {
		this.tag = d.DeliveryTag
		if n.subscribed == nil || !n.subscribed.noAck {
			n.outcome, waits = missed, &ch.unacked
		} else {
			n.flags |= flagNoAck
		}
	}

	r := c.relay
	r.writer.Begin(&d, m.Received)
	r.writer.Body(m.Body)
	this.seq = r.writer.Commit()
	if waits != nil && waits.add(this) {
		n.outcome = awaitedOutcome
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n.method == returned {
		n.reason = why
		n.other = c.sendBack(ch, this, why)
	}
	r.ledger.add(this.seq, n)
	if n.flags&(flagMandatory|flagImmediate) != 0 && n.method == publish {
		if len(ch.mandatory) == maxMandatory {
			ch.mandatory = ch.mandatory[1:]
		}
		ch.mandatory = append(ch.mandatory, this)
	}
}

// sendBack writes into the line of a publish that it came back, and returns its number; 0 where it
// is not known. Returns come in the order of the publishes. The caller holds Relay.mu.
func (c *conversation) sendBack(ch *channel, back awaited, why *reason) uint64 {
	i := slices.IndexFunc(ch.mandatory, func(m awaited) bool { return m.key == back.key })
	if i < 0 {
		return 0
	}
	m := ch.mandatory[i]
	ch.mandatory = slices.Delete(ch.mandatory, i, i+1)
	if n := c.relay.ledger.line(m.seq); n != nil {
		n.outcome, n.reason, n.after, n.other = sentBack, why, max(back.at.Sub(m.at), 0), back.seq
	}
	return m.seq
}

// keyOf is the same for a message wherever it passes, whatever a broker did to its headers: that of
// its message id, or else of its body and of properties that brokers leave alone.
func (r *Relay) keyOf(header, body []byte) uint64 {
	h := wire.ViewContentHeader(header)
	var m maphash.Hash
	m.SetSeed(r.seed)
	if id, ok := h.Property("message_id"); ok && len(id.Raw) > 0 {
		_, _ = m.Write(id.Raw)
		return m.Sum64()
	}
	for _, name := range []string{"content_type", "correlation_id", "timestamp", "type", "app_id"} {
		if p, ok := h.Property(name); ok {
			_, _ = m.WriteString(name)
			_, _ = m.Write(p.Raw)
		}
		_ = m.WriteByte(0)
	}
	_, _ = m.Write(body)
	return m.Sum64()
}
