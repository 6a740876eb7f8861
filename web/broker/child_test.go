package broker

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/spool"
)

// A test that kills a consumer runs one in a process of its own: this binary again, with what to
// read in the environment.
const (
	childURL   = "HEADERGLASS_TEST_CHILD_URL"
	childQueue = "HEADERGLASS_TEST_CHILD_QUEUE"
	childSpool = "HEADERGLASS_TEST_CHILD_SPOOL" // a folder: drain into it; none: peek
)

// runChild runs what a test has started this binary for, and reports whether it did: a consumer
// that ends at SIGTERM and says "full" once its window is, or, when it drains, how many messages it
// has stored.
func runChild() bool {
	url := os.Getenv(childURL)
	if url == "" {
		return false
	}
	cfg := Config{URL: url, Queue: os.Getenv(childQueue), Window: 50, Archive: archive.New(archive.Config{})}
	if dir := os.Getenv(childSpool); dir != "" {
		sp, err := spool.Open(dir, spool.Config{})
		if err != nil {
			fmt.Println(err)
			return true
		}
		defer sp.Close()
		cfg.Mode, cfg.Prefetch, cfg.Spool = source.Drain, 200, sp
	}
	c, err := New(cfg)
	if err != nil {
		fmt.Println(err)
		return true
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		said, tick := false, time.NewTicker(time.Millisecond)
		for range tick.C {
			st := c.Status()
			switch {
			case cfg.Spool != nil:
				if st.State == source.Consuming || st.Stored > 0 {
					fmt.Println(st.Stored)
				}
			case st.State == source.WindowFull && !said:
				said = true
				fmt.Println("full")
			}
		}
	}()
	if err := c.Run(ctx); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return true
}

// child is a consumer in a process of its own.
type child struct {
	*exec.Cmd
	out *bufio.Scanner
}

func startChild(t *testing.T, env ...string) *child {
	t.Helper()
	ch := &child{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	ch.Env = append(os.Environ(), env...)
	out, err := ch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	ch.out = bufio.NewScanner(out)
	if err := ch.Start(); err != nil {
		t.Fatal(err)
	}
	return ch
}

// stored reads until the child says that it has stored so many messages, or until it ends.
func (ch *child) stored(t *testing.T, n uint64) {
	t.Helper()
	for ch.out.Scan() {
		stored, err := strconv.ParseUint(ch.out.Text(), 10, 64)
		if err != nil {
			t.Fatalf("the child says %q", ch.out.Text())
		}
		if stored >= n {
			return
		}
	}
	t.Fatal("the child has ended")
}

// rest reads what else the child says.
func (ch *child) rest() {
	for ch.out.Scan() {
		continue
	}
}

func (ch *child) kill(t *testing.T) {
	t.Helper()
	if err := ch.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ch.rest()
	_ = ch.Wait()
}

func TestNodePeekRemovesNothingWhenKilled(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	bodies := c.publish(t, "", "q", 0, 80)
	ch := startChild(t, childURL+"="+c.url(), childQueue+"=q")
	if !ch.out.Scan() || ch.out.Text() != "full" {
		t.Fatalf("the child says %q", ch.out.Text())
	}
	ch.kill(t)
	c.ready(t, "q", 80)
	if got := c.drained(t, "q"); !slices.Equal(got, bodies) {
		t.Errorf("the queue holds %d messages, or another order", len(got))
	}
}

// TestNodeSpoolIsWholeWhenKilled: a drain is killed again and again while messages arrive. Each of
// them is then in the spool or still in the queue, and in the end each is shown once.
func TestNodeSpoolIsWholeWhenKilled(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			c := dial(t)
			c.declare(t, "q", amqp.Table{"x-queue-type": kind})
			const rounds, perRound = 6, 1500
			dir := filepath.Join(t.TempDir(), "spool")
			var want []string
			for i := range rounds {
				want = append(want, c.publish(t, "", "q", i*perRound, perRound)...)
				ch := startChild(t, childURL+"="+c.url(), childQueue+"=q", childSpool+"="+dir)
				ch.stored(t, 1+rand.Uint64N(perRound/2))
				ch.kill(t)
				sp := openSpool(t, dir, spool.Config{})
				inSpool := sp.Stats().Messages
				sp.Close()
				until(
					t,
					fmt.Sprintf("killed %d times: each of %d messages is in the spool or in the queue", i+1, len(want)),
					func() bool {
						return inSpool+uint64(c.waiting(t, "q")) >= uint64(len(want))
					},
				)
			}
			r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, Spool: openSpool(t, dir, spool.Config{})})
			until(t, "the queue is empty", func() bool {
				st := r.Status()
				return st.State == source.Consuming && st.Held == 0 && c.waiting(t, "q") == 0
			})
			if err := r.stop(t); err != nil {
				t.Fatal(err)
			}
			c.ready(t, "q", 0)
			got := r.bodies()
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf(
					"%d messages shown of %d, %d of them once; %d delivered again were known",
					len(got),
					len(want),
					len(slices.Compact(got)),
					r.Status().Known,
				)
			}
		})
	}
}

