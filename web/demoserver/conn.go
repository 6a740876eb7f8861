package demoserver

import (
	"bufio"
	"bytes"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

const (
	handshakeTimeout = 10 * time.Second
	closeTimeout     = 2 * time.Second // for close-ok after a close from here
	maxBody          = 128 << 20       // bytes a client may publish in one message
)

// conn is one client. read and write are its two goroutines; everything below s is guarded by
// Server.mu.
type conn struct {
	nc   net.Conn
	s    *Server
	wake chan struct{} // has a token when there may be something to write
	done chan struct{} // closed when the reader has ended
	cut  chan struct{} // closed when the writer has ended

	out       writer // what goes out before any further delivery
	channels  map[uint16]*channel
	frameMax  uint32
	heartbeat time.Duration
	closing   bool // connection.close was sent or answered: nothing but out goes out
	hangup    bool // the writer closes the connection once out is empty
}

type channel struct {
	conn      *conn
	id        uint16
	closed    bool // by channel.close from here, until close-ok
	lastTag   uint64
	prefetch  int // of consumers to come; 0: no limit
	limit     int // of all consumers together: basic.qos with global; 0: no limit
	paused    bool
	consumers map[string]*consumer
	unsettled []delivered // in the order of their tags
	confirm   bool
	published uint64
	incoming  *incoming
}

type consumer struct {
	channel   *channel
	queue     *queue
	tag       string
	prefetch  int
	unsettled int
	noAck     bool
}

// delivered waits for its settlement. consumer is nil for basic.get.
type delivered struct {
	tag      uint64
	entry    entry
	queue    *queue
	consumer *consumer
}

// incoming is a message that a client is publishing.
type incoming struct {
	message Message
	left    uint64
	header  bool
}

func newConn(s *Server, nc net.Conn) *conn {
	return &conn{
		nc:       nc,
		s:        s,
		wake:     make(chan struct{}, 1),
		done:     make(chan struct{}),
		cut:      make(chan struct{}),
		channels: map[uint16]*channel{},
		frameMax: 4096,
	}
}

// poke tells the writer that there may be something to do.
func (c *conn) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (q *queue) poke() {
	for _, k := range q.consumers {
		k.channel.conn.poke()
	}
}

// gone gives back what the client held and forgets it.
func (c *conn) gone() {
	_ = c.nc.Close()
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	for _, ch := range c.channels {
		ch.end()
	}
	for _, q := range s.queues {
		if q.owner == c {
			s.deleteQueue(q)
		}
	}
	close(c.done)
}

// end gives back what a channel held. The caller holds Server.mu.
func (ch *channel) end() {
	for _, k := range ch.consumers {
		ch.cancel(k)
	}
	ch.settle(0, len(ch.unsettled), true)
	ch.closed = true
}

func (ch *channel) cancel(k *consumer) {
	delete(ch.consumers, k.tag)
	k.queue.consumers = slices.DeleteFunc(k.queue.consumers, func(x *consumer) bool { return x == k })
	if k.queue.autoDelete && len(k.queue.consumers) == 0 && !k.queue.deleted {
		ch.conn.s.deleteQueue(k.queue)
	}
}

// settle ends the deliveries [from, to) of ch.unsettled: removed, or put back where they were.
func (ch *channel) settle(from, to int, requeue bool) {
	if from >= to {
		return
	}
	back := map[*queue][]entry{}
	for _, d := range ch.unsettled[from:to] {
		if d.consumer != nil {
			d.consumer.unsettled--
		}
		if requeue {
			back[d.queue] = append(back[d.queue], d.entry)
		} else {
			d.queue.unsettled--
		}
	}
	if from == 0 {
		clear(ch.unsettled[:to])
		ch.unsettled = ch.unsettled[to:]
	} else {
		ch.unsettled = slices.Delete(ch.unsettled, from, to)
	}
	for q, entries := range back {
		q.requeue(entries)
		q.poke()
	}
	ch.conn.s.freed()
	ch.conn.poke()
}

// fail sends connection.close. The caller holds Server.mu.
func (c *conn) fail(r Reply, m method) {
	if c.closing {
		return
	}
	c.out.method(0, connectionClose, func() {
		c.out.u16(r.Code)
		c.out.short(r.Text)
		c.out.u32(uint32(m))
	})
	c.closing = true
	c.poke()
	_ = c.nc.SetReadDeadline(time.Now().Add(closeTimeout))
}

func (c *conn) failChannel(ch *channel, r Reply, m method) {
	ch.end()
	c.out.method(ch.id, channelClose, func() {
		c.out.u16(r.Code)
		c.out.short(r.Text)
		c.out.u32(uint32(m))
	})
	c.poke()
}

// read handles what the client sends until the connection ends.
func (c *conn) read() {
	_ = c.nc.SetReadDeadline(time.Now().Add(handshakeTimeout))
	r := bufio.NewReaderSize(c.nc, 32<<10)
	var header [8]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return
	}
	if !bytes.Equal(header[:], []byte("AMQP\x00\x00\x09\x01")) {
		_, _ = c.nc.Write([]byte("AMQP\x00\x00\x09\x01"))
		return
	}
	c.s.mu.Lock()
	c.start()
	c.s.mu.Unlock()
	var buf []byte
	for {
		kind, channel, payload, grown, err := readFrame(r, buf, maxClientFrame)
		buf = grown
		if err != nil {
			return
		}
		c.s.mu.Lock()
		if d := c.heartbeat; d > 0 && !c.closing {
			_ = c.nc.SetReadDeadline(time.Now().Add(2 * d))
		}
		publish, ok := c.handle(kind, channel, payload)
		c.s.mu.Unlock()
		if publish != nil {
			publish()
		}
		if !ok {
			return
		}
	}
}

