package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// replaying is a replay that runs in this process.
type replaying struct {
	site string // without the slash at the end
	log  bytes.Buffer
	stop context.CancelFunc
	done chan int
}

// replayFiles runs `headerglass replay` until stop is called.
func replayFiles(t *testing.T, args ...string) *replaying {
	t.Helper()
	r := &replaying{done: make(chan int, 1)}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	t.Cleanup(stop)
	out := &lineWriter{lines: make(chan string, 16)}
	go func() {
		r.done <- run(ctx, append([]string{"replay", "--listen", "127.0.0.1:0"}, args...), stdio{strings.NewReader(""), out, &r.log})
	}()
	select {
	case line := <-out.lines:
		_, address, _ := strings.Cut(line, "http://")
		r.site = "http://" + strings.TrimSuffix(address, "/")
	case <-time.After(20 * time.Second):
		t.Fatal("replay printed no address")
	}
	return r
}

// awaitReplayed waits until the files have been read.
func (r *replaying) awaitReplayed(t *testing.T) (trouble string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(60 * time.Second)
	for {
		s := getJSON[struct {
			Broker struct{ State, Error string }
			Mode   string
		}](t, r.site+"/api/status")
		if s.Mode != "replay" {
			t.Fatalf("the mode is %q", s.Mode)
		}
		if s.Broker.State == "replayed" {
			return s.Broker.Error
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the files are not read: %s", s.Broker.State)
		}
	}
}

// end stops it and returns its exit code and what it logged.
func (r *replaying) end(t *testing.T) (code int, log string) {
	t.Helper()
	r.stop()
	select {
	case code = <-r.done:
	case <-time.After(20 * time.Second):
		t.Fatal("replay does not stop")
	}
	return code, r.log.String()
}

// What one explorer exports another one shows, without a broker, and exports the same again.
func TestReplayOfExports(t *testing.T) {
	site := demo(t, "--rate", "0", "--messages", "200")
	awaitStored(t, site, 200)
	want := get(t, site+"/export.jsonl", http.StatusOK)
	dir := t.TempDir()
	for _, format := range []string{"jsonl", "zip", "pcapng"} {
		file := filepath.Join(dir, "saved")
		if err := os.WriteFile(file, get(t, site+"/export."+format, http.StatusOK), 0o600); err != nil {
			t.Fatal(err)
		}
		r := replayFiles(t, file)
		if trouble := r.awaitReplayed(t); trouble != "" {
			t.Errorf("%s: %s", format, trouble)
		}
		// Only where they come from is another place now: the file.
		got := get(t, r.site+"/export.jsonl", http.StatusOK)
		if !bytes.Equal(bytes.ReplaceAll(got, []byte(`"source":"saved"`), []byte(`"source":"demo"`)), want) {
			t.Errorf("%s: the messages are not those that were exported", format)
		}
		if ready := get(t, r.site+"/readyz", http.StatusOK); string(ready) != "replayed\n" {
			t.Errorf("%s: readyz says %q", format, ready)
		}
		if page := string(get(t, r.site+"/", http.StatusOK)); !strings.Contains(page, "saved") ||
			!strings.Contains(page, "replay: files, no broker") {
			t.Errorf("%s: the page does not say where the messages are from", format)
		}
		if code, log := r.end(t); code != exitOK || !strings.Contains(log, "200 messages") {
			t.Errorf("%s: exit code %d: %s", format, code, log)
		}
	}
}

func exportedLine(key string) string {
	h := base64.StdEncoding.EncodeToString(wire.AppendContentHeaderPayload(nil, 0))
	return fmt.Sprintf(`{"received":"2026-03-01T12:00:00Z","routing_key":%q,"content_header_base64":%q}`+"\n", key, h)
}

// What comes before damage is shown, and so are the other files; the exit code tells.
func TestReplayOfDamage(t *testing.T) {
	dir := t.TempDir()
	damaged, whole := filepath.Join(dir, "damaged.jsonl"), filepath.Join(dir, "whole.jsonl")
	if err := os.WriteFile(damaged, []byte(exportedLine("a")+exportedLine("b")+`{"received":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(whole, []byte(exportedLine("c")), 0o600); err != nil {
		t.Fatal(err)
	}
	r := replayFiles(t, damaged, whole)
	want := "damaged.jsonl: " + damaged + ": line 3: unexpected end of JSON input; 2 messages before that are shown"
	if trouble := r.awaitReplayed(t); trouble != want {
		t.Errorf("the status says %q, want %q", trouble, want)
	}
	if page := string(get(t, r.site+"/", http.StatusOK)); !strings.Contains(
		page,
		"line 3: unexpected end of JSON input",
	) {
		t.Error("the page does not tell of the damage")
	}
	if n := getJSON[status](t, r.site+"/api/status").Stored; n != 3 {
		t.Errorf("%d messages are shown, want 3", n)
	}
	if code, log := r.end(t); code != exitFailed || !strings.Contains(log, "headerglass: "+want[len("damaged.jsonl: "):]) {
		t.Errorf("exit code %d: %s", code, log)
	}
}

func TestReplayRefusals(t *testing.T) {
	dir := t.TempDir()
	text, empty, capture := filepath.Join(
		dir,
		"notes.txt",
	), filepath.Join(
		dir,
		"empty.pcap",
	), filepath.Join(
		dir,
		"nothing.pcap",
	)
	noMessages := []byte(
		"\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x65\x00\x00\x00",
	)
	for name, content := range map[string][]byte{text: []byte("see attachment"), empty: nil, capture: noMessages} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no file", nil, exitUsage, "<file>"},
		{"an absent file", []string{filepath.Join(dir, "absent.pcap")}, exitUsage, "absent.pcap"},
		{"a folder", []string{dir}, exitUsage, dir},
		{"a file of no known kind", []string{text}, exitUsage, "notes.txt: this is no export (jsonl, zip, pcapng) and no capture (pcap, pcapng)"},
		{"an empty file", []string{empty}, exitUsage, "empty.pcap: the file is empty"},
		{"a good file and another", []string{capture, text}, exitUsage, "notes.txt"},
		{"a capture of nothing", []string{"--listen", "127.0.0.1:0", capture}, exitFailed, "there are no AMQP 0-9-1 messages in what could be read"},
		{"open to the network", []string{"--listen", "0.0.0.0:0", capture}, exitUsage, "--allow-anonymous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, _, errs := runCLI(t, "", append([]string{"replay"}, tt.args...)...)
			if code != tt.code || !strings.Contains(errs, tt.want) {
				t.Errorf("exit code %d, want %d with %q: %s", code, tt.code, tt.want, errs)
			}
		})
	}
}

// More than fits the memory is read all the same; what is left out is told.
func TestReplayPastTheMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "many.jsonl")
	var lines strings.Builder
	for range 20_000 {
		lines.WriteString(exportedLine(strings.Repeat("k", 200)))
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := replayFiles(t, "--memory", "1MiB", file)
	r.awaitReplayed(t)
	if code, log := r.end(t); code != exitOK || !strings.Contains(log, "a larger --memory keeps them") {
		t.Errorf("exit code %d: %s", code, log)
	}
}
