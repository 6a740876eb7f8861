//go:build unix

package broker

import (
	"context"
	"math/rand"
	"runtime"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

// BenchmarkNodeCPU compares the processor time that this process takes for a message from a
// RabbitMQ node with that of a program that uses the AMQP library. cpu-ratio is ours by theirs.
//
//	go test -run '^$' -bench NodeCPU -benchtime 3x ./web/broker
func BenchmarkNodeCPU(b *testing.B) {
	const n = 20_000
	node := node.Node(b)
	vhost := node.VHost(b)
	conn, err := amqp.Dial(node.URL(vhost))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		b.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewSource(1))
	var messages []amqp.Publishing
	for range 500 {
		messages = append(messages, amqp.Publishing{
			Headers: libraryTable(fieldtable.View(specimens.Mix(r), fieldtable.RabbitMQ())),
			Body:    make([]byte, 1024),
		})
	}
	var ourCPU, theirCPU time.Duration
	for b.Loop() {
		for i := range 2 {
			var last *amqp.DeferredConfirmation
			for k := range n {
				message := messages[k%len(messages)]
				last, err = ch.PublishWithDeferredConfirmWithContext(b.Context(), "", "q", false, false, message)
				if err != nil {
					b.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
			if ok, err := last.WaitContext(ctx); !ok {
				b.Fatal(err)
			}
			cancel()
			a := archive.New(archive.Config{})
			runtime.GC()
			before := cpuTime(b)
			if i == 0 {
				ours(b, Config{URL: node.URL(vhost), AcceptLoss: true, Archive: a}, n)
				ourCPU += cpuTime(b) - before
			} else {
				theirs(b, node.URL(vhost), "q", n)
				theirCPU += cpuTime(b) - before
			}
		}
	}
	perMessage := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N*n) }
	b.ReportMetric(perMessage(ourCPU), "cpu-ns/message")
	b.ReportMetric(perMessage(theirCPU), "cpu-ns/message-amqp091-go")
	b.ReportMetric(float64(ourCPU)/float64(theirCPU), "cpu-ratio")
	b.ReportMetric(0, "ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// libraryTable is a table as the AMQP library publishes it: of the mix, what it can write.
func libraryTable(t fieldtable.Table) amqp.Table {
	out := amqp.Table{}
	for f, err := range t.All() {
		if err != nil {
			break
		}
		if v := libraryValue(f.Value); v != nil {
			out[string(f.Name)] = v
		}
	}
	return out
}

func libraryValue(v fieldtable.Value) any {
	if t, ok := v.Table(); ok {
		return libraryTable(t)
	}
	if a, ok := v.Array(); ok {
		list := []any{}
		for e, err := range a.All() {
			if x := libraryValue(e); err == nil && x != nil {
				list = append(list, x)
			}
		}
		return list
	}
	if n, ok := v.Int64(); ok {
		return n
	}
	if s, ok := v.Text(); ok {
		return string(s)
	}
	if flag, ok := v.Bool(); ok {
		return flag
	}
	if f, ok := v.Float64(); ok {
		return f
	}
	if ts, ok := v.Timestamp(); ok {
		return time.Unix(ts.Value, 0)
	}
	return nil
}
