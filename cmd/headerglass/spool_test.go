package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/web/demoserver"
)

// TestSpool: what a drain has taken is shown again after kill -9, and two explorers do not share a
// spool.
func TestSpool(t *testing.T) {
	broker, err := demoserver.Listen("127.0.0.1:0", demoserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { broker.Close() })
	broker.Declare("q")
	const n = 300
	for i := range n {
		if err := broker.Publish(t.Context(), "q", demoserver.Message{
			RoutingKey: fmt.Sprint(i),
			Body:       []byte("whole"),
		}); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{
		"serve",
		"--amqp",
		broker.URL(),
		"--queue",
		"q",
		"--mode",
		"drain",
		"--spool",
		filepath.Join(t.TempDir(), "spool"),
		"--listen",
		"127.0.0.1:0",
	}
	first := startChild(t, nil, args...)
	drained := time.After(20 * time.Second)
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if q, _ := broker.Queue("q"); q == (demoserver.QueueInfo{Consumers: 1}) {
			break
		}
		select {
		case <-drained:
			t.Fatal("the queue is not drained")
		default:
		}
	}

	code, _, errs := runCLI(t, "", args...)
	if code == exitOK || code == exitUsage || !strings.Contains(errs, "in use by another process") {
		t.Errorf("a second explorer: exit code %d: %s", code, errs)
	}

	_ = first.cmd.Process.Kill()
	_ = first.cmd.Wait()
	again := startChild(t, nil, args...)
	resp, err := again.insecure.Get(again.site + "/api/messages?limit=500")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Messages []struct {
			Key string `json:"routing_key"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	shown := map[string]int{}
	for _, m := range list.Messages {
		shown[m.Key]++
	}
	if len(list.Messages) != n || len(shown) != n {
		t.Errorf("%d messages are shown again, %d of them once, of %d", len(list.Messages), len(shown), n)
	}
	page, err := again.insecure.Get(again.site + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	html, err := io.ReadAll(page.Body)
	if err != nil || !strings.Contains(string(html), "300 messages, ") || !strings.Contains(string(html), "On disk") {
		t.Errorf("the page does not say what is on disk (%v)", err)
	}
}
