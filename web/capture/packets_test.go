package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// pcapng puts the packets of a pcap file into the other format.
func pcapng(t testing.TB, link layers.LinkType, packets ...tcpPacket) []byte {
	t.Helper()
	r, err := pcapgo.NewReader(bytes.NewReader(pcap(t, link, packets...)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, link)
	if err != nil {
		t.Fatal(err)
	}
	for range packets {
		data, ci, err := r.ReadPacketData()
		if err != nil {
			t.Fatal(err)
		}
		ci.InterfaceIndex = 0
		if err := w.WritePacket(ci, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCutOffCaptures(t *testing.T) {
	want := numbered(3, 10)
	var packets []tcpPacket
	seq := uint32(0)
	for _, m := range want {
		packets = append(packets, tcpPacket{src: broker, dst: client, seq: seq, payload: m.frames()})
		seq += uint32(len(m.frames()))
	}
	for name, file := range map[string][]byte{
		"pcap":   pcap(t, layers.LinkTypeEthernet, packets...),
		"pcapng": pcapng(t, layers.LinkTypeEthernet, packets...),
	} {
		shorter := [][]byte{
			pcap(t, layers.LinkTypeEthernet),
			pcap(t, layers.LinkTypeEthernet, packets[:1]...),
			pcap(t, layers.LinkTypeEthernet, packets[:2]...),
			file,
		}
		if name == "pcapng" {
			shorter = [][]byte{
				pcapng(t, layers.LinkTypeEthernet),
				pcapng(t, layers.LinkTypeEthernet, packets[:1]...),
				pcapng(t, layers.LinkTypeEthernet, packets[:2]...),
				file,
			}
		}
		sectionHeader := int(binary.LittleEndian.Uint32(file[4:]))
		for n := 4; n < len(file); n++ {
			whole, boundary := 0, false
			for i, s := range shorter {
				if len(s) <= n {
					whole = i
				}
				boundary = boundary || len(s) == n
			}
			got, _, err := read(t, file[:n])
			allSame(t, got, want[:whole]...)
			// Before its first interface a pcapng has a section header of its own, after which it
			// may end.
			if name == "pcapng" && n < len(shorter[0]) {
				continue
			}
			if boundary != (err == nil) {
				t.Fatalf("%s: %d of %d bytes: %v", name, n, len(file), err)
			}
			if boundary {
				continue
			}
			where := 0
			if n > len(shorter[0]) {
				where = len(shorter[whole])
			}
			if name == "pcapng" && whole == 0 {
				where = sectionHeader // behind which the first packet was looked for
			}
			if e, ok := errors.AsType[*Error](err); !ok || e.Offset != int64(where) || !errors.Is(err, errTruncated) {
				t.Fatalf("%s: %d of %d bytes: %v, want offset %d", name, n, len(file), err, where)
			}
		}
	}
}

func TestErrorSaysWhere(t *testing.T) {
	for want, e := range map[string]*Error{
		"a.pcap: at byte 4660 (0x1234): bad": {Name: "a.pcap", Offset: 0x1234, Err: errors.New("bad")},
		"a.zip: bad":                         {Name: "a.zip", Offset: -1, Err: errors.New("bad")},
		"a.jsonl: line 2: bad":               {Name: "a.jsonl", Line: 2, Err: errors.New("bad")},
		"a.zip: 7/body.bin: bad":             {Name: "a.zip", Entry: "7/body.bin", Err: errors.New("bad")},
	} {
		if e.Error() != want {
			t.Errorf("got %q, want %q", e.Error(), want)
		}
	}
}

// Lengths that nothing stands behind take no memory, and end the reading.
func TestLyingLengths(t *testing.T) {
	file := pcap(t, layers.LinkTypeRaw, inbound(1, numbered(1, 10)[0].frames(), 1<<16)...)
	binary.LittleEndian.PutUint32(file[16:], 0xffffffff) // snap length
	lie := append(bytes.Clone(file), file[24:40]...)
	binary.LittleEndian.PutUint32(lie[len(lie)-8:], 0xfffffff0)
	binary.LittleEndian.PutUint32(lie[len(lie)-4:], 0xfffffff0)
	got, _, err := read(t, lie)
	if len(got) != 1 || !errors.Is(err, errTruncated) {
		t.Errorf("%d messages, %v", len(got), err)
	}
	// The same with octets behind it, more than a packet has.
	got, _, err = read(t, append(lie, make([]byte, maxPacket+4*readBuffer)...))
	if len(got) != 1 || !errors.Is(err, errOversize) {
		t.Errorf("%d messages, %v", len(got), err)
	}
	// Descriptions of interfaces without end.
	ng := pcapng(t, layers.LinkTypeRaw)
	section := int(binary.LittleEndian.Uint32(ng[4:]))
	endless := append(ng[:section:section], bytes.Repeat(ng[section:], 2*maxPacket/(len(ng)-section))...)
	if _, _, err := read(t, endless); !errors.Is(err, errInterfaces) {
		t.Errorf("endless interfaces: %v", err)
	}
}

// Captures of networks in networks, and on the interface named any.
func TestEncapsulations(t *testing.T) {
	m := numbered(1, 100)[0]
	p := tcpPacket{src: broker, dst: client, seq: 1, payload: m.frames()}
	inner := p.encode(t, layers.LinkTypeEthernet)
	b := gopacket.NewSerializeBuffer()
	udp := &layers.UDP{SrcPort: 55555, DstPort: 4789}
	ip := &layers.IPv4{
		Version:  4,
		TTL:      9,
		Protocol: layers.IPProtocolUDP,
		SrcIP:    []byte{10, 0, 0, 1},
		DstIP:    []byte{10, 0, 0, 2},
	}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{
		FixLengths:       true,
		ComputeChecksums: true,
	}, ip, udp, &layers.VXLAN{
		ValidIDFlag: true,
		VNI:         3,
	}, gopacket.Payload(inner)); err != nil {
		t.Fatal(err)
	}
	sll := append([]byte{0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0}, p.encode(t, layers.LinkTypeRaw)...)
	for link, packet := range map[layers.LinkType][]byte{
		layers.LinkTypeRaw:      b.Bytes(),
		layers.LinkTypeLinuxSLL: sll,
		layers.LinkTypeIPv4:     p.encode(t, layers.LinkTypeRaw),
	} {
		var file bytes.Buffer
		w := pcapgo.NewWriter(&file)
		if err := w.WriteFileHeader(1<<18, link); err != nil {
			t.Fatal(err)
		}
		if err := w.WritePacket(gopacket.CaptureInfo{
			Timestamp:     noon,
			CaptureLength: len(packet),
			Length:        len(packet),
		}, packet); err != nil {
			t.Fatal(err)
		}
		got, report := readWhole(t, file.Bytes())
		if len(got) != 1 {
			t.Fatalf("%s: %d messages, %+v", link, len(got), report)
		}
		m.same(t, got[0])
		if want := noon.Truncate(1000); !got[0].Received().Equal(want) {
			t.Errorf("%s: received %v, want %v", link, got[0].Received(), want)
		}
	}
}

func TestNotes(t *testing.T) {
	r := Report{Incomplete: 1, Breaks: 2, Clipped: 3, Foreign: 4, Encrypted: 5, AMQP10: 6}
	notes := r.Notes()
	if len(notes) != 6 {
		t.Fatalf("%d notes", len(notes))
	}
	sum := r
	sum.Add(r)
	for i, note := range sum.Notes() {
		if !strings.Contains(note, fmt.Sprint(2*(i+1))) {
			t.Errorf("note %d is %q", i, note)
		}
	}
}
