package broker

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
)

// onEach runs a test on the node of this run and on one of RabbitMQ 4.
func onEach(t *testing.T, test func(t *testing.T, c *client)) {
	for name, lazy := range map[string]*rabbittest.Lazy{"this run's": node, "RabbitMQ 4": node4} {
		t.Run(name, func(t *testing.T) { test(t, dialNode(t, lazy)) })
	}
}

// delivered publishes one message with a table and returns the table that comes out.
func (c *client) delivered(t *testing.T, queue string, table []byte) []byte {
	t.Helper()
	rawDial(t, c.node.Addr(), c.vhost).publish(queue, content(table, []byte("b")), []byte("b"))
	cfg := Config{URL: c.url(), Queue: queue, Mode: source.Drain, AcceptLoss: true}
	if queue == "stream" {
		cfg.Mode, cfg.Offset = source.Stream, "last"
	}
	r := run(t, cfg)
	r.untilStored(t, 1)
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	m, err := r.archive.Snapshot().Get(r.archive.Snapshot().Last())
	if err != nil {
		t.Fatal(err)
	}
	got, _ := m.HeaderTable()
	return bytes.Clone(got)
}

func (c *client) broker() source.Broker {
	return source.Broker{Product: source.RabbitMQ, Version: c.node.Version()}
}

// says fails unless the sentences about a queue hold these words.
func says(t *testing.T, b source.Broker, queueType, words string) {
	t.Helper()
	if all := strings.Join(b.Facts(queueType), "\n"); !strings.Contains(all, words) {
		t.Errorf("of a %s queue of %s %s it is not said that %q:\n%s", queueType, b.Product, b.Version, words, all)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestNodeClassicQueueTables: up to 3.12 a classic queue keeps a table's octets; since then it is
// written anew, sorted and without duplicates.
func TestNodeClassicQueueTables(t *testing.T) {
	published := unhex(t, "00000018"+"017a4900000001"+"01614900000002"+"017a530000000374776f") // z=1, a=2, z="two"
	sorted := unhex(t, "0000000e"+"01614900000002"+"017a4900000001")                           // a=2, z=1
	onEach(t, func(t *testing.T, c *client) {
		c.declare(t, "q", amqp.Table{"x-queue-type": "classic"})
		want, words := published, "as they were published, octet for octet"
		if c.node.AtLeast(3, 13) {
			want, words = sorted, "fields are sorted by name, of several with one name one is left"
		}
		if got := c.delivered(t, "q", published); !bytes.Equal(got, want) {
			t.Errorf("%s delivers %x", c.node.Version(), got)
		}
		says(t, c.broker(), "classic", words)
		if keeps := c.broker().Keeps("classic"); keeps != bytes.Equal(want, published) {
			t.Errorf("said to keep tables: %t", keeps)
		}
	})
}

// TestNodeTagsWrittenAnew: where a table is written anew, L becomes l, and a boolean 0 or 1.
func TestNodeTagsWrittenAnew(t *testing.T) {
	published := unhex(t, "0000000f"+"016c4c0000000000000007"+"01747402") // l (tag L) = 7, t = 2
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			onEach(t, func(t *testing.T, c *client) {
				c.declare(t, "q", amqp.Table{"x-queue-type": kind})
				got := c.delivered(t, "q", published)
				if c.broker().Keeps(kind) {
					if !bytes.Equal(got, published) {
						t.Errorf("%x", got)
					}
					return
				}
				for _, field := range []string{"016c6c0000000000000007", "01747401"} {
					if !bytes.Contains(got, unhex(t, field)) {
						t.Errorf("no %s in %x", field, got)
					}
				}
				says(t, c.broker(), kind, "tag L becomes l and a boolean is 0 or 1")
			})
		})
	}
}

// TestNodeQuorumCountsReturns: before 4.3 each return counts.
func TestNodeQuorumCountsReturns(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		c.declare(t, "q", amqp.Table{"x-queue-type": "quorum"})
		c.publish(t, "", "q", 0, 1)
		for returns := range int64(3) {
			var m amqp.Delivery
			until(t, "the message is there", func() (ok bool) {
				var err error
				if m, ok, err = c.Get("q", false); err != nil {
					t.Fatal(err)
				}
				return ok
			})
			if got, _ := m.Headers["x-delivery-count"].(int64); got != returns {
				t.Errorf("%s counts %d after %d returns", c.node.Version(), got, returns)
			}
			if err := m.Nack(false, true); err != nil {
				t.Fatal(err)
			}
		}
		says(t, c.broker(), "quorum", "Every return of a message counts in x-delivery-count")
	})
}

// TestNodeStreamLosesArraysAndTables: all of them before 3.13, since then those under names that do
// not begin with x-.
func TestNodeStreamLosesArraysAndTables(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		c.declare(t, "stream", amqp.Table{"x-queue-type": "stream"})
		got := c.delivered(t, "stream", encode.Table(func(e *encode.Encoder) {
			for _, prefix := range []string{"", "x-"} {
				e.Array(prefix+"array", func(e *encode.Encoder) { e.Raw('V') })
				e.Sized(prefix+"table", 'F', 0, nil)
				e.Str(prefix+"text", "kept")
			}
		}))
		var names []string
		for f, err := range fieldtable.View(got, fieldtable.RabbitMQ()).All() {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, string(f.Name))
		}
		slices.Sort(names)
		want, words := []string{"text", "x-stream-offset", "x-text"}, "loses arrays and tables."
		if c.node.AtLeast(3, 13) {
			want = []string{"text", "x-array", "x-stream-offset", "x-table", "x-text"}
			words = "loses arrays and tables under names that do not begin with x-"
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s delivers %q", c.node.Version(), names)
		}
		says(t, c.broker(), "stream", words)
	})
}
