package demoserver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// onChannel handles a method of a channel. The caller holds Server.mu.
func (c *conn) onChannel(m method, id uint16, a *wire.Arguments) {
	defer c.poke()
	w, s := &c.out, c.s
	ch := c.channels[id]
	if m == channelOpen {
		if ch != nil || id == 0 {
			c.fail(Reply{504, "CHANNEL_ERROR - second 'channel.open' seen"}, m)
			return
		}
		c.channels[id] = &channel{conn: c, id: id, consumers: map[string]*consumer{}}
		w.method(id, channelOpenOk, func() { w.long("") })
		return
	}
	if ch == nil {
		c.fail(Reply{504, "CHANNEL_ERROR - expected 'channel.open'"}, m)
		return
	}
	if ch.closed {
		switch m {
		case channelCloseOk:
			delete(c.channels, id)
		case channelClose:
			w.method(id, channelCloseOk, nil)
			delete(c.channels, id)
		}
		return
	}
	switch m {
	case channelClose:
		ch.end()
		delete(c.channels, id)
		w.method(id, channelCloseOk, nil)
	case channelFlow:
		active := a.Uint8()&1 != 0
		ch.paused = !active
		w.method(id, channelFlowOk, func() { w.bit(active) })
	case exchangeDeclare:
		c.declareExchange(ch, a)
	case queueDeclare:
		c.declareQueue(ch, a)
	case queueBind:
		c.bind(ch, a)
	case queueDelete:
		a.Uint16()
		q := s.queues[string(a.ShortStr())]
		flags, n := a.Uint8(), 0
		if q != nil {
			n = q.waiting()
			s.deleteQueue(q)
		}
		if flags&4 == 0 {
			w.method(id, queueDeleteOk, func() { w.u32(uint32(n)) })
		}
	case basicQos:
		a.Uint32()
		count, global := int(a.Uint16()), a.Uint8()&1 != 0
		if global {
			ch.limit = count
		} else {
			ch.prefetch = count
		}
		w.method(id, basicQosOk, nil)
	case basicConsume:
		c.consume(ch, a)
	case basicCancel:
		tag, noWait := string(a.ShortStr()), a.Uint8()&1 != 0
		if k := ch.consumers[tag]; k != nil {
			ch.cancel(k)
		}
		if !noWait {
			w.method(id, basicCancelOk, func() { w.short(tag) })
		}
	case basicCancelOk:
	case basicGet:
		c.get(ch, a)
	case basicPublish:
		a.Uint16()
		ch.incoming = &incoming{message: Message{Exchange: string(a.ShortStr()), RoutingKey: string(a.ShortStr())}}
		if e := ch.incoming.message.Exchange; e != "" && s.kinds[e] == "" {
			c.failChannel(ch, notFound("exchange", e, s.cfg.VHost), m)
		}
	case basicAck:
		tag, flags := a.Uint64(), a.Uint8()
		c.settle(ch, m, tag, flags&1 != 0, false)
	case basicReject:
		tag, flags := a.Uint64(), a.Uint8()
		c.settle(ch, m, tag, false, flags&1 != 0)
	case basicNack:
		tag, flags := a.Uint64(), a.Uint8()
		c.settle(ch, m, tag, flags&1 != 0, flags&2 != 0)
	case confirmSelect:
		ch.confirm = true
		if a.Uint8()&1 == 0 {
			w.method(id, confirmSelectOk, nil)
		}
	default:
		c.fail(Reply{540, "NOT_IMPLEMENTED"}, m)
	}
}

// settle handles basic.ack, basic.reject and basic.nack; tag 0 with multiple means everything
// delivered so far.
func (c *conn) settle(ch *channel, m method, tag uint64, multiple, requeue bool) {
	if multiple && tag == 0 {
		ch.settle(0, len(ch.unsettled), requeue)
		return
	}
	i, found := slices.BinarySearchFunc(
		ch.unsettled,
		tag,
		func(d delivered, tag uint64) int { return cmp.Compare(d.tag, tag) },
	)
	switch {
	case !found:
		c.failChannel(ch, Reply{406, fmt.Sprintf("PRECONDITION_FAILED - unknown delivery tag %d", tag)}, m)
	case multiple:
		ch.settle(0, i+1, requeue)
	default:
		ch.settle(i, i+1, requeue)
	}
}

func (c *conn) declareExchange(ch *channel, a *wire.Arguments) {
	a.Uint16()
	name, kind, flags := string(a.ShortStr()), string(a.ShortStr()), a.Uint8()
	passive, noWait := flags&1 != 0, flags&16 != 0
	if c.s.kinds[name] == "" {
		if passive {
			c.failChannel(ch, notFound("exchange", name, c.s.cfg.VHost), exchangeDeclare)
			return
		}
		c.s.kinds[name] = kind
	}
	if !noWait {
		c.out.method(ch.id, exchangeDeclareOk, nil)
	}
}

