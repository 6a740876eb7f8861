package capture

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// specimens is an archive with a message for each specimen, and some that are special in other
// ways.
func specimenArchive() *archive.Archive {
	a := archive.New(archive.Config{MaxBytes: 64 << 20, BodyLimit: bodyLimit})
	w := a.Writer()
	n := uint64(0)
	add := func(d wire.Delivery, body []byte) {
		n++
		d.DeliveryTag, d.BodySize = n<<33, max(d.BodySize, uint64(len(body)))
		w.Begin(&d, noon.Add(time.Duration(n)*1_234_567_891))
		w.Body(body)
		w.Commit()
	}
	for i, s := range specimens.Specimens() {
		body := []byte(s.Note)
		add(wire.Delivery{
			Redelivered: i%2 == 1,
			ConsumerTag: []byte("ctag"),
			Exchange:    []byte("specimens"),
			RoutingKey:  []byte(s.Name),
			Header: wire.AppendContentHeaderPayload(nil, uint64(len(body)), wire.Property{
				Name: "headers",
				Raw:  s.Encoded,
			}, wire.Property{
				Name: "message_id",
				Raw:  []byte(s.Name),
			}),
		}, body)
	}
	add(wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 0)}, nil) // no headers property
	add(wire.Delivery{
		RoutingKey: []byte("\xff\x00\n"),
		Exchange:   []byte("=1+1"),
		Header:     []byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0},
	}, nil)
	// more than a packet, kept in part
	add(
		wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 200_000)},
		bytes.Repeat([]byte("0123456789"), 20_000),
	)
	add(wire.Delivery{
		RoutingKey: []byte("last"),
		Header:     wire.AppendContentHeaderPayload(nil, 60_000),
	}, bytes.Repeat([]byte("x"), 60_000))
	return a
}

// sameArchive checks that two archives hold the same messages, whatever their numbers.
func sameArchive(t *testing.T, got []archive.Message, a *archive.Archive) {
	t.Helper()
	n := 0
	for want := range a.Snapshot().Forward(0) {
		if n >= len(got) {
			t.Fatalf("only %d messages", n)
		}
		m := got[n]
		n++
		name := string(want.RoutingKey())
		if m.DeliveryTag() != want.DeliveryTag() || m.Redelivered() != want.Redelivered() ||
			!bytes.Equal(m.ConsumerTag(), want.ConsumerTag()) ||
			!bytes.Equal(m.Exchange(), want.Exchange()) ||
			!bytes.Equal(m.RoutingKey(), want.RoutingKey()) {
			t.Errorf("%s: other facts of delivery", name)
		}
		if !m.Received().Equal(want.Received()) {
			t.Errorf("%s: received %v, want %v", name, m.Received(), want.Received())
		}
		if !bytes.Equal(m.Header().Payload(), want.Header().Payload()) {
			t.Errorf("%s: another content header", name)
		}
		if !bytes.Equal(m.Body(), want.Body()) || m.BodySize() != want.BodySize() {
			t.Errorf(
				"%s: %d of %d octets of body, want %d of %d",
				name,
				len(m.Body()),
				m.BodySize(),
				len(want.Body()),
				want.BodySize(),
			)
		}
	}
	if n != len(got) {
		t.Errorf("%d messages, want %d", len(got), n)
	}
}

