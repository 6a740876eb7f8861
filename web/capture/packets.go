package capture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

const (
	// maxPacket is the largest packet, in octets. It bounds what comes between packets too:
	// descriptions of interfaces, names, secrets.
	maxPacket = 16 << 20
	// perPacket is how much more may come between packets for each packet.
	perPacket = 1 << 10
	// betweenChecks is how many packets are read between two looks at the context.
	betweenChecks = 256
)

// packetSource reads packets from a file. The data is valid until the next call.
type packetSource interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// readPackets reads a pcap or pcapng file into f.
func readPackets(ctx context.Context, r io.Reader, format Format, f *flows) error {
	defer f.finish()
	if format == Pcapng {
		r = &interfaceLimit{r: r}
	}
	meter := &meter{r: r, allowance: maxPacket}
	in := bufio.NewReaderSize(meter, readBuffer)
	start := int64(0)
	fail := func(err error) error { return &Error{Offset: start, Err: err} }

	var source packetSource
	var linkType func(gopacket.CaptureInfo) layers.LinkType
	if format == Pcapng {
		ng, err := pcapgo.NewNgReader(in, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
		if err != nil {
			return fail(truncated(err))
		}
		source = ng
		linkType = func(ci gopacket.CaptureInfo) layers.LinkType {
			t, _ := ci.AncillaryData[0].(layers.LinkType)
			return t
		}
	} else {
		old, err := pcapgo.NewReader(in)
		if err != nil {
			return fail(truncated(err))
		}
		source = old
		linkType = func(gopacket.CaptureInfo) layers.LinkType { return old.LinkType() }
	}
	for {
		if f.Packets%betweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		start = meter.n - int64(in.Buffered())
		data, ci, err := source.ZeroCopyReadPacketData()
		if err != nil {
			// In pcap an end right after a packet's header is reported like one before it.
			if errors.Is(err, io.EOF) && (format == Pcapng || meter.n-int64(in.Buffered()) == start) {
				return nil
			}
			return fail(truncated(err))
		}
		meter.allowance = min(maxPacket, meter.allowance+int64(len(data))+perPacket)
		f.Packets++
		f.decode(data, ci, linkType(ci))
	}
}

// truncated names the end of the file for what it is.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return err
}

var (
	errTruncated = errors.New("the file ends in the middle of a packet")
	errOversize  = fmt.Errorf("%d MiB follow in which no packet ends", maxPacket>>20)
)

// meter counts what is read and stops where a file takes more than its allowance to the end of the
// next packet.
type meter struct {
	r         io.Reader
	n         int64
	allowance int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.allowance < -readBuffer {
		return 0, errOversize
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	m.allowance -= int64(n)
	return n, err
}

// decode finds the TCP segment in a packet, the innermost one where one network is carried by
// another.
func (a *flows) decode(data []byte, ci gopacket.CaptureInfo, t layers.LinkType) {
	switch {
	case t == layers.LinkTypeIPv4 || t == layers.LinkTypeIPv6:
		t = layers.LinkTypeRaw
	case t >= layers.LinkTypeMax:
		a.Foreign++
		return
	}
	// Damage, a panic included, becomes the packet's last layer.
	p := gopacket.NewPacket(data, t, gopacket.DecodeOptions{NoCopy: true})
	var k flowKey
	var tcp *layers.TCP
	for _, l := range p.Layers() {
		switch l := l.(type) {
		case *layers.IPv4:
			k = addresses(l.SrcIP, l.DstIP)
		case *layers.IPv6:
			k = addresses(l.SrcIP, l.DstIP)
		case *layers.TCP:
			tcp = l
			k.src = netip.AddrPortFrom(k.src.Addr(), uint16(l.SrcPort))
			k.dst = netip.AddrPortFrom(k.dst.Addr(), uint16(l.DstPort))
		}
	}
	clipped := max(0, ci.Length-ci.CaptureLength)
	if clipped > 0 {
		a.Clipped++
	}
	switch {
	case tcp != nil:
		a.packet(k, segment{seq: tcp.Seq, syn: tcp.SYN, data: tcp.Payload, clipped: clipped, at: ci.Timestamp})
	case len(p.Layers()) == 0 || p.Layers()[0].LayerType() == gopacket.LayerTypeDecodeFailure:
		a.Foreign++
	}
}

func addresses(src, dst []byte) flowKey {
	s, _ := netip.AddrFromSlice(src)
	d, _ := netip.AddrFromSlice(dst)
	return flowKey{netip.AddrPortFrom(s.Unmap(), 0), netip.AddrPortFrom(d.Unmap(), 0)}
}
