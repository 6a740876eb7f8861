package query

import (
	"sync"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

// TestQueriesDuringIngestAndEviction asks of snapshots while the writer goes on:
// each must answer for exactly the messages that it holds.
func TestQueriesDuringIngestAndEviction(t *testing.T) {
	a := archive.New(archive.Config{MaxBytes: 512 << 10, SegmentBytes: 64 << 10, MaxShapes: 50})
	tables := make([][]byte, 97)
	for i := range tables {
		tables[i] = encode.Table(func(e *encode.Encoder) {
			e.Int32("n", int32(i))
			if i%2 == 0 {
				e.Str("even", "yes")
			}
			e.Void([]string{"a", "b", "c", "d", "e"}[i%5])
		})
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for i := range 60_000 {
			appendMessage(a.Writer(), &testMessage{received: testTime, table: tables[i%len(tables)]})
		}
	})
	even, all, value, odd := compile(
		t,
		"even",
	), compile(
		t,
		"",
	), compile(
		t,
		"even = yes",
	), compile(
		t,
		"NOT even AND n >= 0",
	)
	for range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					if i > 10 {
						return
					}
				default:
				}
				s := a.Snapshot()
				want := [2]uint64{}
				for m := range s.Forward(0) {
					want[(m.Seq()-1)%uint64(len(tables))%2]++
				}
				for _, c := range []struct {
					q    *Filter
					want uint64
				}{{even, want[0]}, {value, want[0]}, {odd, want[1]}, {all, uint64(s.Len())}} {
					n, err := c.q.Count(t.Context(), s, PageRequest{})
					if err != nil || n.Matched != c.want {
						t.Errorf("%q of %d … %d: %d, want %d; %v", c.q, s.First(), s.Last(), n.Matched, c.want, err)
						return
					}
				}
				p, err := value.Page(t.Context(), s, PageRequest{Limit: 10})
				if err != nil || want[0] >= 10 && len(p.Messages) != 10 {
					t.Errorf("page of %d: %v", len(p.Messages), err)
					return
				}
			}
		})
	}
	wg.Wait()
}
