package capture

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// connected is a stream from the broker with its SYN.
func connected(isn uint32, b []byte, size int) []tcpPacket {
	return append([]tcpPacket{{src: broker, dst: client, seq: isn, syn: true}}, inbound(isn+1, b, size)...)
}

func TestStreamInOrder(t *testing.T) {
	want := numbered(5, 3000)
	for _, size := range []int{1, 7, 100, 1448, 60000} {
		got, report := readWhole(t, pcap(t, layers.LinkTypeEthernet, connected(99, octetsOf(want...), size)...))
		allSame(t, got, want...)
		if report.Delivered != 5 || report.Breaks != 0 || report.Incomplete != 0 || report.Clipped != 0 ||
			report.Foreign != 0 {
			t.Errorf("packets of %d: %+v", size, report)
		}
	}
}

func TestReceivedIsThePacketsTime(t *testing.T) {
	m := numbered(1, 100)[0]
	head := len(m.opening())
	packets := []tcpPacket{
		{src: broker, dst: client, seq: 5, payload: m.frames()[:head-1]},
		{src: broker, dst: client, seq: 5 + uint32(head-1), payload: m.frames()[head-1 : head+10]},
		{src: broker, dst: client, seq: 5 + uint32(head+10), payload: m.frames()[head+10:]},
	}
	got, _ := readWhole(t, pcap(t, layers.LinkTypeRaw, packets...))
	allSame(t, got, m)
	if want := noon.Add(time.Millisecond); !got[0].Received().Equal(want) {
		t.Errorf("received %v, want %v: when the content header was complete", got[0].Received(), want)
	}
}

// Reordered, sent again in other pieces, and both in every order of 32-bit sequence numbers.
func TestReorderedAndRetransmitted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	want := numbered(8, 2500)
	b := octetsOf(want...)
	for _, isn := range []uint32{0, 1 << 31, 1<<32 - 5000, 1<<31 - 5000} {
		for range 20 {
			packets := connected(isn, b, 700)
			for range 15 { // overlapping pieces
				from := r.IntN(len(b) - 900)
				packets = append(packets, tcpPacket{
					src:     broker,
					dst:     client,
					seq:     isn + 1 + uint32(from),
					payload: b[from : from+r.IntN(900)],
				})
			}
			rest := packets[1:]
			r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
			// the SYN again
			packets = append(packets, tcpPacket{src: broker, dst: client, seq: isn, syn: true},
				tcpPacket{src: broker, dst: client, seq: isn + 1 + uint32(len(b)), fin: true})
			got, report := readWhole(t, pcap(t, layers.LinkTypeRaw, packets...))
			allSame(t, got, want...)
			if report.Breaks != 0 {
				t.Fatalf("breaks: %+v", report)
			}
		}
	}
}

// Whatever the first octet of the capture is, the messages that begin after it are found.
func TestMissingStart(t *testing.T) {
	want := numbered(4, 300)
	b := octetsOf(want...)
	one := len(want[0].frames())
	for from := range 2 * one {
		got, report := readWhole(t, pcap(t, layers.LinkTypeRaw, inbound(uint32(from), b[from:], 500)...))
		allSame(t, got, want[(from+one-1)/one:]...)
		if report.Breaks != 0 {
			t.Fatalf("from %d: a missing start is no break: %+v", from, report)
		}
	}
}

