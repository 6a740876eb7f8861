package archive

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// mixHeaders returns content headers with tables of the mix.
func mixHeaders(n, bodySize int) [][]byte {
	r := rand.New(rand.NewSource(1))
	headers := make([][]byte, n)
	for i := range headers {
		headers[i] = headerOf(specimens.Mix(r), bodySize)
	}
	return headers
}

func BenchmarkAppend(b *testing.B) {
	for _, bodyBytes := range []int{1024, 0} {
		b.Run(fmt.Sprintf("body=%d", bodyBytes), func(b *testing.B) {
			headers := mixHeaders(4000, bodyBytes)
			body := make([]byte, bodyBytes)
			a := New(Config{MaxBytes: 256 << 20})
			w := a.Writer()
			d := wire.Delivery{
				Exchange:   []byte("amq.topic"),
				RoutingKey: []byte("orders.created"),
				BodySize:   uint64(bodyBytes),
			}
			put := func(i int) {
				d.Header = headers[i%len(headers)]
				w.Begin(&d, epoch.Add(time.Duration(i)*time.Microsecond))
				w.Body(body)
				w.Commit()
			}
			// By then the memory of evicted segments goes round.
			i := 0
			for written := int64(0); written < 3*a.cfg.MaxBytes; i++ {
				put(i)
				written += int64(len(d.Header) + bodyBytes)
			}
			b.ReportAllocs()
			for b.Loop() {
				put(i)
				i++
			}
		})
	}
}

func filled(b *testing.B, messages int) *Archive {
	b.Helper()
	headers := mixHeaders(4000, 0)
	a := New(Config{MaxBytes: 2 << 30})
	w := a.Writer()
	d := wire.Delivery{Exchange: []byte("amq.topic"), RoutingKey: []byte("orders.created")}
	for i := range messages {
		d.Header = headers[i%len(headers)]
		w.Begin(&d, epoch)
		w.Commit()
	}
	if a.Snapshot().Len() != messages {
		b.Fatal("messages were evicted")
	}
	return a
}

// BenchmarkMillion asks about a million messages.
func BenchmarkMillion(b *testing.B) {
	a := filled(b, 1_000_000)
	b.Run("CountByKey", func(b *testing.B) {
		for b.Loop() {
			s := a.Snapshot()
			counts, n := s.ShapeCounts(), uint64(0)
			for id, sh := range s.Shapes() {
				if _, ok := sh.Tag("tenant"); ok {
					n += counts[id]
				}
			}
			if n == 0 {
				b.Fatal("none found")
			}
		}
	})
	b.Run("ScanShapes", func(b *testing.B) {
		for b.Loop() {
			s := a.Snapshot()
			n := 0
			for g, count := range s.SegmentsBackward(0) {
				for i := count - 1; i >= 0; i-- {
					if g.ShapeAt(i) == 1 {
						n++
					}
				}
			}
			if n == 0 {
				b.Fatal("none found")
			}
		}
	})
	b.Run("Keys", func(b *testing.B) {
		for b.Loop() {
			a.Snapshot().Keys()
		}
	})
	b.Run("Forward", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for m := range a.Snapshot().Forward(0) {
				table, _ := m.HeaderTable()
				n += len(table)
			}
		}
	})
}

// BenchmarkMemory fills archives and reports the heap they take.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		bytesPer, encodedPer, objects := memoryFigures(1_000_000)
		b.ReportMetric(bytesPer, "heap-B/msg")
		b.ReportMetric(encodedPer, "encoded-B/msg")
		b.ReportMetric(float64(objects), "objects")
	}
}
