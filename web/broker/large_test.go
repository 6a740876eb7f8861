package broker

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/spool"
)

// heapInUse is how much of the heap is in use after a collection.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestLargeBodiesGoToDisk: with a spool a body takes no more memory than its first mebibyte,
// whatever it is said to be and however much of it arrives.
func TestLargeBodiesGoToDisk(t *testing.T) {
	for _, tc := range []struct {
		name              string
		declared, arrives uint64
		whole             bool
	}{
		{"a body of 2^62 octets", 1 << 62, 256 << 20, false},
		{"the largest that fits, cut off", 900 << 20, 256 << 20, false},
		{"125 MiB", 125 << 20, 125 << 20, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sp := openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{MaxBytes: 1 << 30})
			c, err := New(Config{
				URL:     "amqp://",
				Queue:   "q",
				Mode:    source.Drain,
				Spool:   sp,
				Archive: archive.New(archive.Config{BodyLimit: 1000}),
			})
			if err != nil {
				t.Fatal(err)
			}
			s := newSink(c)
			chunk := bytes.Repeat([]byte("0123456789abcdef"), 8<<10) // 128 KiB
			before, most := heapInUse(), int64(0)
			s.Begin(&wire.Delivery{
				Channel:     1,
				DeliveryTag: 1,
				BodySize:    tc.declared,
				Header:      wire.AppendContentHeaderPayload(nil, tc.declared),
			})
			for n := uint64(0); n < tc.arrives; n += uint64(len(chunk)) {
				s.Body(1, chunk)
				if n%(32<<20) == 0 {
					most = max(most, heapInUse()-before)
				}
			}
			if tc.whole {
				s.End(1)
				until(t, "it is on disk", func() bool { return s.stored.Load() == 1 })
			} else {
				s.Abort(1, false)
			}
			s.store.finish()
			if most = max(most, heapInUse()-before); most > 3<<20 {
				t.Errorf("%d octets of heap", most)
			}
			t.Logf("%d KiB of heap", most>>10)
			left, err := filepath.Glob(filepath.Join(sp.Dir(), "arriving-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			if !tc.whole {
				return
			}
			m, err := c.cfg.Archive.Snapshot().Get(1)
			if err != nil || m.BodySize() != tc.declared || string(m.Body()) != strings.Repeat("0123456789abcdef", 63)[:1000] {
				t.Errorf("%v, %d octets, %q", err, m.BodySize(), m.Body())
			}
		})
	}
}
