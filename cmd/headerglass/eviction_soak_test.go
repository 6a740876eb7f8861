//go:build soak && linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	randv2 "math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/demoserver"
)

// TestSoakMemoryIsBounded runs headerglass at full rate while eight scans and four downloads go on
// without end: the archive stays within --memory, the process within that, 15 % and 64 MiB, and
// less than 5 % of the time goes into garbage collection. It takes an hour, or HEADERGLASS_SOAK.
func TestSoakMemoryIsBounded(t *testing.T) {
	long := time.Hour
	if text := os.Getenv("HEADERGLASS_SOAK"); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	const memory = 256 << 20
	broker, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{QueueLimit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	broker.Declare("q")
	ctx, stop := context.WithTimeout(t.Context(), long)
	defer stop()
	var load sync.WaitGroup
	defer load.Wait()
	load.Go(func() {
		r := rand.New(rand.NewSource(1))
		var messages []demoserver.Message
		for range 5000 {
			body := make([]byte, r.Intn(2048))
			header := wire.AppendContentHeaderPayload(nil, uint64(len(body)), wire.Property{
				Name: "headers",
				Raw:  specimens.Mix(r),
			})
			messages = append(messages, demoserver.Message{
				Exchange:   "events",
				RoutingKey: "order.placed",
				Header:     header,
				Body:       body,
			})
		}
		for i := 0; broker.Publish(ctx, "q", messages[i%len(messages)]) == nil; i++ {
		}
	})
	c := startChild(
		t,
		[]string{"GODEBUG=gctrace=1"},
		"serve",
		"--amqp",
		broker.URL(),
		"--queue",
		"q",
		"--mode",
		"drain",
		"--accept-loss",
		"--listen",
		"127.0.0.1:0",
		"--memory",
		strconv.Itoa(memory),
		"--max-queries",
		"8",
	)
	status := func() (s struct{ Stored, Evicted, Bytes uint64 }) {
		resp, err := http.Get(c.site + "/api/status")
		if err != nil {
			t.Error(err)
			return s
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
			t.Error(err)
		}
		return s
	}
	var answers, failures atomic.Uint64
	get := func(path string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.site+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return // the end
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		answers.Add(1)
		if resp.StatusCode >= 500 && resp.StatusCode != http.StatusServiceUnavailable {
			failures.Add(1)
		}
	}
	for i := range 8 {
		load.Go(func() {
			for ctx.Err() == nil {
				get(fmt.Sprintf("/api/messages?limit=200&q=nothing-has-this%%3D%d", i))
			}
		})
	}
	for range 3 {
		load.Go(func() {
			for ctx.Err() == nil {
				s := status()
				get(fmt.Sprintf("/m/%d/body.bin", s.Evicted+1+randv2.Uint64N(max(s.Stored, 1))))
			}
		})
	}
	load.Go(func() {
		for ctx.Err() == nil {
			get("/export.jsonl?limit=2000")
		}
	})

	var most, late uint64
	began := time.Now()
	for tick := time.NewTicker(time.Second); ctx.Err() == nil; <-tick.C {
		rss := residentBytes(t, c.cmd.Process.Pid)
		most = max(most, rss)
		if time.Since(began) > long/2 {
			late = max(late, rss)
		}
		if s := status(); s.Bytes > memory {
			t.Errorf("the archive has %d bytes of %d", s.Bytes, uint64(memory))
		}
	}
	s := status()
	load.Wait()
	c.end(t)
	share := collecting(c.log.String())
	const bound = memory + memory*15/100 + 64<<20
	t.Logf(
		"%s: %d messages, %.0f a second, %d of them evicted; %d answers; resident at most %d MiB of %d MiB, %d MiB in the second half; %d %% of the time in garbage collection",
		long,
		s.Stored+s.Evicted,
		float64(s.Stored+s.Evicted)/time.Since(began).Seconds(),
		s.Evicted,
		answers.Load(),
		most>>20,
		bound>>20,
		late>>20,
		share,
	)
	if most > bound || share >= 5 || s.Evicted == 0 || failures.Load() > 0 {
		t.Errorf("over a bound, or nothing was evicted, or of the answers %d were errors", failures.Load())
	}
}

// residentBytes is the memory of a process that is in RAM.
func residentBytes(t *testing.T, pid int) uint64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(b), "VmRSS:")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		t.Fatalf("no VmRSS in %s", b)
	}
	kib, err := strconv.ParseUint(fields[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// collecting is the last percentage of time in garbage collection that a trace says.
func collecting(trace string) (share int) {
	percent := regexp.MustCompile(`^gc \d+ @\S+ (\d+)%`)
	for lines := bufio.NewScanner(strings.NewReader(trace)); lines.Scan(); {
		if m := percent.FindStringSubmatch(lines.Text()); m != nil {
			share, _ = strconv.Atoi(m[1])
		}
	}
	return share
}
