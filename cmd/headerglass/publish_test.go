package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
)

// publishing is what the tests of publish share: files of messages, and a queue to put them into.
type publishing struct {
	url, management string
	dir             string
	ch              *amqp.Channel
}

// startPublishing declares the queue q on a node of RabbitMQ.
func startPublishing(t *testing.T) *publishing {
	t.Helper()
	node := rabbittest.NewLazy(rabbittest.Options{})
	n := node.Node(t)
	t.Cleanup(node.Stop)
	p := &publishing{url: n.URL(n.VHost(t)), management: n.ManagementURL(), dir: t.TempDir()}
	conn, err := amqp.Dial(p.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if p.ch, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *publishing) file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// waiting is how many messages are in the queue.
func (p *publishing) waiting(t *testing.T) int { return p.waitingIn(t, "q") }

func (p *publishing) waitingIn(t *testing.T, queue string) int {
	t.Helper()
	q, err := p.ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q.Messages
}

func header(body string, write func(*encode.Encoder)) []byte {
	return wire.AppendContentHeaderPayload(nil, uint64(len(body)),
		wire.Property{Name: "headers", Raw: encode.Table(write)})
}

// line is a message in an export.jsonl.
func line(key, body string, write func(*encode.Encoder)) string {
	return fmt.Sprintf(
		`{"received":"2026-03-01T12:00:00Z","routing_key":%q,"content_header_base64":%q,"body_base64":%q}`+"\n",
		key, base64.StdEncoding.EncodeToString(header(body, write)), base64.StdEncoding.EncodeToString([]byte(body)))
}

func TestPublish(t *testing.T) {
	p := startPublishing(t)
	tenant := func(e *encode.Encoder) { e.Str("tenant", "acme") }
	strange := func(e *encode.Encoder) { e.Value("b", 'Z', []byte("????")) }
	export := p.file(t, "export.jsonl", []byte(line("q", "one", tenant)+line("nowhere", "two", tenant)))
	poison := p.file(t, "poison.jsonl", []byte(line("q", "bad", strange)+line("q", "behind", tenant)))
	head := p.file(t, "content-header.bin", header("body", tenant))
	body := p.file(t, "body.bin", []byte("body"))
	empty := p.file(t, "empty-header.bin", header("", tenant))

	tests := []struct {
		name  string
		args  []string
		code  int
		said  []string // in what is printed
		added int      // to the queue
	}{
		{"a dry run", []string{"--dry-run", export}, exitOK, []string{
			"2 messages of 1 file, to the default exchange of amqp://guest@",
			`1 message with routing key "nowhere"`,
			"Nothing was published",
		}, 0},
		{"nobody to ask", []string{export}, exitUsage, []string{"--yes"}, 0},
		{"a message that nobody wants", []string{"--yes", export}, exitFailed, []string{
			`returned: message 2 of ` + export + ` (routing key "nowhere"): the broker returned it: 312 NO_ROUTE`,
			"1 message confirmed",
		}, 1},
		{"another routing key", []string{"--yes", "--routing-key", "q", export}, exitOK, []string{"2 messages confirmed"}, 2},
		{"the first one only", []string{"--yes", "--count", "1", export}, exitOK, []string{"1 message confirmed"}, 1},
		{"a header and a body", []string{"--yes", "--routing-key", "q", head, body}, exitOK, []string{"1 message confirmed"}, 1},
		{"a header of no body", []string{"--yes", "--routing-key", "q", empty}, exitOK, []string{"1 message confirmed"}, 1},
		{"a header without its body", []string{"--yes", head}, exitUsage, []string{"name the file with its body"}, 0},
		{"the wrong body", []string{"--yes", "--routing-key", "q", head, export}, exitFailed, []string{"refused: ", "its body has 4 octets"}, 0},
		{"poison", []string{"--yes", poison}, exitFailed, []string{
			"1 message with a header table that RabbitMQ cannot read",
			"refused: message 1 of " + poison,
			"not sent: 1 message",
			"0 messages confirmed",
			"541",
		}, 0},
		{"a missing exchange", []string{"--yes", "--exchange", "missing", export}, exitFailed, []string{`exchange "missing"`}, 0},
		{"a file that is none", []string{"--yes", filepath.Join(p.dir, "none")}, exitUsage, []string{"no such file"}, 0},
		{"a file of something else", []string{"--yes", p.file(t, "notes.txt", []byte("notes"))}, exitUsage, []string{"notes.txt"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := p.waiting(t)
			args := append([]string{"publish", "--amqp", p.url}, tt.args...)
			if !strings.Contains(strings.Join(tt.args, " "), "--exchange") {
				args = append(args, "--exchange", "")
			}
			code, out, errs := runCLI(t, "", args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, want := range tt.said {
				if !strings.Contains(out+errs, want) {
					t.Errorf("%q is not in:\n%s%s", want, out, errs)
				}
			}
			if added := p.waiting(t) - before; added != tt.added {
				t.Errorf("%d messages came into the queue, want %d", added, tt.added)
			}
		})
	}
	t.Run("several queues in one explorer", func(t *testing.T) { exploreSeveral(t, p) })
}

// TestPublishSaysWhere: there is no exchange that could be meant by itself.
func TestPublishSaysWhere(t *testing.T) {
	code, _, errs := runCLI(t, "", "publish", "main_test.go")
	if code != exitUsage || !strings.Contains(errs, "--exchange NAME") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
