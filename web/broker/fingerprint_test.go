package broker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestFingerprintOfTheSameAndOfOthers(t *testing.T) {
	t.Run("of this process", func(t *testing.T) { testFingerprint(t, newFingerprint()) })
	t.Run("lasting", func(t *testing.T) { testFingerprint(t, newLastingFingerprint([32]byte{1, 2, 3})) })
}

func testFingerprint(t *testing.T, f *fingerprint) {
	t.Helper()
	print := func(exchange, key string, header []byte, body ...string) uint64 {
		f.begin(&wire.Delivery{Exchange: []byte(exchange), RoutingKey: []byte(key), Header: header}, time.Time{})
		for _, chunk := range body {
			f.body([]byte(chunk))
		}
		return f.sum()
	}
	with := func(table []byte, more ...wire.Property) []byte {
		return wire.AppendContentHeaderPayload(nil, 4, append(more, wire.Property{Name: "headers", Raw: table})...)
	}
	type encoder = encode.Encoder
	table := encode.Table(func(e *encoder) { e.Str("a", "1"); e.Int32("b", 2) })
	base := print("e", "k", with(table), "body")

	for name, got := range map[string]uint64{
		"body in other chunks": print("e", "k", with(table), "bo", "", "dy"),
		"fields sorted":        print("e", "k", with(encode.Table(func(e *encoder) { e.Int32("b", 2); e.Str("a", "1") })), "body"),
		"returned once":        print("e", "k", with(encode.Table(func(e *encoder) { e.Str("a", "1"); e.Int32("b", 2); e.Int64("x-delivery-count", 1) })), "body"),
		"acquired twice":       print("e", "k", with(encode.Table(func(e *encoder) { e.Int64("x-acquired-count", 2); e.Str("a", "1"); e.Int32("b", 2) })), "body"),
	} {
		if got != base {
			t.Errorf("%s: another message", name)
		}
	}
	for name, got := range map[string]uint64{
		"exchange":           print("E", "k", with(table), "body"),
		"routing key":        print("e", "K", with(table), "body"),
		"split of the names": print("ek", "", with(table), "body"),
		"body":               print("e", "k", with(table), "Body"),
		"a property":         print("e", "k", with(table, wire.Property{Name: "message_id", Raw: []byte("1")}), "body"),
		"a value":            print("e", "k", with(encode.Table(func(e *encoder) { e.Str("a", "1"); e.Int32("b", 3) })), "body"),
		"a tag":              print("e", "k", with(encode.Table(func(e *encoder) { e.Str("a", "1"); e.Uint32("b", 2) })), "body"),
		"a duplicate":        print("e", "k", with(encode.Table(func(e *encoder) { e.Str("a", "1"); e.Int32("b", 2); e.Int32("b", 2) })), "body"),
		"damage":             print("e", "k", with(encode.Table(func(e *encoder) { e.Str("a", "1"); e.Int32("b", 2); e.Value("c", 'Z', nil) })), "body"),
		"a nested count":     print("e", "k", with(encode.Table(func(e *encoder) { e.Nested("a", func(e *encoder) { e.Int64("x-delivery-count", 1) }) })), "body"),
	} {
		if got == base {
			t.Errorf("another %s: the same message", name)
		}
	}

	plain := print("e", "k", wire.AppendContentHeaderPayload(nil, 4, wire.Property{
		Name: "message_id",
		Raw:  []byte("1"),
	}), "body")
	id := wire.Property{Name: "message_id", Raw: []byte("1")}
	counted := print("e", "k", with(encode.Table(func(e *encoder) { e.Int64("x-delivery-count", 1) }), id), "body")
	if plain != counted {
		t.Error("a message without headers is another one once it was returned")
	}
}