func writeAll(t testing.TB, a *archive.Archive) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, "a test")
	if err != nil {
		t.Fatal(err)
	}
	for m := range a.Snapshot().Forward(0) {
		if err := w.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestWrittenCaptureReadsBack(t *testing.T) {
	a := specimenArchive()
	got, report := readWhole(t, writeAll(t, a))
	sameArchive(t, got, a)
	if report.Incomplete != 1 || report.Breaks != 0 || report.Delivered != report.Messages {
		t.Errorf("%+v", report)
	}
}

// A message keeps the method that it came with, and the side that sent it.
func TestWrittenMethodsReadBack(t *testing.T) {
	a := archive.New(archive.Config{MaxBytes: 1 << 20})
	w := a.Writer()
	for i, d := range []wire.Delivery{
		{Method: wire.Publish, Exchange: []byte("e"), RoutingKey: []byte("published")},
		{Method: wire.Deliver, DeliveryTag: 7, ConsumerTag: []byte("c"), RoutingKey: []byte("delivered"), Redelivered: true},
		{Method: wire.GetOk, DeliveryTag: 8, RoutingKey: []byte("fetched"), Redelivered: true},
		{Method: wire.Return, Exchange: []byte("e"), RoutingKey: []byte("returned")},
		{Method: wire.Publish, RoutingKey: []byte("published again")},
	} {
		d.Header, d.BodySize = wire.AppendContentHeaderPayload(nil, 1), 1
		w.Begin(&d, noon.Add(time.Duration(i)*time.Second))
		w.Body([]byte{byte(i)})
		w.Commit()
	}
	got, _ := readWhole(t, writeAll(t, a))
	sameArchive(t, got, a)
	for i, want := range []wire.Method{wire.Publish, wire.Deliver, wire.GetOk, wire.Return, wire.Publish} {
		if got[i].Method() != want {
			t.Errorf("message %d came by %s, want %s", i+1, got[i].Method(), want)
		}
	}
}

// Of the packets that a capture consists of: lengths, checksums and sequence numbers as another
// implementation sees them.
func TestWrittenPackets(t *testing.T) {
	a := archive.New(archive.Config{MaxBytes: 64 << 20, BodyLimit: 1 << 20})
	w := a.Writer()
	body := bytes.Repeat([]byte("z"), 200_000)
	w.Begin(&wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 200_000), BodySize: 200_000}, noon)
	w.Body(body)
	w.Commit()
	ng, err := pcapgo.NewNgReader(bytes.NewReader(writeAll(t, a)), pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	if c := ng.SectionInfo().Comment; c != "a test" {
		t.Errorf("the file's comment is %q", c)
	}
	next := map[layers.TCPPort]uint32{}
	octets := map[layers.TCPPort]int{}
	var comments []string
	for {
		data, info, options, err := ng.ReadPacketDataWithOptions()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		comments = append(comments, options.Comments...)
		p := gopacket.NewPacket(data, layers.LinkTypeRaw, gopacket.Default)
		if p.ErrorLayer() != nil {
			t.Fatal(p.ErrorLayer().Error())
		}
		tcp := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
		if err := tcp.SetNetworkLayerForChecksum(p.NetworkLayer()); err != nil {
			t.Fatal(err)
		}
		if err, bad := p.VerifyChecksums(); err != nil || len(bad) > 0 {
			t.Errorf("checksums: %v, %v", err, bad)
		}
		if tcp.Seq != next[tcp.SrcPort] {
			t.Errorf("sequence number %d from port %d, want %d", tcp.Seq, tcp.SrcPort, next[tcp.SrcPort])
		}
		if tcp.ACK && tcp.Ack != next[tcp.DstPort] {
			t.Errorf("port %d acknowledges %d, want %d", tcp.SrcPort, tcp.Ack, next[tcp.DstPort])
		}
		next[tcp.SrcPort] += uint32(len(tcp.Payload))
		octets[tcp.SrcPort] += len(tcp.Payload)
		if tcp.SYN || tcp.FIN {
			next[tcp.SrcPort]++
		}
		if !info.Timestamp.Equal(noon) {
			t.Errorf("captured %v", info.Timestamp)
		}
	}
	deliver := wire.AppendDeliver(nil, &wire.Delivery{})
	if want := len(deliver) + 14 + 8 + 200_000 + 2*8; octets[brokerPort] != want || octets[clientPort] != 8 {
		t.Errorf(
			"%d octets from the broker, want %d; %d from the client, want 8",
			octets[brokerPort],
			want,
			octets[clientPort],
		)
	}
	if len(comments) != 2 || comments[1] != "headerglass message 1" {
		t.Errorf("comments: %q", comments)
	}
}

func TestCommentOnWhatIsMissing(t *testing.T) {
	a := archive.New(archive.Config{BodyLimit: 10})
	w := a.Writer()
	w.Begin(&wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 12), BodySize: 12}, noon)
	w.Body([]byte("0123456789ab"))
	w.Commit()
	m, err := a.Snapshot().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := comment(m), "headerglass message 1; only the first 10 of 12 octets of its body were kept"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEmptyCapture(t *testing.T) {
	got, report := readWhole(t, writeAll(t, archive.New(archive.Config{})))
	if len(got) != 0 || report.Packets != 0 {
		t.Errorf("%d messages, %+v", len(got), report)
	}
}
