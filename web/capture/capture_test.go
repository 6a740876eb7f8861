package capture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// noon is when the first packet of a test was captured, with a fraction that only nanoseconds hold.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

const bodyLimit = 64 << 10

// fromBytes is Open for a file in memory.
func fromBytes(name string, b []byte) (*File, error) {
	f := &File{name: name, close: func() error { return nil }, at: bytes.NewReader(b), size: int64(len(b))}
	return f, f.recognize(bytes.NewReader(b))
}

// read reads a file that can be recognized and returns what it put into the archive.
func read(t *testing.T, file []byte) ([]archive.Message, Report, error) {
	t.Helper()
	f, err := fromBytes("test", file)
	if err != nil {
		t.Fatal(err)
	}
	a := newArchive()
	report, err := f.Read(context.Background(), Config{Archive: a, BodyLimit: bodyLimit})
	var ms []archive.Message
	for m := range a.Snapshot().Forward(0) {
		ms = append(ms, m)
	}
	if stored := a.Stats().Stored; report.Messages != stored {
		t.Errorf("%d messages reported, %d stored", report.Messages, stored)
	}
	return ms, report, err
}

// readWhole reads a file without damage.
func readWhole(t *testing.T, file []byte) ([]archive.Message, Report) {
	t.Helper()
	ms, report, err := read(t, file)
	if err != nil {
		t.Fatal(err)
	}
	return ms, report
}

// sent is a message that a test sends.
type sent struct {
	method   uint16 // 0: basic.deliver
	channel  uint16
	exchange string
	key      string
	tag      uint64
	again    bool
	table    []byte
	body     []byte
}

func (s sent) header() []byte {
	return wire.AppendContentHeaderPayload(nil, uint64(len(s.body)), wire.Property{Name: "headers", Raw: s.table})
}

func shortStr(s string) []byte { return append([]byte{byte(len(s))}, s...) }

// frames are the octets of the content.
func (s sent) frames() []byte { return append(s.opening(), s.bodyFrames(4096)...) }

// opening is the method frame and the content header frame.
func (s sent) opening() []byte {
	var args []byte
	delivery := append(binary.BigEndian.AppendUint64(nil, s.tag), 0)
	if s.again {
		delivery[8] = 1
	}
	switch s.method {
	case 0, wire.MethodBasicDeliver:
		s.method = wire.MethodBasicDeliver
		args = append(append(args, shortStr("ctag")...), delivery...)
	case wire.MethodBasicGetOk:
		args = delivery
	case wire.MethodBasicPublish:
		args = []byte{0, 0}
	case wire.MethodBasicReturn:
		args = append([]byte{1, 56}, shortStr("NO_ROUTE")...)
	}
	args = append(append(args, shortStr(s.exchange)...), shortStr(s.key)...)
	switch s.method {
	case wire.MethodBasicGetOk:
		args = append(args, 0, 0, 0, 7)
	case wire.MethodBasicPublish:
		args = append(args, 1)
	}
	b := wire.AppendMethod(nil, s.channel, wire.ClassBasic, s.method, args)
	return wire.AppendContentHeader(b, s.channel, s.header())
}

func (s sent) bodyFrames(frameMax int) []byte {
	return wire.AppendBody(nil, s.channel, s.body, frameMax)
}

// same checks that a message is the one that was sent.
func (s sent) same(t *testing.T, m archive.Message) {
	t.Helper()
	if string(m.Exchange()) != s.exchange || string(m.RoutingKey()) != s.key || m.DeliveryTag() != s.tag ||
		m.Redelivered() != s.again {
		t.Errorf(
			"got %q, %q, tag %d, redelivered %v, want %+v",
			m.Exchange(),
			m.RoutingKey(),
			m.DeliveryTag(),
			m.Redelivered(),
			s,
		)
	}
	if !bytes.Equal(m.Header().Payload(), s.header()) {
		t.Errorf("%s: the content header is %x, want %x", s.key, m.Header().Payload(), s.header())
	}
	if !bytes.Equal(m.Body(), s.body) || m.BodySize() != uint64(len(s.body)) {
		t.Errorf("%s: the body has %d of %d octets, want %d", s.key, len(m.Body()), m.BodySize(), len(s.body))
	}
}