func (c *conn) declareQueue(ch *channel, a *wire.Arguments) {
	a.Uint16()
	name, flags := string(a.ShortStr()), a.Uint8()
	passive, exclusive, autoDelete, noWait := flags&1 != 0, flags&4 != 0, flags&8 != 0, flags&16 != 0
	s := c.s
	q := s.queues[name]
	switch {
	case q != nil && q.owner != nil && q.owner != c:
		c.failChannel(ch, locked(name, s.cfg.VHost), queueDeclare)
		return
	case q == nil && passive:
		c.failChannel(ch, notFound("queue", name, s.cfg.VHost), queueDeclare)
		return
	case q == nil:
		if name == "" {
			s.named++
			name = fmt.Sprintf("amq.gen-%d", s.named)
		}
		q = &queue{name: name, autoDelete: autoDelete}
		if exclusive {
			q.owner = c
		}
		s.queues[name] = q
	}
	if !noWait {
		c.out.method(ch.id, queueDeclareOk, func() {
			c.out.short(q.name)
			c.out.u32(uint32(q.waiting()))
			c.out.u32(uint32(len(q.consumers)))
		})
	}
}

func locked(name, vhost string) Reply {
	return Reply{
		405,
		fmt.Sprintf("RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '%s' in vhost '%s'", name, vhost),
	}
}

func (c *conn) bind(ch *channel, a *wire.Arguments) {
	a.Uint16()
	name, exchange, key, noWait := string(a.ShortStr()), string(a.ShortStr()), string(a.ShortStr()), a.Uint8()&1 != 0
	if c.s.queues[name] == nil {
		c.failChannel(ch, notFound("queue", name, c.s.cfg.VHost), queueBind)
		return
	}
	if c.s.kinds[exchange] == "" {
		c.failChannel(ch, notFound("exchange", exchange, c.s.cfg.VHost), queueBind)
		return
	}
	c.s.bindings = append(c.s.bindings, binding{exchange: exchange, key: key, queue: name})
	if !noWait {
		c.out.method(ch.id, queueBindOk, nil)
	}
}

func (c *conn) consume(ch *channel, a *wire.Arguments) {
	a.Uint16()
	name, tag, flags := string(a.ShortStr()), string(a.ShortStr()), a.Uint8()
	noAck, noWait := flags&2 != 0, flags&8 != 0
	_, offset := fieldtable.View(a.Table(), fieldtable.RabbitMQ()).Get("x-stream-offset")
	q := c.s.queues[name]
	switch f := c.s.faults; {
	case f.Consume.Code != 0:
		c.failChannel(ch, f.Consume, basicConsume)
		return
	case q == nil:
		c.failChannel(ch, notFound("queue", name, c.s.cfg.VHost), basicConsume)
		return
	case q.owner != nil && q.owner != c:
		c.failChannel(ch, locked(name, c.s.cfg.VHost), basicConsume)
		return
	case offset && !c.s.cfg.AnyArgument:
		c.failChannel(
			ch,
			Reply{
				406,
				fmt.Sprintf(
					"PRECONDITION_FAILED - invalid arg 'x-stream-offset' for queue '%s' in vhost '%s' of queue type rabbit_classic_queue",
					name,
					c.s.cfg.VHost,
				),
			},
			basicConsume,
		)
		return
	}
	if tag == "" {
		tag = fmt.Sprintf("amq.ctag-%d-%d", ch.id, len(ch.consumers)+1)
	}
	if ch.consumers[tag] != nil {
		c.fail(Reply{530, "NOT_ALLOWED - attempt to reuse consumer tag '" + tag + "'"}, basicConsume)
		return
	}
	k := &consumer{channel: ch, queue: q, tag: tag, prefetch: ch.prefetch, noAck: noAck}
	ch.consumers[tag] = k
	q.consumers = append(q.consumers, k)
	if c.s.faults.NoConsumeOk {
		k.prefetch, k.unsettled = 1, 1 // as if it were full
		return
	}
	if !noWait {
		c.out.method(ch.id, basicConsumeOk, func() { c.out.short(tag) })
	}
}

func (c *conn) get(ch *channel, a *wire.Arguments) {
	a.Uint16()
	name, noAck := string(a.ShortStr()), a.Uint8()&1 != 0
	q := c.s.queues[name]
	if q == nil {
		c.failChannel(ch, notFound("queue", name, c.s.cfg.VHost), basicGet)
		return
	}
	w := &c.out
	if q.waiting() == 0 {
		w.method(ch.id, basicGetEmpty, func() { w.short("") })
		return
	}
	e := q.pop()
	ch.lastTag++
	w.method(ch.id, basicGetOk, func() {
		w.u64(ch.lastTag)
		w.bit(e.redelivered)
		w.short(e.message.Exchange)
		w.short(e.message.RoutingKey)
		w.u32(uint32(q.waiting()))
	})
	w.content(ch.id, &e.message, c.frameMax)
	if noAck {
		q.unsettled--
		c.s.freed()
	} else {
		ch.unsettled = append(ch.unsettled, delivered{tag: ch.lastTag, entry: e, queue: q})
	}
}