// Whatever is missing in between, what is whole on both sides is found, and a message with its
// header is kept with what there is of its body.
func TestMissingInBetween(t *testing.T) {
	want := numbered(4, 300)
	b := octetsOf(want...)
	one := len(want[0].frames())
	opening := len(want[0].opening())
	method := opening - len(want[0].header()) - wire.FrameOverhead
	const hole = 40
	for from := range 2 * one {
		packets := connected(7, b[:from], 100)
		packets = append(packets, inbound(8+uint32(from+hole), b[from+hole:], 100)...)
		got, report := readWhole(t, pcap(t, layers.LinkTypeRaw, packets...))
		hit, at := from/one, from%one // which message the hole begins in, and where
		var keys []string
		for i, m := range want {
			start, end := i*one, (i+1)*one
			switch {
			case end <= from || start >= from+hole:
				keys = append(keys, m.key)
			case i == hit && at >= opening:
				keys = append(keys, m.key)
			}
		}
		var found []string
		for _, m := range got {
			found = append(found, string(m.RoutingKey()))
			if m.BodySize() != 300 || !bytes.HasPrefix(want[m.RoutingKey()[1]-'A'].body, m.Body()) {
				t.Errorf(
					"hole at %d: message %s has a body of %d in %d octets",
					from,
					m.RoutingKey(),
					m.BodySize(),
					len(m.Body()),
				)
			}
			if string(m.RoutingKey()) == want[hit].key && at > opening+wire.FrameHead &&
				len(m.Body()) != min(at-opening-wire.FrameHead, 300) {
				t.Errorf("hole at %d: %d octets of the body, want %d", from, len(m.Body()), at-opening-wire.FrameHead)
			}
		}
		if !slices.Equal(found, keys) {
			t.Errorf("hole at %d: found %v, want %v", from, found, keys)
		}
		breaks := uint64(1)
		if from <= method {
			breaks = 0 // nothing that was seen of the stream is AMQP for sure
		}
		if report.Breaks != breaks {
			t.Errorf("hole at %d: %d breaks", from, report.Breaks)
		}
	}
}

func TestClippedPackets(t *testing.T) {
	want := numbered(3, 2000)
	packets := connected(1, want[0].frames(), 9000)
	cut := inbound(2+uint32(len(want[0].frames())), want[1].frames(), 9000)
	cut[0].cut = 1000
	packets = append(packets, cut...)
	packets = append(packets, inbound(2+uint32(len(octetsOf(want[:2]...))), want[2].frames(), 9000)...)
	got, report := readWhole(t, pcap(t, layers.LinkTypeRaw, packets...))
	if len(got) != 3 || report.Clipped != 1 || report.Incomplete != 1 || report.Breaks != 1 {
		t.Fatalf("%d messages, %+v", len(got), report)
	}
	want[0].same(t, got[0])
	want[2].same(t, got[2])
	// One frame end and 999 octets of the body were cut off.
	if got[1].BodySize() != 2000 || len(got[1].Body()) != 1001 {
		t.Errorf("a clipped body has %d of %d octets", len(got[1].Body()), got[1].BodySize())
	}
}

func TestSeveralConnections(t *testing.T) {
	all := numbered(6, 500)
	streams := []struct {
		src, dst string
		ms       []sent
	}{
		{broker, client, all[0:2]},
		{broker, "192.0.2.2:40001", all[2:4]},
		{"[2001:db8::1]:5672", "[2001:db8::2]:40000", all[4:5]},
		{"192.0.2.9:15999", "192.0.2.1:25672", all[5:6]}, // a port that says nothing
	}
	var packets []tcpPacket
	for piece := 0; piece < 3000; piece += 400 {
		for _, s := range streams {
			if b := octetsOf(s.ms...); piece < len(b) {
				packets = append(packets, tcpPacket{
					src:     s.src,
					dst:     s.dst,
					seq:     uint32(piece),
					payload: b[piece:min(piece+400, len(b))],
				})
			}
		}
	}
	got, _ := readWhole(t, pcap(t, layers.LinkTypeEthernet, packets...))
	slices.SortFunc(got, func(a, b archive.Message) int { return bytes.Compare(a.RoutingKey(), b.RoutingKey()) })
	allSame(t, got, all...)
}

// A new connection between the same ports, with and without its SYN.
func TestPortsUsedAgain(t *testing.T) {
	want := numbered(4, 100)
	packets := connected(1000, octetsOf(want[0]), 50)
	packets = append(packets, connected(77, octetsOf(want[1]), 50)...)
	packets = append(packets, inbound(3_000_000_000, octetsOf(want[2]), 50)...)
	packets = append(packets, connected(1000, octetsOf(want[3]), 50)...)
	got, _ := readWhole(t, pcap(t, layers.LinkTypeRaw, packets...))
	allSame(t, got, want...)
}

