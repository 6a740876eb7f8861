package broker

import (
	"context"
	"math/rand"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/web/demoserver"
	"github.com/headerglass/headerglass/web/spool"
)

const ingestMessages = 50_000

// ingestServer holds the same messages for both contenders: tables of the mix and bodies of
// bodySize octets.
func ingestServer(b *testing.B, bodySize int) *demoserver.Server {
	b.Helper()
	s, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{QueueLimit: ingestMessages})
	if err != nil {
		b.Fatal(err)
	}
	s.Declare("q")
	r := rand.New(rand.NewSource(1))
	body := make([]byte, bodySize)
	for range ingestMessages {
		m := demoserver.Message{
			Exchange:   "brightway.events",
			RoutingKey: "order.placed.acme",
			Header:     content(specimens.Mix(r), body),
			Body:       body,
		}
		if err := s.Publish(context.Background(), "q", m); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkIngestPeers compares the way from the socket into the archive, and into the spool, with
// the AMQP library's own way into a slice. The readers take turns; the best round of each counts,
// and …-x is how many times faster than the library's it is:
//
//	go test -run '^$' -bench IngestPeers -benchtime 5x ./web/broker
func BenchmarkIngestPeers(b *testing.B) {
	for _, size := range []struct {
		name string
		body int
	}{{"bodies=1KiB", 1024}, {"bodies=0", 0}} {
		b.Run(size.name, func(b *testing.B) {
			contenders := []struct {
				name string
				read func(b *testing.B, s *demoserver.Server)
				best time.Duration
			}{
				{
					name: "amqp091-go",
					read: func(b *testing.B, s *demoserver.Server) { theirs(b, s.URL(), "q", ingestMessages) },
				},
				{name: "archive", read: func(b *testing.B, s *demoserver.Server) {
					ours(b, Config{
						URL:        s.URL(),
						AcceptLoss: true,
						Archive:    archive.New(archive.Config{}),
					}, ingestMessages)
				}},
				{name: "headers-only", read: func(b *testing.B, s *demoserver.Server) {
					ours(b, Config{
						URL:        s.URL(),
						AcceptLoss: true,
						Archive:    archive.New(archive.Config{BodyLimit: -1}),
					}, ingestMessages)
				}},
				{name: "spool", read: func(b *testing.B, s *demoserver.Server) {
					sp, err := spool.Open(filepath.Join(b.TempDir(), "spool"), spool.Config{})
					if err != nil {
						b.Fatal(err)
					}
					defer sp.Close()
					ours(b, Config{URL: s.URL(), Spool: sp, Archive: archive.New(archive.Config{})}, ingestMessages)
				}},
			}
			for b.Loop() {
				for i := range contenders {
					s := ingestServer(b, size.body)
					runtime.GC()
					began := time.Now()
					contenders[i].read(b, s)
					took := time.Since(began)
					s.Close()
					if c := &contenders[i]; c.best == 0 || took < c.best {
						c.best = took
					}
				}
			}
			for _, c := range contenders {
				b.ReportMetric(ingestMessages/c.best.Seconds(), "msgs/s-"+c.name)
				if c.name != "amqp091-go" {
					b.ReportMetric(contenders[0].best.Seconds()/c.best.Seconds(), c.name+"-x")
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// ours drains n messages and acknowledges them.
func ours(b *testing.B, cfg Config, n uint64) {
	b.Helper()
	cfg.Queue, cfg.Mode = "q", source.Drain
	c, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	// Archive.Wait would wake this goroutine for every message
	tick := time.NewTicker(time.Millisecond)
	for c.counts.stored.Load() < n {
		<-tick.C
	}
	tick.Stop()
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

// theirs reads n messages as a program that uses the AMQP library does, keeps them and acknowledges
// them.
func theirs(b *testing.B, url, queue string, n int) {
	b.Helper()
	conn, err := amqp.Dial(url)
	if err != nil {
		b.Fatal(err)
	}
	ch, err := conn.Channel()
	if err != nil {
		b.Fatal(err)
	}
	if err := ch.Qos(DefaultPrefetch, 0, false); err != nil {
		b.Fatal(err)
	}
	deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		b.Fatal(err)
	}
	kept := make([]amqp.Delivery, 0, n)
	for d := range deliveries {
		kept = append(kept, d)
		if len(kept)%(DefaultPrefetch/4) == 0 || len(kept) == n {
			if err := d.Ack(true); err != nil {
				b.Fatal(err)
			}
		}
		if len(kept) == n {
			break
		}
	}
	if err := conn.Close(); err != nil {
		b.Fatal(err)
	}
}
