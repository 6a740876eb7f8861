package broker

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestFingerprintOfTheSameAndOfOthers(t *testing.T) {
	t.Run("of this process", func(t *testing.T) { testFingerprint(t, newFingerprint()) })
	t.Run("lasting", func(t *testing.T) { testFingerprint(t, newLastingFingerprint([32]byte{1, 2, 3})) })
}

func testFingerprint(t *testing.T, f *fingerprint) {
	t.Helper()
	print := func(exchange, key string, header []byte, body ...string) uint64 {
		f.begin(&wire.Delivery{Exchange: []byte(exchange), RoutingKey: []byte(key), Header: header})
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

// TestStampedHeadersAreLeftOut: what RabbitMQ stamps, always; any other annotation, for peek alone.
func TestStampedHeadersAreLeftOut(t *testing.T) {
	sum := func(f *fingerprint, name string, v int64) uint64 {
		table := encode.Table(func(e *encode.Encoder) { e.Str("a", "1"); e.Int64(name, v) })
		f.begin(&wire.Delivery{Exchange: []byte("e"), Header: content(table, nil)})
		return f.sum()
	}
	drain, peek := newFingerprint(), newFingerprint()
	peek.annotations = true
	for _, tc := range []struct {
		header      string
		drain, peek bool // one message though the values differ
	}{
		{"x-delivery-count", true, true},
		{"x-acquired-count", true, true},
		{"x-opt-rabbitmq-sent-time", true, true},
		{"x-opt-mine", false, true},
		{"x-option", false, false},
	} {
		t.Run(tc.header, func(t *testing.T) {
			if same := sum(drain, tc.header, 1) == sum(drain, tc.header, 2); same != tc.drain {
				t.Errorf("drain takes them for one: %t", same)
			}
			if same := sum(peek, tc.header, 1) == sum(peek, tc.header, 2); same != tc.peek {
				t.Errorf("peek takes them for one: %t", same)
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
		})
		return f.sum()
	}
	one, again, other := sum(1), sum(1), sum(2)
	if one != again || one == other {
		t.Errorf("%x %x %x", one, again, other)
	}
}
