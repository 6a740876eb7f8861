package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// sectionOf is a pcapng section with n interfaces of Ethernet and no packet.
func sectionOf(order binary.AppendByteOrder, n int) []byte {
	b := order.AppendUint32(nil, sectionHeader)
	b = order.AppendUint32(b, 28)
	b = order.AppendUint32(b, 0x1a2b3c4d)
	b = order.AppendUint16(order.AppendUint16(b, 1), 0)
	b = order.AppendUint64(b, ^uint64(0))
	b = order.AppendUint32(b, 28)
	for range n {
		b = order.AppendUint32(b, interfaceDescription)
		b = order.AppendUint32(b, 20)
		b = order.AppendUint16(order.AppendUint16(b, 1), 0)
		b = order.AppendUint32(b, 0)
		b = order.AppendUint32(b, 20)
	}
	return b
}

func TestInterfacesAreBounded(t *testing.T) {
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		t.Run(name, func(t *testing.T) {
			many := sectionOf(order, maxInterfaces)
			two := append(append([]byte(nil), many...), many...)
			for _, r := range []io.Reader{bytes.NewReader(two), iotest.OneByteReader(bytes.NewReader(two))} {
				if n, err := io.Copy(io.Discard, &interfaceLimit{r: r}); err != nil || n != int64(len(two)) {
					t.Errorf("two sections of as many as there may be: %d, %v", n, err)
				}
			}
			endless := bytes.NewReader(sectionOf(order, maxInterfaces+1))
			if _, err := io.Copy(io.Discard, &interfaceLimit{r: endless}); err != errInterfaces {
				t.Errorf("one more: %v", err)
			}
		})
	}
}

// TestManyInterfacesTakeLittleMemory: half a million of them, 10 MB of a file, are refused before
// they take a tenth of what they would.
func TestManyInterfacesTakeLittleMemory(t *testing.T) {
	file := sectionOf(binary.LittleEndian, 500_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := New("many.pcapng", bytes.NewReader(file), int64(len(file)))
	if err == nil {
		_, err = f.Read(t.Context(), Config{Archive: archive.New(archive.Config{MaxBytes: 1 << 20})})
	}
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "more than 10000 interfaces") {
		t.Errorf("%v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 24<<20 {
		t.Errorf("%d octets were allocated", took)
	}
}

// FuzzInterfaceLimit: what is no pcapng passes through.
func FuzzInterfaceLimit(f *testing.F) {
	f.Add(sectionOf(binary.LittleEndian, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := io.ReadAll(&interfaceLimit{r: iotest.HalfReader(bytes.NewReader(b))})
		if err != errInterfaces && (err != nil || !bytes.Equal(got, b)) {
			t.Errorf("%d of %d octets, %v", len(got), len(b), err)
		}
	})
}
