package broker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/demoserver"
)

// poison is a header table that kills clients, or the library that this package uses.
type poison struct {
	name  string
	table []byte
}

func nested(levels int) []byte {
	var e encode.Encoder
	for range levels {
		e.Sized("n", 'F', 0, nil)
	}
	// From the inside out, each level's length is what comes after it.
	b := append(make([]byte, 4), e.B...)
	const level = 7 // name length, name, tag, 4 length octets
	for i := range levels {
		at := 4 + i*level + 3
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func poisons() []poison {
	return []poison{
		{"unknown tag", encode.Table(func(e *encode.Encoder) {
			e.Str("a", "before")
			e.Value("b", 'Z', []byte("????"))
			e.Str("c", "after")
		})},
		{"tag L", encode.Table(func(e *encode.Encoder) { e.Int64L("n", 1<<40) })},
		{"18,000 nested tables", nested(18_000)},
		{"120,000 array elements", encode.Table(func(e *encode.Encoder) {
			e.Array("a", func(e *encode.Encoder) { e.Raw(bytes.Repeat([]byte{'V'}, 120_000)...) })
		})},
		{"length overrun", encode.Claiming(0xFFFFFFFF, func(e *encode.Encoder) { e.Str("a", "b") })},
		{"larger than frame_max", encode.Table(func(e *encode.Encoder) { e.Bytes("x", make([]byte, 300_000)) })},
		{"duplicate keys", encode.Table(func(e *encode.Encoder) {
			e.Int32("k", 1)
			e.Str("k", "2")
		})},
	}
}

func content(table, body []byte) []byte {
	if table == nil {
		return wire.AppendContentHeaderPayload(nil, uint64(len(body)))
	}
	return wire.AppendContentHeaderPayload(nil, uint64(len(body)), wire.Property{Name: "headers", Raw: table})
}

// survives checks that every table is in the archive as it was sent, each between two good
// neighbours, on one connection.
func survives(t *testing.T, r *running, sent []poison) {
	t.Helper()
	r.untilStored(t, uint64(2*len(sent)))
	i := 0
	for m := range r.archive.Snapshot().Forward(0) {
		table, ok := m.HeaderTable()
		p := sent[i/2]
		if i%2 == 0 {
			if got := string(m.Body()); got != "neighbour" {
				t.Errorf("message %d is %q", i, got)
			}
		} else if !ok || !bytes.Equal(table, p.table) {
			t.Errorf("%s: %d octets kept of %d", p.name, len(table), len(p.table))
		}
		i++
	}
	if st := r.untilState(t, source.Consuming); st.Reconnects != 0 || st.Attempts != 0 {
		t.Errorf("%+v", st)
	}
}

func TestPoisonNeverBreaksTheConnection(t *testing.T) {
	for _, chunk := range []int{0, 1000} {
		s := listen(t, demoserver.Config{})
		s.SetFaults(demoserver.Faults{WriteChunk: chunk})
		s.Declare("q")
		for _, p := range poisons() {
			for _, m := range []demoserver.Message{
				{Body: []byte("neighbour")},
				{Header: content(p.table, []byte("poison")), Body: []byte("poison")},
			} {
				if err := s.Publish(t.Context(), "q", m); err != nil {
					t.Fatal(err)
				}
			}
		}
		r := run(t, Config{URL: s.URL(), Queue: "q"})
		survives(t, r, poisons())
		if err := r.stop(t); err != nil {
			t.Fatal(err)
		}
		queueIs(t, s, "q", demoserver.QueueInfo{Ready: 2 * len(poisons())})
	}
}

// rawClient publishes octets that the library would not write.
type rawClient struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func rawDial(t *testing.T, addr, vhost string) *rawClient {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	raw := &rawClient{t: t, c: c, r: bufio.NewReader(c)}
	raw.write([]byte("AMQP\x00\x00\x09\x01"))
	raw.expect(10, 10)
	raw.write(
		wire.AppendMethod(
			nil,
			0,
			10,
			11,
			[]byte("\x00\x00\x00\x00\x05PLAIN\x00\x00\x00\x0c\x00guest\x00guest\x05en_US"),
		),
	)
	tune := raw.expect(10, 30)
	raw.write(wire.AppendMethod(nil, 0, 10, 31, append(slices.Clone(tune[:6]), 0, 0)))
	raw.write(wire.AppendMethod(nil, 0, 10, 40, append(append([]byte{byte(len(vhost))}, vhost...), 0, 0)))
	raw.expect(10, 41)
	raw.write(wire.AppendMethod(nil, 1, 20, 10, []byte{0}))
	raw.expect(20, 11)
	raw.write(wire.AppendMethod(nil, 1, 85, 10, []byte{0})) // confirm.select
	raw.expect(85, 11)
	return raw
}

func (c *rawClient) write(b []byte) {
	c.t.Helper()
	if _, err := c.c.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

func (c *rawClient) expect(class, method uint16) (args []byte) {
	c.t.Helper()
	var head [7]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		c.t.Fatal(err)
	}
	payload := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	if _, err := io.ReadFull(c.r, payload); err != nil {
		c.t.Fatal(err)
	}
	f := wire.Frame{Type: head[0], Payload: payload[:len(payload)-1]}
	gotClass, gotMethod, args, ok := f.Method()
	if !ok || gotClass != class || gotMethod != method {
		c.t.Fatalf("got %d.%d %q, want %d.%d", gotClass, gotMethod, args, class, method)
	}
	return args
}

// publish sends a message through the default exchange and waits for the confirm.
func (c *rawClient) publish(queue string, header, body []byte) {
	c.t.Helper()
	b := wire.AppendMethod(nil, 1, 60, 40, append(append([]byte{0, 0, 0, byte(len(queue))}, queue...), 0))
	b = wire.AppendContentHeader(b, 1, header)
	c.write(wire.AppendBody(b, 1, body, 131072))
	c.expect(60, 80)
}

// TestNodePoison: what RabbitMQ lets through, and what it makes itself.
func TestNodePoison(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	raw := rawDial(t, c.node.Addr(), c.vhost)
	var sent []poison
	for _, p := range poisons() {
		switch p.name {
		case "unknown tag", "length overrun", "larger than frame_max":
			continue // RabbitMQ closes the publisher's connection
		}
		raw.publish("q", content(nil, []byte("neighbour")), []byte("neighbour"))
		raw.publish("q", content(p.table, []byte("poison")), []byte("poison"))
		if !c.broker().Keeps("classic") {
			switch p.name { // what the broker makes of it
			case "tag L":
				p.table = encode.Table(func(e *encode.Encoder) { e.Int64("n", 1<<40) })
			case "duplicate keys":
				p.table = encode.Table(func(e *encode.Encoder) { e.Int32("k", 1) })
			}
		}
		sent = append(sent, p)
	}
	for _, mode := range []source.Mode{source.Peek, source.Drain} {
		r := run(t, Config{URL: c.url(), Queue: "q", Mode: mode, AcceptLoss: true})
		survives(t, r, sent)
		if err := r.stop(t); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNodeHeaderGrownPastFrameMax: dead-lettering adds x-death to a content header that was as
// large as a frame may be.
func TestNodeHeaderGrownPastFrameMax(t *testing.T) {
	c := dial(t)
	c.declare(t, "dead", nil)
	c.declare(t, "q", amqp.Table{
		"x-message-ttl":             int32(1),
		"x-dead-letter-exchange":    "",
		"x-dead-letter-routing-key": "dead",
	})
	raw := rawDial(t, c.node.Addr(), c.vhost)
	table := encode.Table(func(e *encode.Encoder) { e.Bytes("x", make([]byte, 131_064-14-4-7)) })
	raw.publish("q", content(table, nil), nil)
	c.ready(t, "dead", 1)
	c.publish(t, "", "dead", 0, 1)
	r := run(t, Config{URL: c.url(), Queue: "dead"})
	r.untilStored(t, 2)
	m, err := r.archive.Snapshot().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	grown, _ := m.HeaderTable()
	if len(grown) <= len(table) || len(m.Header().Payload()) <= 131_064 {
		t.Errorf("%d octets", len(m.Header().Payload()))
	}
	if _, ok := fieldtable.View(grown, fieldtable.RabbitMQ()).Get("x-death"); !ok {
		t.Error("no x-death")
	}
	if st := r.untilState(t, source.Consuming); st.Reconnects != 0 {
		t.Errorf("%+v", st)
	}
}
