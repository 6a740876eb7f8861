package capture

import (
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestContentMethods(t *testing.T) {
	want := []sent{
		{
			method:   wire.MethodBasicDeliver,
			channel:  1,
			exchange: "e",
			key:      "delivered",
			tag:      1 << 60,
			again:    true,
			body:     []byte("1"),
		},
		{
			method:   wire.MethodBasicGetOk,
			channel:  1,
			exchange: "e",
			key:      "fetched",
			tag:      2,
			again:    true,
			body:     []byte("2"),
		},
		{method: wire.MethodBasicPublish, channel: 1, exchange: "e", key: "published", body: []byte("3")},
		{method: wire.MethodBasicReturn, channel: 1, exchange: "", key: "returned", body: nil},
		{method: wire.MethodBasicPublish, channel: 1, exchange: strings.Repeat("e", 255), key: "", body: []byte("5")},
	}
	for i := range want {
		want[i].table = encode.Table(func(e *encode.Encoder) { e.Str("k", want[i].key) })
	}
	got, report := readWhole(t, pcap(t, layers.LinkTypeRaw, connected(1, octetsOf(want...), 33)...))
	allSame(t, got, want...)
	if report.Delivered != 1 || report.Fetched != 1 || report.Published != 2 || report.Returned != 1 {
		t.Errorf("%+v", report)
	}
	for i, want := range []wire.Method{wire.Deliver, wire.GetOk, wire.Publish, wire.Return, wire.Publish} {
		if got[i].Method() != want {
			t.Errorf("message %d came with %s, want %s", i, got[i].Method(), want)
		}
	}
	if tag := string(got[0].ConsumerTag()); tag != "ctag" {
		t.Errorf("the consumer tag is %q", tag)
	}
	if line, want := report.String(), "5 messages (1 delivered, 2 published, 1 fetched with basic.get, 1 returned)"; line != want {
		t.Errorf("the report is %q, want %q", line, want)
	}
}

func TestContentMethodsCutShort(t *testing.T) {
	for _, m := range []sent{
		{method: wire.MethodBasicDeliver, exchange: "ex", key: "key"},
		{method: wire.MethodBasicGetOk},
		{method: wire.MethodBasicPublish, key: "k"},
		{method: wire.MethodBasicReturn, key: "k"},
	} {
		f, _, err := wire.CutFrame(m.opening())
		if err != nil {
			t.Fatal(err)
		}
		_, method, args, _ := f.Method()
		needed := len(args)
		switch method {
		case wire.MethodBasicGetOk:
			needed -= 4 // the message count
		case wire.MethodBasicPublish:
			needed-- // the flags
		}
		for n := range args {
			d, ok := readContentMethod(method, args[:n])
			if ok != (n >= needed) {
				t.Errorf("method %d: %d of %d octets: ok is %v: %+v", method, n, len(args), ok, d)
			}
		}
	}
}

// Contents on several channels come in turns, with heartbeats and other methods in between.
func TestChannelsInterleave(t *testing.T) {
	a := sent{
		channel: 1,
		key:     "kA",
		tag:     1,
		table:   encode.Table(func(*encode.Encoder) {}),
		body:    []byte(strings.Repeat("a", 300)),
	}
	b := sent{channel: 2, key: "kB", tag: 1, table: a.table, body: []byte(strings.Repeat("b", 100))}
	c := sent{channel: 65535, key: "kC", tag: 1, table: a.table}
	octets := slices.Concat([]byte("AMQP\x00\x00\x09\x01"), a.opening(), b.opening(), wire.AppendHeartbeat(nil),
		sent{
			channel: 1,
			body:    a.body[:200],
		}.bodyFrames(0), sent{
			channel: 2,
			body:    b.body[:1],
		}.bodyFrames(0), c.opening(),
		wire.AppendMethod(nil, 3, 20, 40, []byte{0, 0, 0, 0, 0, 0, 0}),
		sent{
			channel: 2,
			body:    b.body[1:],
		}.bodyFrames(0), wire.AppendFrame(nil, wire.FrameBody, 1, nil), sent{
			channel: 1,
			body:    a.body[200:],
		}.bodyFrames(0))
	got, report := readWhole(t, pcap(t, layers.LinkTypeRaw, connected(1, octets, 50)...))
	allSame(t, got, c, b, a)
	if report.Breaks != 0 || report.Incomplete != 0 {
		t.Errorf("%+v", report)
	}
}

func TestContentsOutOfOrder(t *testing.T) {
	m := numbered(2, 10)
	body := m[0].bodyFrames(0)
	for name, octets := range map[string][]byte{
		"a body without a header":       slices.Concat(m[0].opening()[:len(m[0].opening())-len(m[0].header())-wire.FrameOverhead], body, m[1].frames()),
		"a body of nothing":             slices.Concat(body, body, m[1].frames()),
		"a header of nothing":           slices.Concat(m[0].frames(), wire.AppendContentHeader(nil, 1, m[0].header()), m[1].frames())[len(m[0].frames()):],
		"a header too short for a size": slices.Concat(m[0].opening()[:len(m[0].opening())-len(m[0].header())-wire.FrameOverhead], wire.AppendContentHeader(nil, 1, []byte{0, 60, 0, 0}), body, m[1].frames()),
	} {
		got, report := readWhole(
			t,
			pcap(
				t,
				layers.LinkTypeRaw,
				connected(1, append(wire.AppendMethod(nil, 0, 10, 41, []byte{0}), octets...), 50)...),
		)
		allSame(t, got, m[1])
		if report.Breaks != 0 {
			t.Errorf("%s: %+v", name, report)
		}
	}
	// More octets than were announced, and a method in the middle: the message is kept as it is.
	for name, rest := range map[string][]byte{
		"a larger body": sent{channel: 1, body: make([]byte, 11)}.bodyFrames(0),
		"a method":      nil,
	} {
		got, report := readWhole(
			t,
			pcap(t, layers.LinkTypeRaw, connected(1, slices.Concat(m[0].opening(), rest, m[1].frames()), 50)...),
		)
		if len(got) != 2 || report.Incomplete != 1 || len(got[0].Body()) != 0 || got[0].BodySize() != 10 {
			t.Fatalf("%s: %d messages, %+v", name, len(got), report)
		}
		m[1].same(t, got[1])
	}
}

func TestDamagedFrames(t *testing.T) {
	m := numbered(3, 50)
	for at := range m[1].frames() {
		octets := octetsOf(m...)
		octets[len(m[0].frames())+at] ^= 0xff
		got, _ := readWhole(t, pcap(t, layers.LinkTypeRaw, connected(1, octets, 60)...))
		if len(got) < 2 || string(got[0].RoutingKey()) != m[0].key {
			t.Fatalf("octet %d: %d messages", at, len(got))
		}
		m[0].same(t, got[0])
		m[2].same(t, got[len(got)-1])
	}
}

func TestBodyLimit(t *testing.T) {
	m := sent{
		channel: 1,
		key:     "kA",
		table:   encode.Table(func(*encode.Encoder) {}),
		body:    []byte(strings.Repeat("0123456789", bodyLimit/5)),
	}
	next := numbered(2, 9)[1]
	got, report := readWhole(t, pcap(t, layers.LinkTypeRaw, connected(1, octetsOf(m, next), 60000)...))
	if len(got) != 2 || string(got[0].Body()) != string(m.body[:bodyLimit]) ||
		got[0].BodySize() != uint64(len(m.body)) ||
		report.Incomplete != 0 {
		t.Fatalf("%d messages, %+v", len(got), report)
	}
	next.same(t, got[1])
}
