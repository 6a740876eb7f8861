//go:build qpid

package broker

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
)

// qpidClient is a connection of the test's own to Qpid, in a virtual host of the test's own.
type qpidClient struct {
	client
	qpid *rabbittest.Qpid
}

func dialQpid(t *testing.T) *qpidClient {
	t.Helper()
	c := &qpidClient{qpid: qpid.Node(t)}
	c.vhost = c.qpid.VHost(t)
	c.connect(t)
	return c
}

func (c *qpidClient) connect(t *testing.T) {
	t.Helper()
	var conn *amqp.Connection
	until(t, "the virtual host is active", func() bool { // after a restart it is not at once
		var err error
		conn, err = amqp.Dial(c.url())
		return err == nil
	})
	t.Cleanup(func() { conn.Close() })
	var err error
	if c.Channel, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	if err := c.Confirm(false); err != nil {
		t.Fatal(err)
	}
}

func (c *qpidClient) url() string { return c.qpid.URL(rabbittest.QpidPlain, c.vhost) }

func TestQpidDrain(t *testing.T) {
	c := dialQpid(t)
	c.declare(t, "q", nil)
	bodies := c.publish(t, "", "q", 0, 500)
	r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, AcceptLoss: true})
	r.untilStored(t, 500)
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.bodies(), bodies) || r.Status().Acknowledged != 500 {
		t.Errorf("%+v", r.Status())
	}
	c.ready(t, "q", 0)
}

// TestQpidDeliversTablesAsPublished: order, duplicates and damage are as the publisher wrote them.
func TestQpidDeliversTablesAsPublished(t *testing.T) {
	c := dialQpid(t)
	c.declare(t, "q", nil)
	raw := rawDial(t, strings.Split(strings.Split(c.url(), "@")[1], "/")[0], c.vhost)
	tables := [][]byte{
		unhex(t, "00000018"+"017a4900000001"+"01614900000002"+"017a530000000374776f"),
		unhex(t, "0000000f"+"016c4c0000000000000007"+"01747402"),
		encode.Table(func(e *encode.Encoder) { e.Value("b", 'Z', []byte("????")) }),
	}
	for _, table := range tables {
		raw.publish("q", content(table, []byte("b")), []byte("b"))
	}
	r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, AcceptLoss: true})
	r.untilStored(t, uint64(len(tables)))
	i := 0
	for m := range r.archive.Snapshot().Forward(0) {
		if got, _ := m.HeaderTable(); !bytes.Equal(got, tables[i]) {
			t.Errorf("%x arrives as %x", tables[i], got)
		}
		i++
	}
	b := r.Status().Broker()
	says(t, b, "", "as they were published")
	if !b.Keeps("") {
		t.Errorf("%+v is not said to keep tables", b)
	}
}

// TestQpidExpirationIsATime: in milliseconds since 1970. What RabbitMQ takes for an hour has passed
// long ago.
func TestQpidExpirationIsATime(t *testing.T) {
	c := dialQpid(t)
	c.declare(t, "q", nil)
	const hour = 3_600_000 // ms
	later := fmt.Sprint(time.Now().UnixMilli() + hour)
	for _, expiration := range []string{fmt.Sprint(hour), later} {
		m := amqp.Publishing{Expiration: expiration}
		if err := c.PublishWithContext(t.Context(), "", "q", false, false, m); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, AcceptLoss: true})
	r.untilStored(t, 1)
	m, err := r.archive.Snapshot().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := m.Header().Property("expiration"); string(p.Raw) != later {
		t.Errorf("expiration %q", p.Raw)
	}
	says(t, r.Status().Broker(), "", "expiration is the time at which the message expires")
}