// TestStampedHeadersAreLeftOut: what this broker stamps when it delivers is no part of the message;
// what a publisher wrote under the same name is. Peek leaves out every annotation.
func TestStampedHeadersAreLeftOut(t *testing.T) {
	arrived := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := arrived.UnixMilli()
	const hour = int64(time.Hour / time.Millisecond)
	rabbit := func(version string) source.Broker { return source.Broker{Product: source.RabbitMQ, Version: version} }
	const counted, timed = "x-delivery-count", "x-opt-rabbitmq-sent-time"
	for _, tc := range []struct {
		name        string
		broker      source.Broker
		queue       string
		header      string
		a, b        int64
		drain, peek bool // one message though the values differ
	}{
		{"a quorum queue's count", rabbit("4.0.5"), "quorum", counted, 1, 2, true, true},
		{"a quorum queue's other count", rabbit("4.3.0"), "quorum", "x-acquired-count", 1, 2, true, true},
		{"an unknown queue's count", rabbit("3.8.0"), "", counted, 1, 2, true, true},
		{"a classic queue's count is a publisher's", rabbit("4.0.5"), "classic", counted, 1, 2, false, false},
		{"another broker's count", source.Broker{Product: "LavinMQ"}, "classic", counted, 1, 2, true, true},
		{"the time of delivery", rabbit("4.2.0"), "classic", timed, now - 90, now + 4000, true, true},
		{"times that came with the message", rabbit("4.2.0"), "classic", timed, now - hour, now - hour + 1, false, true},
		{"one of them", rabbit("4.2.0"), "classic", timed, now, now - hour, false, true},
		{"before brokers stamped it", rabbit("4.1.9"), "quorum", timed, now, now + 1, false, true},
		{"another broker's time", source.Broker{Product: source.BrokerJ}, "", timed, now, now + 1, false, true},
		{"another annotation", rabbit("4.2.0"), "quorum", "x-opt-mine", 1, 2, false, true},
		{"another name", rabbit("4.2.0"), "quorum", "x-option", 1, 2, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			same := func(f *fingerprint) bool {
				f.stampedBy(tc.broker, tc.queue)
				sum := func(v int64) uint64 {
					table := encode.Table(func(e *encode.Encoder) { e.Str("a", "1"); e.Int64(tc.header, v) })
					f.begin(&wire.Delivery{Exchange: []byte("e"), Header: content(table, nil)}, arrived)
					return f.sum()
				}
				return sum(tc.a) == sum(tc.b)
			}
			drain, peek := newFingerprint(), newFingerprint()
			peek.annotations = true
			if got := same(drain); got != tc.drain {
				t.Errorf("drain takes them for one: %t", got)
			}
			if got := same(peek); got != tc.peek {
				t.Errorf("peek takes them for one: %t", got)
			}
		})
	}
}

func TestLastingFingerprintDependsOnItsKeyAlone(t *testing.T) {
	sum := func(key byte) uint64 {
		f := newLastingFingerprint([32]byte{key})
		f.begin(&wire.Delivery{
			Exchange: []byte("e"),
			Header:   content(encode.Table(func(e *encode.Encoder) { e.Str("a", "1") }), nil),
		}, time.Time{})
		return f.sum()
	}
	one, again, other := sum(1), sum(1), sum(2)
	if one != again || one == other {
		t.Errorf("%x %x %x", one, again, other)
	}
}

// TestDrainOfStampedMessages: one that comes again with another time of delivery is stored once;
// one that differs in a time that came with it is another.
func TestDrainOfStampedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{product: "RabbitMQ", version: "4.2.0", waiting: 3}
		began := time.Now()
		var first *scriptConn
		s.consume = func(c *scriptConn, tag string, prefetch uint16, _ []byte) {
			again := s.dialled.Load() > 1
			deliver := func(at time.Time) {
				table := encode.Table(func(e *encode.Encoder) { e.Int64("x-opt-rabbitmq-sent-time", at.UnixMilli()) })
				c.deliver(tag, again, table)
			}
			if first == nil {
				first = c
			}
			if c.next > 1 {
				return // a wider subscription: nothing more comes
			}
			deliver(time.Now())
			deliver(began.Add(-time.Hour))
			if again {
				deliver(began.Add(-2 * time.Hour))
			}
		}
		s.settled = func(_ uint16, tag uint64) {
			if s.dialled.Load() == 1 && tag == 2 {
				first.hangUp()
			}
		}
		c, stop := s.start(t, Config{Mode: source.Drain})
		defer stop()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		// First one of now and one of an hour before; then both again, and one of two hours.
		if st := c.Status(); s.dialled.Load() != 2 || st.Stored != 3 || st.Known != 2 {
			t.Errorf("%d connections, %d stored, %d known", s.dialled.Load(), st.Stored, st.Known)
		}
	})
}
