package broker_test

import (
	"bytes"
	"context"
	"math/rand"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/fttest"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// scaleTables are distinct enough that no cache holds them all.
const scaleTables = 20_000

// BenchmarkScale holds a million messages of the mix and counts those of one tenant. The peer is amqp091-go's decoder over the
// same tables, which a program would run to ask each message; its time is divided by the cores, as if it scaled perfectly.
// Then the same count and a first page run while 20,000 messages a second with 1 KiB bodies arrive.
//
//	go test -run '^$' -bench Scale -benchtime 5x ./web/broker
func BenchmarkScale(b *testing.B) {
	const messages = 1_000_000
	r := rand.New(rand.NewSource(1))
	tables := make([][]byte, scaleTables)
	for i := range tables {
		tables[i] = fttest.Mix(r)
	}
	a := archive.New(archive.Config{MaxBytes: messages * 800})
	base := time.Now().Add(-messages * time.Millisecond)
	deliveries := make([]wire.Delivery, scaleTables)
	for i, t := range tables {
		deliveries[i] = wire.Delivery{Exchange: []byte("amq.topic"), RoutingKey: []byte("acme.orders.created"),
			Header: wire.AppendContentHeaderPayload(nil, 1024, wire.Property{Name: "headers", Raw: t}), BodySize: 1024}
	}
	w := a.Writer()
	for i := range messages {
		d := deliveries[r.Intn(scaleTables)]
		d.DeliveryTag = uint64(i + 1)
		w.Begin(&d, base.Add(time.Duration(i)*time.Millisecond))
		w.Commit()
	}
	peer := newPeer(b, tables)
	tenant, err := query.Compile(`tenant = 't7'`)
	if err != nil {
		b.Fatal(err)
	}
	key, err := query.Compile(`x-death`)
	if err != nil {
		b.Fatal(err)
	}
	cores := float64(runtime.GOMAXPROCS(0))
	count := func(q *query.Query) time.Duration {
		start := time.Now()
		if n, err := q.Count(context.Background(), a.Snapshot(), query.PageRequest{}); err != nil || n.Matched == 0 {
			b.Fatal(n, err)
		}
		return time.Since(start)
	}
	page := func(q *query.Query) time.Duration {
		start := time.Now()
		if p, err := q.Page(context.Background(), a.Snapshot(), query.PageRequest{Limit: 50}); err != nil || len(p.Messages) != 50 {
			b.Fatal(len(p.Messages), err)
		}
		return time.Since(start)
	}

	b.Run("idle", func(b *testing.B) {
		best := map[string]time.Duration{}
		for b.Loop() {
			for name, run := range map[string]func() time.Duration{
				"count-tenant": func() time.Duration { return count(tenant) },
				"count-key":    func() time.Duration { return count(key) },
				"page-tenant":  func() time.Duration { return page(tenant) },
				"page-key":     func() time.Duration { return page(key) },
				"decode":       func() time.Duration { start := time.Now(); peer.decode(); return time.Since(start) },
			} {
				took := run()
				if old, ok := best[name]; !ok || took < old {
					best[name] = took
				}
			}
		}
		for name, took := range best {
			if name != "decode" {
				b.ReportMetric(took.Seconds()*1000, "ms/"+name)
			}
		}
		perMessage := best["decode"].Seconds() / scaleTables
		b.ReportMetric(perMessage*messages/cores/best["count-tenant"].Seconds(), "count-tenant-x")
		b.ReportMetric(0, "ns/op")
	})

	b.Run("ingesting", func(b *testing.B) {
		const rate, perTick = 20_000, 200
		ctx, stop := context.WithCancel(context.Background())
		body := bytes.Repeat([]byte("x"), 1024)
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
					d := deliveries[stored%scaleTables]
					w.Begin(&d, time.Now())
					w.Body(body)
					w.Commit()
				}
			}
		}()
		var took []time.Duration
		for b.Loop() {
			took = append(took, count(tenant), page(tenant), count(key), page(key))
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
