package relay

import (
	"bytes"
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// peer is the client of a connection. Its fields are guarded by Relay.mu once the first message of
// the connection is in the ledger; only the reader writes them.
type peer struct{ source.Connection }

// conversation is a connection as it is read. What is not atomic belongs to the reader.
type conversation struct {
	relay          *Relay
	client, server half
	peer           *peer
	// unread: nothing more of it is queued.
	unread atomic.Bool
	// opened: the login is over, so nothing that follows is secret.
	opened   atomic.Bool
	begun    bool
	head     []byte // the client's first octets, until they say what it speaks
	channels map[uint16]*channel
}

// channel is what is known of a channel.
type channel struct {
	confirms  bool
	published uint64 // basic.publish since confirm.select
	unsure    bool   // some of the connection was not read, so that the number of publishes is not known
	waiting   window // publishes without a confirm
	unacked   window // deliveries without an acknowledgement
	// mandatory are publishes that may come back, the oldest first; tag is 0 without confirms.
	mandatory []awaited
	asked     []*consumer          // basic.consume without an answer
	consumers map[string]*consumer // by tag
	gets      []*consumer          // basic.get without an answer
}

// Bounds of a channel's lists. What does not fit is not known.
const (
	maxMandatory = 1 << 10
	maxConsumers = 1 << 12
)

// consumer is where deliveries come from.
type consumer struct {
	queue, tag string
	noAck      bool
}

// meet begins a conversation.
func (r *Relay) meet(address string) *conversation {
	c := &conversation{
		relay:    r,
		peer:     &peer{source.Connection{ID: r.accepted.Add(1), Peer: address}},
		channels: map[uint16]*channel{},
	}
	c.client.conversation, c.client.fromClient = c, true
	c.server.conversation = c
	c.client.stream, c.server.stream = r.reader.Stream(&c.client), r.reader.Stream(&c.server)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.about.Open++
	return c
}

// read takes chunks until the queue is closed.
func (r *Relay) read() {
	for c := range r.queue.chunks {
		r.take(c)
		r.queue.done(c)
	}
}

// take reads a chunk. A fault in reading ends the reading of that connection, and nothing else.
func (r *Relay) take(c chunk) {
	talk := c.half.conversation
	defer func() {
		if fault := recover(); fault != nil {
			r.log.Error("a connection cannot be read on", "connection", talk.peer.ID, "fault", fmt.Sprint(fault))
			talk.abandon()
		}
	}()
	switch {
	case c.buf == nil:
		talk.end()
	case talk.unread.Load():
	default:
		if c.lost > 0 {
			talk.gap(c.half)
		}
		talk.data(c.half, c.buf.b[:c.n], c.at)
	}
}

const protocolHeader = 8

// data takes octets of one direction.
func (c *conversation) data(h *half, b []byte, at time.Time) {
	if !c.begun {
		if !h.fromClient {
			c.foreign("something where the server speaks first")
			return
		}
		whole := append(c.head, b...)
		if undecided(whole) {
			c.head = whole
			return
		}
		if what := spoken(whole); what != "" {
			c.foreign(what)
			return
		}
		c.begun, c.head, b = true, nil, whole
	}
	h.stream.Data(b, at)
}

// undecided reports whether b is too short to say what a client speaks.
func undecided(b []byte) bool {
	if len(b) < protocolHeader && bytes.HasPrefix([]byte("AMQP"), b[:min(len(b), 4)]) {
		return true
	}
	return string(b) == tlsHandshake[:1]
}

// tlsHandshake begins a record of TLS (RFC 8446, section 5.1).
const tlsHandshake = "\x16\x03"

// spoken is what a client speaks that begins so; empty: AMQP 0-9-1.
func spoken(b []byte) string {
	if len(b) < protocolHeader || !bytes.HasPrefix(b, []byte("AMQP")) {
		if bytes.HasPrefix(b, []byte(tlsHandshake)) {
			return "TLS, on a listener that has no certificate"
		}
		return "no AMQP"
	}
	switch version := [4]byte(b[4:]); {
	case version == [4]byte{0, 0, 9, 1}:
		return ""
	case version == [4]byte{1, 1, 8, 0}:
		return "AMQP 0-8"
	case version == [4]byte{1, 1, 0, 9}:
		return "AMQP 0-9"
	case version == [4]byte{1, 1, 0, 10}:
		return "AMQP 0-10"
	case version[1] == 1 && version[2] == 0:
		return "AMQP 1.0"
	default:
		return fmt.Sprintf("AMQP % x", version)
	}
}

// foreign leaves a connection unread that speaks something else.
func (c *conversation) foreign(what string) {
	c.unread.Store(true)
	c.head = nil
	r := c.relay
	r.log.Info("a connection passes unread", "peer", c.peer.Peer, "speaks", what)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.about.Foreign++
	r.about.ForeignAs = what
}

// abandon leaves the rest of a connection unread.
func (c *conversation) abandon() {
	c.unread.Store(true)
	c.channels = map[uint16]*channel{}
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	r.about.Broken++
}

// gap takes note of octets that were not queued. How the publishes are numbered that follow is not
// known any more, and outcomes may have been among those octets.
func (c *conversation) gap(h *half) {
	h.stream.Gap()
	for _, ch := range c.channels {
		c.settleAll(ch, missed, nil)
		ch.asked, ch.gets = nil, nil
		ch.unsure = true
	}
}

// end takes note that both directions have ended.
func (c *conversation) end() {
	if !c.unread.Load() {
		c.client.stream.End()
		c.server.stream.End()
		for _, ch := range c.channels {
			c.settleAll(ch, closed, nil)
		}
	}
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	r.about.Open--
}

// channel returns a channel, which the peers have opened.
func (c *conversation) channel(id uint16) *channel {
	ch := c.channels[id]
	if ch == nil {
		ch = &channel{consumers: map[string]*consumer{}}
		c.channels[id] = ch
	}
	return ch
}

// startOk takes what the client says of itself. Of the SASL response only the user's name is looked
// at.
func (c *conversation) startOk(a *wire.Arguments) {
	properties := fieldtable.View(a.Table(), fieldtable.RabbitMQ())
	mechanism := string(a.ShortStr())
	user := userOf(mechanism, a.LongStr())
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	p := c.peer
	p.Product = text(properties, "product")
	p.Version = cmp.Or(text(properties, "version"), text(properties, "product_version")) // py-amqp's name
	p.Name = text(properties, "connection_name")
	p.Mechanism, p.User = mechanism, user
}

// userOf is the user's name in a SASL response (RFC 4616 for PLAIN; AMQPLAIN is a field table
// without its length octets); empty: it is not there.
func userOf(mechanism string, response []byte) string {
	switch mechanism {
	case "PLAIN":
		if parts := bytes.SplitN(response, []byte{0}, 3); len(parts) == 3 {
			return clip(parts[1])
		}
	case "AMQPLAIN":
		table := append([]byte{byte(len(response) >> 24), byte(len(response) >> 16), byte(len(response) >> 8),
			byte(len(response))}, response...)
		defer clear(table)
		return text(fieldtable.View(table, fieldtable.RabbitMQ()), "LOGIN")
	}
	return ""
}

// maxText is how much is kept of what a peer says of itself, in octets.
const maxText = 255

func clip(b []byte) string { return string(b[:min(len(b), maxText)]) }

// text is a text of a table; empty: it has none of that name.
func text(t fieldtable.Table, name string) string {
	v, err := t.Lookup(name)
	if err != nil {
		return ""
	}
	if b, ok := v.Text(); ok {
		return clip(b)
	}
	return ""
}

// start takes what the broker says of itself.
func (c *conversation) start(a *wire.Arguments) {
	a.Take(2) // version
	properties := fieldtable.View(a.Table(), fieldtable.RabbitMQ())
	r := c.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Product, r.status.Version = text(properties, "product"), text(properties, "version")
}