// TestNodeCrashLoopUsesNothingUp: a drain of a quorum queue that is killed 25 times just after it
// has begun to read leaves each message in the queue or in the spool.
func TestNodeCrashLoopUsesNothingUp(t *testing.T) {
	c := dialNode(t, node4)
	c.declare(t, "loop", amqp.Table{"x-queue-type": "quorum"})
	want := c.publish(t, "", "loop", 0, 3000)
	dir := filepath.Join(t.TempDir(), "spool")
	for i := range 25 {
		ch := startChild(t, childURL+"="+c.url(), childQueue+"=loop", childSpool+"="+dir)
		for range 1 + i%5 { // milliseconds after it consumes
			if !ch.out.Scan() {
				t.Fatal("the child has ended")
			}
		}
		ch.kill(t)
	}
	r := run(t, Config{URL: c.url(), Queue: "loop", Mode: source.Drain, Spool: openSpool(t, dir, spool.Config{})})
	until(t, "the queue is empty", func() bool {
		st := r.Status()
		return st.State == source.Consuming && st.Held == 0 && c.waiting(t, "loop") == 0
	})
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	got := r.bodies()
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("%d messages are left of %d", len(got), len(want))
	}
}

// TestNodeTerminatedUnderLoad: SIGTERM ends a peek and a drain within ten seconds, with code 0 and
// everything given back.
func TestNodeTerminatedUnderLoad(t *testing.T) {
	c := dial(t)
	c.declare(t, "peeked", nil)
	c.declare(t, "drained", nil)
	want := c.publish(t, "", "peeked", 0, 2000)
	c.publish(t, "", "drained", 0, 5000)
	dir := filepath.Join(t.TempDir(), "spool")
	peek := startChild(t, childURL+"="+c.url(), childQueue+"=peeked")
	drain := startChild(t, childURL+"="+c.url(), childQueue+"=drained", childSpool+"="+dir)
	if !peek.out.Scan() || peek.out.Text() != "full" {
		t.Fatalf("the child says %q", peek.out.Text())
	}
	drain.stored(t, 500)
	for _, ch := range []*child{peek, drain} {
		began := time.Now()
		if err := ch.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		ch.rest()
		if err := ch.Wait(); err != nil {
			t.Errorf("it ends with %v", err)
		}
		took := time.Since(began)
		t.Logf("ended after %s", took)
		if took > patience {
			t.Error("that is too long")
		}
	}
	c.ready(t, "peeked", 2000)
	if got := c.drained(t, "peeked"); !slices.Equal(got, want) {
		t.Errorf("%d messages of 2000 given back, or another order", len(got))
	}
	// What the drain has acknowledged is in the spool, and nothing else is.
	if n := openSpool(t, dir, spool.Config{}).Stats().Messages + uint64(c.waiting(t, "drained")); n != 5000 {
		t.Errorf("%d messages of 5000 are in the spool or in the queue", n)
	}
}