func TestFlowsAreBounded(t *testing.T) {
	f := newFlows(newStreams())
	m := numbered(1, 0)[0].frames()
	for i := range maxFlows + 10 {
		k := addresses([]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}, []byte{10, 0, 0, 1})
		f.packet(k, segment{seq: 1, data: m[:len(m)-1], at: noon})
		if len(f.byKey) > maxFlows {
			t.Fatalf("%d flows", len(f.byKey))
		}
	}
	if len(f.byKey) > maxFlows/2+20 {
		t.Errorf("%d flows after half were given up", len(f.byKey))
	}
	f.finish()
	if f.kept != 0 {
		t.Errorf("%d octets are still accounted for", f.kept)
	}
}

// Segments that wait for one that never comes, on many flows: what is kept stays within its bound,
// and nothing of it is forgotten in the account.
func TestPendingIsBounded(t *testing.T) {
	f := newFlows(newStreams())
	big := make([]byte, 60_000)
	for i := range 40 {
		k := addresses([]byte{10, 0, 0, byte(i)}, []byte{10, 0, 0, 1})
		f.packet(k, segment{seq: 0, syn: true})
		for n := range 80 {
			f.packet(k, segment{seq: 1000 + uint32(n*len(big)), data: big, at: noon})
			if f.kept > maxKept || f.byKey[k].bytes > maxPendingBytes {
				t.Fatalf("%d octets kept, %d pending", f.kept, f.byKey[k].bytes)
			}
		}
	}
	f.finish()
	if f.kept != 0 {
		t.Errorf("%d octets are still accounted for", f.kept)
	}
}

func TestEncryptedAndForeign(t *testing.T) {
	hello := []byte{0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3}
	_, report := readWhole(t, pcap(t, layers.LinkTypeRaw,
		tcpPacket{src: client, dst: "192.0.2.1:5671", seq: 1, payload: hello},
		tcpPacket{src: client, dst: broker, seq: 1, payload: []byte("AMQP\x00\x01\x00\x00")},
		tcpPacket{
			src:     client,
			dst:     "192.0.2.1:80",
			seq:     1,
			payload: []byte("GET / HTTP/1.1\r\nHost: AMQP\x00\x00\x09\x01\r\n\r\n"),
		},
	))
	if report.Encrypted != 1 || report.AMQP10 != 1 || report.Breaks != 0 || report.Messages != 0 {
		t.Errorf("%+v", report)
	}
	_, report = readWhole(t, pcap(t, layers.LinkType(147), tcpPacket{src: client, dst: broker, payload: hello}))
	if report.Foreign != 1 {
		t.Errorf("%+v", report)
	}
}

func TestOversizeContentHeader(t *testing.T) {
	big := sent{
		channel: 1,
		key:     "kA",
		table:   encode.Table(func(e *encode.Encoder) { e.Bytes("x", make([]byte, 1<<20)) }),
	}
	next := numbered(2, 10)[1]
	got, report := readWhole(t, pcap(t, layers.LinkTypeRaw, connected(1, octetsOf(big, next), 60000)...))
	allSame(t, got, big, next)
	if report.Breaks != 0 {
		t.Errorf("%+v", report)
	}
	// A frame that claims more than any has is no frame.
	lie := wire.AppendMethod(nil, 1, wire.ClassBasic, wire.MethodBasicDeliver, nil)
	lie = append(lie, wire.FrameBody, 0, 1, 0xff, 0xff, 0xff, 0xff)
	got, report = readWhole(t, pcap(t, layers.LinkTypeRaw, connected(1, append(lie, next.frames()...), 60000)...))
	allSame(t, got, next)
	if report.Breaks != 1 {
		t.Errorf("%+v", report)
	}
}
