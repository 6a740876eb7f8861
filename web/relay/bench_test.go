package relay

import (
	"bytes"
	"io"
	"math"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// plain starts the relay that the benchmarks compare with, two times io.Copy, and returns its
// address.
func plain(tb testing.TB, target string) string {
	l := listen(tb)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				in.Close()
				return
			}
			both := func(dst, src net.Conn) {
				_, _ = io.Copy(dst, src)
				_ = dst.(*net.TCPConn).CloseWrite()
			}
			go both(out, in)
			go both(in, out)
		}
	}()
	return l.Addr().String()
}

// peerOf starts a broker that does serve with each connection, and returns its address.
func peerOf(tb testing.TB, serve func(net.Conn)) string {
	l := listen(tb)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

// BenchmarkThroughput sends messages of 1 KiB, a write each, through a plain relay and through this
// one, in turn, and compares the best rounds:
//
//	go test -run '^$' -bench Throughput -benchtime 10x ./web/relay
func BenchmarkThroughput(b *testing.B) {
	broker := peerOf(b, func(c net.Conn) { _, _ = io.Copy(io.Discard, struct{ io.Reader }{c}) })
	a := archive.New(archive.Config{MaxBytes: 64 << 20})
	r := run(b, Config{Address: broker, Archive: a})
	contenders := []struct {
		address string
		best    time.Duration
	}{{plain(b, broker), math.MaxInt64}, {r.address, math.MaxInt64}}
	message := published("orders", "placed", 0, tenants("acme"), bytes.Repeat([]byte("x"), 1024))
	const messages = 200_000
	for b.Loop() {
		for i := range contenders {
			c, err := net.Dial("tcp", contenders[i].address)
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			if _, err := c.Write([]byte(opening)); err != nil {
				b.Fatal(err)
			}
			for range messages {
				if _, err := c.Write(message); err != nil {
					b.Fatal(err)
				}
			}
			_ = c.(*net.TCPConn).CloseWrite()
			if _, err := io.ReadAll(c); err != nil { // the broker closes when it has read all
				b.Fatal(err)
			}
			contenders[i].best = min(contenders[i].best, time.Since(start))
			c.Close()
		}
	}
	seen, sent := float64(a.Stats().Stored), float64(messages)*float64(b.N)
	b.ReportMetric(messages/contenders[0].best.Seconds(), "msgs/s-plain")
	b.ReportMetric(messages/contenders[1].best.Seconds(), "msgs/s-relay")
	b.ReportMetric(contenders[0].best.Seconds()/contenders[1].best.Seconds(), "relay/plain")
	b.ReportMetric(seen/sent, "shown/sent")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLatency sends one message of 1 KiB at a time to a broker that answers with an octet,
// directly, through a plain relay and through this one, in turn, and reports the medians.
func BenchmarkLatency(b *testing.B) {
	message := published("orders", "placed", 0, tenants("acme"), bytes.Repeat([]byte("x"), 1024))
	broker := peerOf(b, func(c net.Conn) {
		in := make([]byte, len(opening))
		_, _ = io.ReadFull(c, in)
		in = make([]byte, len(message))
		for {
			if _, err := io.ReadFull(c, in); err != nil {
				return
			}
			if _, err := c.Write([]byte{8}); err != nil {
				return
			}
		}
	})
	r := run(b, Config{Address: broker})
	addresses := []string{broker, plain(b, broker), r.address}
	conns := make([]net.Conn, len(addresses))
	for i, address := range addresses {
		c, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte(opening)); err != nil {
			b.Fatal(err)
		}
		conns[i] = c
	}
	times := make([][]time.Duration, len(conns))
	answer := make([]byte, 1)
	for b.Loop() {
		for i, c := range conns {
			start := time.Now()
			if _, err := c.Write(message); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(c, answer); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	var medians []float64
	for _, t := range times {
		slices.Sort(t)
		medians = append(medians, float64(t[len(t)/2].Nanoseconds())/1000)
	}
	b.ReportMetric(medians[0], "µs-direct")
	b.ReportMetric(medians[1], "µs-plain")
	b.ReportMetric(medians[2], "µs-relay")
	b.ReportMetric(medians[2]-medians[0], "µs-added")
	b.ReportMetric(0, "ns/op")
}
