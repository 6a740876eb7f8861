//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headerglass/headerglass/web/demoserver"
)

// peeking starts an explorer that holds all messages of a queue of a broker.
func peeking(t *testing.T, n int, start func(args ...string) *child) (*demoserver.Server, *child) {
	t.Helper()
	broker, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { broker.Close() })
	broker.Declare("q")
	for i := range n {
		if err := broker.Publish(t.Context(), "q", demoserver.Message{Body: fmt.Append(nil, i)}); err != nil {
			t.Fatal(err)
		}
	}
	c := start("serve", "--amqp", broker.URL(), "--queue", "q", "--listen", "127.0.0.1:0", "--log-level", "debug")
	queueBecomes(t, broker, demoserver.QueueInfo{Unsettled: n, Consumers: 1})
	return broker, c
}

func queueBecomes(t *testing.T, broker *demoserver.Server, want demoserver.QueueInfo) {
	t.Helper()
	late := time.After(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		got, _ := broker.Queue("q")
		if got == want {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("the queue has %+v, not %+v", got, want)
		}
	}
}

// TestSignalsGiveBack: each signal that asks for an end gives the messages back, with exit code 0.
func TestSignalsGiveBack(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			// A signal that is caught here is not ignored by the child, even if this test runs
			// under nohup, which ignores SIGHUP for all that it starts.
			caught := make(chan os.Signal, 1)
			signal.Notify(caught, sig)
			defer signal.Stop(caught)
			broker, c := peeking(t, 20, func(args ...string) *child { return startChild(t, nil, args...) })
			if err := c.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := c.cmd.Wait(); err != nil {
				t.Errorf("it ends with %v: %s", err, c.log.String())
			}
			queueBecomes(t, broker, demoserver.QueueInfo{Ready: 20})
			if !strings.Contains(c.log.String(), "stopping") {
				t.Errorf("it logs %s", c.log.String())
			}
		})
	}
}

// TestClosedStandardError: log lines that nobody reads end nothing; the messages are given back in
// the end.
func TestClosedStandardError(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	broker, c := peeking(t, 20, func(args ...string) *child {
		return startChildWith(t, func(cmd *exec.Cmd) { cmd.Stderr = w }, args...)
	})
	_ = w.Close()
	_ = r.Close()
	broker.Drop() // which is logged
	queueBecomes(t, broker, demoserver.QueueInfo{Unsettled: 20, Consumers: 1})
	for range 3 {
		if resp := c.fetch(t, "/nowhere", "*/*", ""); !strings.Contains(resp, "such page") {
			t.Errorf("it answers %q", resp)
		}
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	queueBecomes(t, broker, demoserver.QueueInfo{Ready: 20})
}