func (c *conn) start() {
	w := &c.out
	w.method(0, connectionStart, func() {
		w.u8(0)
		w.u8(9)
		w.table(func() {
			w.textField("product", c.s.cfg.Product)
			w.textField("version", c.s.cfg.Version)
			w.short("capabilities")
			w.u8('F')
			w.table(func() {
				w.boolField("publisher_confirms", true)
				w.boolField("basic.nack", true)
				w.boolField("consumer_cancel_notify", true)
				w.boolField("connection.blocked", true)
				w.boolField("authentication_failure_close", true)
			})
		})
		w.long("PLAIN EXTERNAL")
		w.long("en_US")
	})
	c.poke()
}

// handle works on one frame with Server.mu held. It returns what is left to do without the lock,
// and false at the end.
func (c *conn) handle(kind byte, id uint16, payload []byte) (after func(), ok bool) {
	if kind == wire.FrameHeartbeat {
		return nil, true
	}
	if kind == wire.FrameHeader || kind == wire.FrameBody {
		return c.content(kind, id, payload)
	}
	if kind != wire.FrameMethod || len(payload) < 4 {
		c.fail(Reply{501, "FRAME_ERROR - unknown frame"}, 0)
		return nil, true
	}
	read := wire.ReadArguments(payload)
	a := &read
	m := method(a.Uint32())
	if m == connectionClose {
		c.out.method(0, connectionCloseOk, nil)
		c.closing, c.hangup = true, true
		c.poke()
		return nil, true
	}
	if m == connectionCloseOk {
		return nil, false
	}
	if c.closing {
		return nil, true
	}
	if m>>16 == 10 {
		c.onConnection(m, a)
	} else {
		c.onChannel(m, id, a)
	}
	if !a.Ok() {
		c.fail(Reply{502, "SYNTAX_ERROR - the arguments end early"}, m)
	}
	return nil, true
}

func (c *conn) onConnection(m method, a *wire.Arguments) {
	w := &c.out
	switch m {
	case connectionStartOk:
		a.LongStr()
		mechanism, response := string(a.ShortStr()), string(a.LongStr())
		if !c.login(mechanism, response) {
			c.fail(
				Reply{403, "ACCESS_REFUSED - Login was refused using authentication mechanism " + mechanism + "."},
				m,
			)
			return
		}
		w.method(0, connectionTune, func() {
			w.u16(2047)
			w.u32(c.s.cfg.FrameMax)
			w.u16(uint16(c.s.cfg.Heartbeat / time.Second))
		})
	case connectionTuneOk:
		a.Uint16()
		c.frameMax = c.s.cfg.FrameMax
		if n := a.Uint32(); n != 0 {
			c.frameMax = min(c.frameMax, max(n, 4096))
		}
		c.heartbeat = time.Duration(a.Uint16()) * time.Second
		if c.heartbeat == 0 {
			_ = c.nc.SetReadDeadline(time.Time{})
		}
	case connectionOpen:
		if v := string(a.ShortStr()); v != c.s.cfg.VHost {
			c.fail(Reply{530, fmt.Sprintf("NOT_ALLOWED - vhost %s not found", v)}, m)
			return
		}
		w.method(0, connectionOpenOk, func() { w.short("") })
	default:
		c.fail(Reply{540, "NOT_IMPLEMENTED"}, m)
	}
	c.poke()
}

func (c *conn) login(mechanism, response string) bool {
	if c.s.faults.RefuseLogin {
		return false
	}
	if c.s.cfg.Username == "" {
		return true
	}
	if mechanism != "PLAIN" {
		return false
	}
	want := "\x00" + c.s.cfg.Username + "\x00" + c.s.cfg.Password
	return subtle.ConstantTimeCompare([]byte(response), []byte(want)) == 1
}

