package broker_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// scaleTables are distinct enough that no cache holds them all.
const scaleTables = 20_000

// scale is an archive of messages of the mix, a millisecond apart.
type scale struct {
	*archive.Archive
	tables     [][]byte
	deliveries []wire.Delivery
	// What a search for octets finds in the tables, to compare counts with.
	tenants, deaths uint64
	heap            float64 // octets a message
}

func newScale(messages int) *scale {
	r := rand.New(rand.NewSource(1))
	s := &scale{tables: make([][]byte, scaleTables), deliveries: make([]wire.Delivery, scaleTables)}
	tenant, death := []byte("\x06tenantS\x00\x00\x00\x02t7"), []byte("\x07x-deathA")
	for i := range s.tables {
		s.tables[i] = specimens.Mix(r)
		s.deliveries[i] = wire.Delivery{
			Exchange:   []byte("amq.topic"),
			RoutingKey: []byte("acme.orders.created"),
			Header:     wire.AppendContentHeaderPayload(nil, 1024, wire.Property{Name: "headers", Raw: s.tables[i]}),
			BodySize:   1024,
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s.Archive = archive.New(archive.Config{MaxBytes: int64(messages)*800 + 64<<20})
	base := time.Now().Add(time.Duration(-messages) * time.Millisecond)
	w := s.Writer()
	for i := range messages {
		n := r.Intn(scaleTables)
		d := s.deliveries[n]
		d.DeliveryTag = uint64(i + 1)
		w.Begin(&d, base.Add(time.Duration(i)*time.Millisecond))
		w.Commit()
		if bytes.Contains(s.tables[n], tenant) {
			s.tenants++
		}
		if bytes.Contains(s.tables[n], death) {
			s.deaths++
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	s.heap = float64(after.HeapAlloc-before.HeapAlloc) / float64(messages)
	return s
}

// count returns how long a filter takes over everything. It fails unless it finds as many as
// wanted, or some where want is 0.
func (s *scale) count(b *testing.B, filter string, want uint64) time.Duration {
	b.Helper()
	q, err := query.Compile(filter)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	n, err := q.Count(context.Background(), s.Snapshot(), query.PageRequest{})
	took := time.Since(start)
	if err != nil || n.Matched == 0 || want > 0 && n.Matched != want {
		b.Fatalf("%s: %d, %v, want %d", filter, n.Matched, err, want)
	}
	return took
}

// page returns how long the newest 50 matches take.
func (s *scale) page(b *testing.B, filter string) time.Duration {
	b.Helper()
	q, err := query.Compile(filter)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	p, err := q.Page(context.Background(), s.Snapshot(), query.PageRequest{Limit: 50})
	took := time.Since(start)
	if err != nil || len(p.Messages) != 50 {
		b.Fatalf("%s: %d messages, %v", filter, len(p.Messages), err)
	}
	return took
}

// best keeps the shortest time under each name.
type best map[string]time.Duration

func (b best) add(name string, took time.Duration) {
	if old, ok := b[name]; !ok || took < old {
		b[name] = took
	}
}

func (b best) report(to *testing.B, names ...string) {
	for _, name := range names {
		to.ReportMetric(b[name].Seconds()*1000, "ms/"+name)
	}
	to.ReportMetric(0, "ns/op")
}

const tenantFilter, deathFilter = "tenant = 't7'", "x-death"

// BenchmarkScale holds a million messages of the mix and counts those of one tenant. The peer is
// amqp091-go's decoder over the same tables, which a program would run to ask each message; its
// time is divided by the cores, as if it scaled perfectly. Then the same counts and first pages run
// while 20,000 messages a second with 1 KiB bodies arrive.
//
//	go test -run '^$' -bench Scale -benchtime 10x ./web/broker
func BenchmarkScale(b *testing.B) {
	const messages = 1_000_000
	s := newScale(messages)
	peer := newPeer(b, s.tables)
	cores := float64(runtime.GOMAXPROCS(0))

	b.Run("idle", func(b *testing.B) {
		best := best{}
		for b.Loop() {
			best.add("count-tenant", s.count(b, tenantFilter, s.tenants))
			best.add("count-key", s.count(b, deathFilter, s.deaths))
			best.add("page-tenant", s.page(b, tenantFilter))
			best.add("page-key", s.page(b, deathFilter))
			start := time.Now()
			peer.decode()
			best.add("decode", time.Since(start))
		}
		perMessage := best["decode"].Seconds() / scaleTables
		b.ReportMetric(perMessage*messages/cores/best["count-tenant"].Seconds(), "count-tenant-x")
		b.ReportMetric(s.heap, "heap-B/message")
		best.report(b, "count-tenant", "count-key", "page-tenant", "page-key")
	})

	b.Run("ingesting", func(b *testing.B) {
		const rate, perTick = 20_000, 200
		ctx, stop := context.WithCancel(context.Background())
		body := bytes.Repeat([]byte("x"), 1024)
		w := s.Writer()
		stored, done := 0, make(chan struct{})
		start := time.Now()
		go func() {
			defer close(done)
			tick := time.NewTicker(time.Second * perTick / rate)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				// What a late tick missed is made up for, as a broker would.
				for due := int(time.Since(start).Seconds() * rate); stored < due; stored++ {
					d := s.deliveries[stored%scaleTables]
					w.Begin(&d, time.Now())
					w.Body(body)
					w.Commit()
				}
			}
		}()
		var took []time.Duration
		for b.Loop() {
			// Columns answer at once, and a rate wants a while.
			for until := time.Now().Add(time.Second); time.Now().Before(until); {
				took = append(
					took,
					s.count(b, tenantFilter, 0),
					s.page(b, tenantFilter),
					s.count(b, deathFilter, 0),
					s.page(b, deathFilter),
				)
			}
		}
		stop()
		<-done
		elapsed := time.Since(start)
		slices.Sort(took)
		b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "ms/p99")
		b.ReportMetric(float64(stored)/elapsed.Seconds()/rate, "ingest-share")
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkGrowth asks the same of archives of several sizes; gc is a whole collection of garbage.
// The largest takes 7 GB.
//
//	go test -run '^$' -bench Growth -benchtime 10x ./web/broker
func BenchmarkGrowth(b *testing.B) {
	for _, messages := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			s := newScale(messages)
			best := best{}
			for b.Loop() {
				best.add("count-tenant", s.count(b, tenantFilter, s.tenants))
				best.add("count-key", s.count(b, deathFilter, s.deaths))
				best.add("page-tenant", s.page(b, tenantFilter))
				start := time.Now()
				runtime.GC()
				best.add("gc", time.Since(start))
			}
			b.ReportMetric(s.heap, "heap-B/message")
			best.report(b, "count-tenant", "count-key", "page-tenant", "gc")
		})
	}
}
