package query

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/demoserver/traffic"
)

const demoMessages = 1_000_000

// demo is an archive of the demo's traffic, a millisecond apart.
func demo() *archive.Archive {
	g := traffic.New(1)
	a := archive.New(archive.Config{MaxBytes: 1 << 30, BodyLimit: -1})
	w := a.Writer()
	for i := range demoMessages {
		m := g.Next()
		w.Begin(&wire.Delivery{
			DeliveryTag: uint64(i + 1),
			Exchange:    []byte(m.Exchange),
			RoutingKey:  []byte(m.RoutingKey),
			Redelivered: m.Redelivered,
			Header:      m.Header,
			BodySize:    uint64(len(m.Body)),
		}, testTime.Add(time.Duration(i)*time.Millisecond))
		w.Commit()
	}
	return a
}

// needle is a filter for a value that few messages have, one from the middle.
func needle(b *testing.B, s archive.Snapshot, operandText string) string {
	b.Helper()
	o := operand(b, operandText)
	for m := range s.Backward(s.Last() / 2) {
		if c := o.Cell(m, nil, new(Scratch)); c.Set {
			return fmt.Sprintf("%s = '%s'", operandText, c.Text)
		}
	}
	b.Fatalf("no message has %s", operandText)
	return ""
}

// BenchmarkColumns asks a million messages of the demo, from columns and by reading every message,
// one beside the other: the best of some runs in ms, the ratio, and what the first question took,
// which builds the columns.
func BenchmarkColumns(b *testing.B) {
	made := sync.OnceValue(demo)
	for _, question := range []struct {
		name string
		ask  func(b *testing.B, s archive.Snapshot) func(PageRequest) (uint64, error)
	}{
		{"count", func(b *testing.B, s archive.Snapshot) func(PageRequest) (uint64, error) {
			return counting(b, s, "tenant = acme")
		}},
		{"needle", func(b *testing.B, s archive.Snapshot) func(PageRequest) (uint64, error) {
			return counting(b, s, needle(b, s, "$message_id"))
		}},
		{"header-needle", func(b *testing.B, s archive.Snapshot) func(PageRequest) (uint64, error) {
			return counting(b, s, needle(b, s, "traceparent"))
		}},
		{"and", func(b *testing.B, s archive.Snapshot) func(PageRequest) (uint64, error) {
			return counting(b, s, "tenant = acme AND $content_type LIKE 'application/%'")
		}},
		{"facet", func(b *testing.B, s archive.Snapshot) func(PageRequest) (uint64, error) {
			o := operand(b, "tenant")
			return func(r PageRequest) (uint64, error) {
				f, err := compile(b, "").Facet(context.Background(), s, r, o, 20)
				return f.With, err
			}
		}},
		{"histogram", func(b *testing.B, s archive.Snapshot) func(PageRequest) (uint64, error) {
			return func(r PageRequest) (uint64, error) {
				h, err := compile(b, "tenant = acme").Histogram(context.Background(), s, r, 120, nil, 5)
				return h.Matched, err
			}
		}},
		{"histogram-by-value", func(b *testing.B, s archive.Snapshot) func(PageRequest) (uint64, error) {
			o := operand(b, "tenant")
			return func(r PageRequest) (uint64, error) {
				h, err := compile(b, "").Histogram(context.Background(), s, r, 120, o, 5)
				return h.Matched, err
			}
		}},
	} {
		b.Run(question.name, func(b *testing.B) {
			a := made()
			ask := question.ask(b, a.Snapshot())
			took := func(r PageRequest) (time.Duration, uint64) {
				start := time.Now()
				n, err := ask(r)
				if err != nil || n == 0 {
					b.Fatalf("%d found, %v", n, err)
				}
				return time.Since(start), n
			}
			first, want := took(PageRequest{})
			plain, columns := time.Hour, time.Hour
			for b.Loop() {
				of, n := took(PageRequest{plain: true})
				plain = min(plain, of)
				if n != want {
					b.Fatalf("%d found by reading, %d by columns", n, want)
				}
				for range 10 {
					of, _ := took(PageRequest{})
					columns = min(columns, of)
				}
			}
			ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
			b.ReportMetric(ms(first), "first-ms")
			b.ReportMetric(ms(plain), "plain-ms")
			b.ReportMetric(ms(columns), "ms")
			b.ReportMetric(float64(plain)/float64(columns), "columns-x")
			b.ReportMetric(float64(a.Stats().Columns)/demoMessages, "columns-B/msg")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func counting(b *testing.B, s archive.Snapshot, filter string) func(PageRequest) (uint64, error) {
	b.Helper()
	q := compile(b, filter)
	return func(r PageRequest) (uint64, error) {
		n, err := q.Count(context.Background(), s, r)
		return n.Matched, err
	}
}
