package query

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// mixed is an archive of messages of the benchmark mix, made once for each size.
type mixed struct {
	once sync.Once
	s    archive.Snapshot
}

func (x *mixed) snapshot(messages int) archive.Snapshot {
	x.once.Do(func() {
		r := rand.New(rand.NewSource(1))
		tables := make([][]byte, 20_000)
		for i := range tables {
			tables[i] = specimens.Mix(r)
		}
		a := archive.New(archive.Config{MaxBytes: int64(messages)*800 + 64<<20})
		for i := range messages {
			appendMessage(a.Writer(), &testMessage{
				exchange: "amq.topic", key: "acme.orders.created",
				received: testTime.Add(time.Duration(i) * time.Millisecond),
				table:    tables[r.Intn(len(tables))],
				props: []wire.Property{
					{Name: "content_type", Raw: []byte("application/json")},
					{Name: "delivery_mode", Raw: []byte{2}},
					{Name: "message_id", Raw: []byte("5f2b7f3e-2d7a-4b0e-9f5e-3c1d2b4a6f70")},
				},
			})
		}
		x.s = a.Snapshot()
	})
	return x.s
}

// BenchmarkQueries reports ms per million messages for counts, and ms for a first
// page. The figures to reach are those of a million.
func BenchmarkQueries(b *testing.B) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		var archive mixed
		for _, filter := range []string{
			"x-death", "NOT x-death AND tenant", "tenant = 't7'", "tenant=t7", "retries > 2", "x-death[*].reason = rejected",
			"$routing_key = acme.orders.created", "$message_id = x", "malformed()", "missing", "tenant LIKE '%7'",
			"retries * 2 > 5", "retries + 1 = $priority", "anywhere('5f2b7f3e-none')", "anywhere('4711')",
		} {
			q := compile(b, filter)
			b.Run(fmt.Sprintf("%d/count/%s", size, filter), func(b *testing.B) {
				s := archive.snapshot(size)
				b.ReportAllocs()
				var n Count
				for b.Loop() {
					n, _ = q.Count(context.Background(), s, PageRequest{})
				}
				b.ReportMetric(float64(n.Matched), "matches")
				b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "ms")
			})
			b.Run(fmt.Sprintf("%d/page/%s", size, filter), func(b *testing.B) {
				s := archive.snapshot(size)
				b.ReportAllocs()
				for b.Loop() {
					_, _ = q.Page(context.Background(), s, PageRequest{})
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "ms")
			})
		}
	}
}
