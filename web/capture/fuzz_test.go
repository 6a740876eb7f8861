package capture

import (
	"runtime"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// FuzzCapture: no file of any format makes reading panic, keep more than it may, or lose count.
func FuzzCapture(f *testing.F) {
	ms := numbered(3, 700)
	packets := connected(7, octetsOf(ms...), 300)
	packets[1], packets[2] = packets[2], packets[1]
	f.Add(pcap(f, layers.LinkTypeEthernet, packets...))
	f.Add(pcapng(f, layers.LinkTypeRaw, packets[2:]...))
	f.Add([]byte(line(3, `,"body_base64":"YWJj"`) + "\n" + line(0, "")))
	f.Add(zipOf(f, zipFile{"1/content-header.bin", header(4)}, zipFile{"1/body.bin", header(9)}))
	f.Add(gzipped(f, pcap(f, layers.LinkTypeRaw, packets[:3]...)))
	a := archive.New(archive.Config{MaxBytes: 1 << 20, BodyLimit: 100})
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := fromBytes("fuzz", b)
		if err != nil {
			return
		}
		before := a.Stats().Stored
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		report, err := file.Read(t.Context(), Config{Archive: a, BodyLimit: 100})
		runtime.ReadMemStats(&end)
		if err != nil && err.Error() == "" {
			t.Error("an error without a word")
		}
		if got := a.Stats().Stored - before; got != report.Messages {
			t.Errorf("%d messages stored, %d reported", got, report.Messages)
		}
		// What gzip unpacks may be a thousand times as large.
		if file.Format() != Zip && b[0] != 0x1f && end.TotalAlloc-start.TotalAlloc > uint64(2000*len(b)+8<<20) {
			t.Errorf("%d bytes made it allocate %d", len(b), end.TotalAlloc-start.TotalAlloc)
		}
	})
}

// FuzzStream: whatever the octets are and however packets cut them, a stream finds the same
// messages, and accounts for all that it keeps.
func FuzzStream(f *testing.F) {
	f.Add(octetsOf(numbered(3, 50)...), uint8(9))
	f.Add(append([]byte("AMQP\x00\x00\x09\x01\x01\x00"), octetsOf(numbered(2, 0)...)...), uint8(1))
	a := archive.New(archive.Config{MaxBytes: 1 << 20, BodyLimit: 100})
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		var want string
		for _, step := range []int{len(b), int(size) + 1} {
			s := streams{recorder{writer: a.Writer()}, keeping{bodyLimit: 100, most: maxKept}}
			st := newStream(&s)
			for rest := b; len(rest) > 0; {
				n := min(len(rest), step)
				st.data(rest[:n], noon)
				rest = rest[n:]
			}
			st.end()
			if s.kept != 0 {
				t.Errorf("%d octets are still accounted for", s.kept)
			}
			got := s.String()
			if want == "" {
				want = got
			} else if got != want {
				t.Errorf("pieces of %d octets give %s, the whole %s", step, got, want)
			}
		}
	})
}
