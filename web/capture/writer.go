package capture

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

const (
	// mss is how many octets of the stream a packet carries: as many as an IPv4 packet can.
	mss = 1<<16 - 1 - 20 - 20
	// bodyFrame is the size of a body frame at most, in octets: RabbitMQ's frame_max.
	bodyFrame = 128 << 10

	brokerPort = 5672
	clientPort = 56720
	// windowScale makes the window that the client advertises larger than any message.
	windowScale = 14
)

// Writer writes messages as a capture, in pcapng, of one TCP connection between 127.0.0.1:56720
// and a broker at 127.0.0.1:5672 that there never was: three-way handshake, protocol header, and
// then for each message a frame of the method that it came with, basic.publish from the client and
// others from the broker, the content header frame with the octets as delivered, and body frames.
// The packets of a message have the time that it was received and name its number in a comment.
// All is on channel 1. A frame may be larger than any frame_max: the content header always takes
// one.
//
// Of a body that was kept in part only, that part is written, and a comment says so. The content
// header stays as it is, so the frames of the next message come earlier than it announces;
// Wireshark reads on, and so does this package, which takes such a body for what it is.
//
// Memory does not grow with the number of messages.
type Writer struct {
	ng             *pcapgo.NgWriter
	packet         gopacket.SerializeBuffer
	frames         []byte
	begun          bool
	last           time.Time
	broker, client endpoint
}

// endpoint is one side of the connection.
type endpoint struct {
	ip   net.IP
	port layers.TCPPort
	seq  uint32 // of its next octet
}

// NewWriter begins a capture. The comment is the file's.
func NewWriter(w io.Writer, comment string) (*Writer, error) {
	ng, err := pcapgo.NewNgWriterInterface(w,
		pcapgo.NgInterface{Name: "headerglass", LinkType: layers.LinkTypeRaw, TimestampResolution: 9},
		pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "headerglass", Comment: comment}})
	if err != nil {
		return nil, err
	}
	loopback := net.IPv4(127, 0, 0, 1).To4()
	return &Writer{
		ng:     ng,
		packet: gopacket.NewSerializeBuffer(),
		broker: endpoint{ip: loopback, port: brokerPort},
		client: endpoint{ip: loopback, port: clientPort},
	}, nil
}

// Write appends a message.
func (w *Writer) Write(m archive.Message) error {
	w.last = m.Received()
	if !w.begun {
		w.begun = true
		if err := w.handshake(); err != nil {
			return err
		}
	}
	header := m.Header().Payload()
	w.frames = appendContentMethod(w.frames[:0], &wire.Delivery{
		Method: m.Method(), Channel: 1, DeliveryTag: m.DeliveryTag(), Redelivered: m.Redelivered(),
		ConsumerTag: m.ConsumerTag(), Exchange: m.Exchange(), RoutingKey: m.RoutingKey(),
	})
	from, to := &w.broker, &w.client
	if m.Method() == wire.Publish {
		from, to = to, from
	}
	w.frames = wire.AppendContentHeader(w.frames, 1, header)
	w.frames = wire.AppendBody(w.frames, 1, m.Body(), bodyFrame)
	if err := w.send(from, to, w.frames, comment(m)); err != nil {
		return err
	}
	if cap(w.frames) > largeBuffer {
		w.frames = nil
	}
	return w.emit(to, from, layers.TCP{ACK: true}, nil, "")
}

// comment is what a message's first packet says.
func comment(m archive.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "headerglass message %d", m.Seq())
	if m.Redacted() {
		b.WriteString("; some of its values were overwritten before it was stored")
	}
	if kept, size := len(m.Header().Payload()), m.HeaderSize(); kept < size {
		fmt.Fprintf(&b, "; only the first %d of %s of its content header were kept", kept, plural.Of(size, "octet"))
	}
	if kept, size := len(m.Body()), m.BodySize(); uint64(kept) < size {
		fmt.Fprintf(&b, "; only the first %d of %s of its body were kept", kept, plural.Of(size, "octet"))
	}
	return b.String()
}

// Close ends the connection and flushes what is left. It does not close the underlying writer.
func (w *Writer) Close() error { return w.End("") }

// End is Close with a comment on the first of the packets that end the connection, if there is any.
func (w *Writer) End(comment string) error {
	if w.begun {
		for _, side := range [][2]*endpoint{{&w.broker, &w.client}, {&w.client, &w.broker}} {
			if err := w.emit(side[0], side[1], layers.TCP{FIN: true, ACK: true}, nil, comment); err != nil {
				return err
			}
			side[0].seq++
			comment = ""
		}
		if err := w.emit(&w.broker, &w.client, layers.TCP{ACK: true}, nil, ""); err != nil {
			return err
		}
	}
	return w.ng.Flush()
}

func (w *Writer) handshake() error {
	options := []layers.TCPOption{
		{OptionType: layers.TCPOptionKindMSS, OptionLength: 4, OptionData: []byte{mss >> 8, mss & 0xff}},
		{OptionType: layers.TCPOptionKindWindowScale, OptionLength: 3, OptionData: []byte{windowScale}},
	}
	if err := w.emit(&w.client, &w.broker, layers.TCP{SYN: true, Options: options}, nil, ""); err != nil {
		return err
	}
	w.client.seq++
	if err := w.emit(&w.broker, &w.client, layers.TCP{SYN: true, ACK: true, Options: options}, nil, ""); err != nil {
		return err
	}
	w.broker.seq++
	if err := w.emit(&w.client, &w.broker, layers.TCP{ACK: true}, nil, ""); err != nil {
		return err
	}
	return w.send(
		&w.client,
		&w.broker,
		[]byte("AMQP\x00\x00\x09\x01"),
		"headerglass wrote this connection to carry the messages; it never existed",
	)
}

// send writes octets of the stream, with the comment on the first packet.
func (w *Writer) send(from, to *endpoint, b []byte, comment string) error {
	for len(b) > 0 {
		part := b[:min(len(b), mss)]
		b = b[len(part):]
		if err := w.emit(from, to, layers.TCP{PSH: len(b) == 0, ACK: true}, part, comment); err != nil {
			return err
		}
		from.seq += uint32(len(part))
		comment = ""
	}
	return nil
}

// emit writes one packet.
func (w *Writer) emit(from, to *endpoint, tcp layers.TCP, payload []byte, comment string) error {
	ip := layers.IPv4{
		Version:  4,
		TTL:      64,
		Protocol: layers.IPProtocolTCP,
		Flags:    layers.IPv4DontFragment,
		SrcIP:    from.ip,
		DstIP:    to.ip,
	}
	tcp.SrcPort, tcp.DstPort, tcp.Seq, tcp.Window = from.port, to.port, from.seq, 1<<16-1
	if tcp.ACK {
		tcp.Ack = to.seq
	}
	if err := tcp.SetNetworkLayerForChecksum(&ip); err != nil {
		return err
	}
	if err := gopacket.SerializeLayers(w.packet, gopacket.SerializeOptions{
		FixLengths:       true,
		ComputeChecksums: true,
	}, &ip, &tcp, gopacket.Payload(payload)); err != nil {
		return err
	}
	var options pcapgo.NgPacketOptions
	if comment != "" {
		options.Comments = []string{comment}
	}
	data := w.packet.Bytes()
	info := gopacket.CaptureInfo{Timestamp: w.last, CaptureLength: len(data), Length: len(data)}
	return w.ng.WritePacketWithOptions(info, data, options)
}