func allSame(t *testing.T, got []archive.Message, want ...sent) {
	t.Helper()
	if len(got) != len(want) {
		for _, m := range got {
			t.Logf("got %q", m.RoutingKey())
		}
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i, s := range want {
		s.same(t, got[i])
	}
}

// numbered makes n messages with bodies of some size.
func numbered(n, size int) []sent {
	all := make([]sent, n)
	for i := range all {
		all[i] = sent{
			channel: 1, exchange: "orders", key: "k" + string(rune('A'+i)), tag: uint64(i + 1), again: i%3 == 1,
			table: encode.Table(func(e *encode.Encoder) { e.Int32("n", int32(i)) }),
			body:  bytes.Repeat([]byte{byte('a' + i)}, size),
		}
	}
	return all
}

func octetsOf(ms ...sent) (b []byte) {
	for _, m := range ms {
		b = append(b, m.frames()...)
	}
	return b
}

// tcpPacket is a packet in a capture.
type tcpPacket struct {
	src, dst string // addresses with port
	seq      uint32
	syn, fin bool
	payload  []byte
	cut      int // octets at the end that the capture lacks
}

// The two directions of the tests' usual connection.
const (
	broker = "192.0.2.1:5672"
	client = "192.0.2.2:40000"
)

// inbound cuts a stream from the broker into packets of some size, from a sequence number on.
func inbound(seq uint32, b []byte, size int) (ps []tcpPacket) {
	for len(b) > 0 {
		part := b[:min(len(b), size)]
		b = b[len(part):]
		ps = append(ps, tcpPacket{src: broker, dst: client, seq: seq, payload: part})
		seq += uint32(len(part))
	}
	return ps
}

func (p tcpPacket) encode(t testing.TB, link layers.LinkType) []byte {
	t.Helper()
	src, dst := netip.MustParseAddrPort(p.src), netip.MustParseAddrPort(p.dst)
	tcp := &layers.TCP{
		SrcPort: layers.TCPPort(src.Port()),
		DstPort: layers.TCPPort(dst.Port()),
		Seq:     p.seq,
		SYN:     p.syn,
		FIN:     p.fin,
		ACK:     !p.syn,
		Window:  1000,
	}
	var network gopacket.NetworkLayer
	ether := layers.EthernetTypeIPv4
	if src.Addr().Is4() {
		network = &layers.IPv4{
			Version:  4,
			TTL:      64,
			Protocol: layers.IPProtocolTCP,
			SrcIP:    net.IP(src.Addr().AsSlice()),
			DstIP:    net.IP(dst.Addr().AsSlice()),
		}
	} else {
		network = &layers.IPv6{
			Version:    6,
			HopLimit:   64,
			NextHeader: layers.IPProtocolTCP,
			SrcIP:      net.IP(src.Addr().AsSlice()),
			DstIP:      net.IP(dst.Addr().AsSlice()),
		}
		ether = layers.EthernetTypeIPv6
	}
	if err := tcp.SetNetworkLayerForChecksum(network); err != nil {
		t.Fatal(err)
	}
	stack := []gopacket.SerializableLayer{network.(gopacket.SerializableLayer), tcp, gopacket.Payload(p.payload)}
	if link == layers.LinkTypeEthernet {
		mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
		stack = append([]gopacket.SerializableLayer{
			&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeDot1Q},
			&layers.Dot1Q{VLANIdentifier: 7, Type: ether},
		}, stack...)
	}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{
		FixLengths:       true,
		ComputeChecksums: true,
	}, stack...); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b.Bytes())
}

// pcap is a capture with nanoseconds; each packet is a millisecond after the one before.
func pcap(t testing.TB, link layers.LinkType, packets ...tcpPacket) []byte {
	t.Helper()
	var file bytes.Buffer
	w := pcapgo.NewWriterNanos(&file)
	if err := w.WriteFileHeader(1<<18, link); err != nil {
		t.Fatal(err)
	}
	for i, p := range packets {
		b := p.encode(t, link)
		info := gopacket.CaptureInfo{
			Timestamp:     noon.Add(time.Duration(i) * time.Millisecond),
			CaptureLength: len(b) - p.cut,
			Length:        len(b),
		}
		if err := w.WritePacket(info, b[:len(b)-p.cut]); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

func newStreams() streams {
	return streams{recorder{writer: newArchive().Writer()}, keeping{bodyLimit: bodyLimit, most: maxKept}}
}

func newArchive() *archive.Archive {
	return archive.New(archive.Config{MaxBytes: 32 << 20, BodyLimit: bodyLimit})
}

var errCountdown = errors.New("the countdown is over")

// countdown is a context that ends after it was asked so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return errCountdown
	}
	return nil
}