// content collects a published message.
func (c *conn) content(kind byte, id uint16, payload []byte) (after func(), ok bool) {
	ch := c.channels[id]
	if ch == nil || ch.closed || ch.incoming == nil {
		return nil, true // of a channel that was just closed
	}
	in := ch.incoming
	switch {
	case kind == wire.FrameHeader && !in.header && len(payload) >= wire.ContentHeaderFixed:
		a := wire.ReadArguments(payload[4:])
		in.left, in.header = a.Uint64(), true
		in.message.Header = bytes.Clone(payload)
		if in.left > maxBody {
			c.failChannel(ch, Reply{311, "CONTENT_TOO_LARGE"}, basicPublish)
			return nil, true
		}
	case kind == wire.FrameBody && in.header && uint64(len(payload)) <= in.left:
		in.message.Body = append(in.message.Body, payload...)
		in.left -= uint64(len(payload))
	default:
		c.fail(Reply{505, "UNEXPECTED_FRAME"}, basicPublish)
		return nil, true
	}
	if in.left > 0 {
		return nil, true
	}
	ch.incoming = nil
	names := c.s.route(in.message.Exchange, in.message.RoutingKey)
	return func() {
		for _, name := range names {
			// Waits while the queue is full: the client feels it as TCP backpressure.
			_ = c.s.publish(c.cut, func() error { return net.ErrClosed }, name, in.message)
		}
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		if ch.confirm && !ch.closed {
			ch.published++
			c.out.method(id, basicAck, func() {
				c.out.u64(ch.published)
				c.out.bit(false)
			})
			c.poke()
		}
	}, true
}

// write sends replies and deliveries. Deliveries are taken from their queues only when the last
// ones have left, so a slow client holds at most one batch beyond its prefetch.
func (c *conn) write() {
	defer close(c.cut)
	defer c.nc.Close()
	const batch = 64 << 10 // bytes
	var (
		w     writer
		sent  int64
		last  = time.Now()
		timer = time.NewTimer(time.Hour)
	)
	defer timer.Stop()
	for {
		c.s.mu.Lock()
		f, hangup, heartbeat := c.s.faults, c.hangup, c.heartbeat
		w.b = w.b[:0]
		if !f.Stall {
			w.b, c.out.b = append(w.b, c.out.b...), c.out.b[:0]
			if !c.closing {
				c.deliver(&w, batch)
			}
			if len(w.b) == 0 && heartbeat > 0 && time.Since(last) >= heartbeat/2 {
				w.b = wire.AppendHeartbeat(w.b)
			}
		}
		c.s.mu.Unlock()
		if len(w.b) == 0 {
			if hangup && !f.Stall {
				return
			}
			if heartbeat > 0 {
				timer.Reset(heartbeat / 2)
			}
			select {
			case <-c.wake:
			case <-timer.C:
			case <-c.done:
				return
			}
			continue
		}
		for b := w.b; len(b) > 0; {
			n := len(b)
			if f.WriteChunk > 0 {
				n = min(n, f.WriteChunk)
			}
			if f.DropAfter > 0 && sent+int64(n) >= f.DropAfter {
				n = int(max(f.DropAfter-sent, 0))
				_, _ = c.nc.Write(b[:n])
				if tcp, ok := c.nc.(*net.TCPConn); ok {
					_ = tcp.SetLinger(0)
				}
				return
			}
			if _, err := c.nc.Write(b[:n]); err != nil {
				return
			}
			sent += int64(n)
			b = b[n:]
		}
		last = time.Now()
		if cap(w.b) > 4*batch {
			w.b = nil // a single large message
		}
	}
}

// deliver appends deliveries to w until it is as large as batch or there is nothing that may be
// sent.
func (c *conn) deliver(w *writer, batch int) {
	for again := true; again && len(w.b) < batch; {
		again = false
		for _, ch := range c.channels {
			if ch.closed || ch.paused {
				continue
			}
			for _, k := range ch.consumers {
				if k.queue.waiting() == 0 || k.prefetch > 0 && k.unsettled >= k.prefetch ||
					ch.limit > 0 && len(ch.unsettled) >= ch.limit {
					continue
				}
				e := k.queue.pop()
				ch.lastTag++
				w.delivery(ch.id, []byte(k.tag), ch.lastTag, e.redelivered, &e.message, c.frameMax)
				if k.noAck {
					k.queue.unsettled--
					c.s.freed()
				} else {
					k.unsettled++
					ch.unsettled = append(ch.unsettled, delivered{
						tag:      ch.lastTag,
						entry:    e,
						queue:    k.queue,
						consumer: k,
					})
				}
				again = true
			}
		}
	}
}

// notFound is worded as RabbitMQ does.
func notFound(what, name, vhost string) Reply {
	return Reply{404, fmt.Sprintf("NOT_FOUND - no %s '%s' in vhost '%s'", what, strings.ToValidUTF8(name, "?"), vhost)}
}
