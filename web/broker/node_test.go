package broker

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
)

// client is a connection of the test's own to the node.
type client struct {
	*amqp.Channel
	vhost string
	node  *rabbittest.Node
}

// dial connects to a virtual host of the test's own.
func dial(t *testing.T) *client {
	t.Helper()
	return dialNode(t, node)
}

func dialNode(t *testing.T, lazy *rabbittest.Lazy) *client {
	t.Helper()
	n := lazy.Node(t)
	c := &client{vhost: n.VHost(t), node: n}
	c.connect(t)
	return c
}

func (c *client) connect(t *testing.T) {
	t.Helper()
	conn, err := amqp.Dial(c.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if c.Channel, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	if err := c.Confirm(false); err != nil {
		t.Fatal(err)
	}
}

func (c *client) url() string { return c.node.URL(c.vhost) }

// declare creates a durable queue.
func (c *client) declare(t *testing.T, queue string, args amqp.Table) {
	t.Helper()
	if _, err := c.QueueDeclare(queue, true, false, false, false, args); err != nil {
		t.Fatal(err)
	}
}

// publish sends n persistent messages with the bodies from+1 to from+n and waits for the confirms.
func (c *client) publish(t *testing.T, exchange, key string, from, n int) (bodies []string) {
	t.Helper()
	var last *amqp.DeferredConfirmation
	for i := range n {
		body := fmt.Sprint(from + i + 1)
		bodies = append(bodies, body)
		var err error
		last, err = c.PublishWithDeferredConfirm(exchange, key, false, false, amqp.Publishing{
			DeliveryMode: amqp.Persistent, Body: []byte(body), Headers: amqp.Table{"n": int32(from + i + 1)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if ok, err := last.WaitContext(ctx); !ok || err != nil {
		t.Fatalf("not confirmed: %v", err)
	}
	return bodies
}

// managed waits until the management API knows the queue.
func (c *client) managed(t *testing.T, queue string) {
	t.Helper()
	until(t, "the management API knows the queue", func() bool {
		return c.node.API(http.MethodGet, "queues/"+c.vhost+"/"+queue, nil, nil) == nil
	})
}

// ready waits until so many messages are ready in the queue and none is unacknowledged.
func (c *client) ready(t *testing.T, queue string, want int) {
	t.Helper()
	until(t, fmt.Sprintf("%d messages ready in %s", want, queue), func() bool {
		return c.waiting(t, queue) == want
	})
}

// waiting is how many messages are ready in the queue.
func (c *client) waiting(t *testing.T, queue string) int {
	t.Helper()
	q, err := c.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q.Messages
}

// drained takes every message out of the queue.
func (c *client) drained(t *testing.T, queue string) (bodies []string) {
	t.Helper()
	for {
		m, ok, err := c.Get(queue, true)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return bodies
		}
		bodies = append(bodies, string(m.Body))
	}
}

func TestNodePeekRemovesNothingAndKeepsTheOrder(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	bodies := c.publish(t, "", "q", 0, 300)
	r := run(t, Config{URL: c.url(), Queue: "q", Window: 100})
	st := r.untilState(t, source.WindowFull)
	if st.Product != "RabbitMQ" || st.Version == "" || st.QueueType != "classic" || st.Held != 100 {
		t.Errorf("%+v", st)
	}
	if !slices.Equal(r.bodies(), bodies[:100]) {
		t.Errorf("shown: %v", r.bodies())
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	if st := r.Status(); st.GivenBack != 100 {
		t.Errorf("given back: %d", st.GivenBack)
	}
	c.ready(t, "q", 300)
	if got := c.drained(t, "q"); !slices.Equal(got, bodies) {
		t.Errorf("the queue holds %d messages in another order: %v", len(got), got)
	}
}

func TestNodePeekLooksAgainAndShowsOnce(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	c.publish(t, "", "q", 0, 20)
	for range 3 { // the same octets three times are three messages
		c.publish(t, "", "q", 999, 1)
	}
	r := run(t, Config{URL: c.url(), Queue: "q", Window: 50, Hold: 300e6, Pause: 100e6})
	until(t, "three looks", func() bool { return r.Status().GivenBack >= 3*23 })
	if n := r.archive.Snapshot().Last(); n != 23 {
		t.Errorf("%d messages stored of 23: %v", n, r.bodies())
	}
	c.publish(t, "", "q", 100, 2)
	c.publish(t, "", "q", 999, 1)
	r.untilStored(t, 26)
	given := r.Status().GivenBack
	until(t, "two more looks", func() bool { return r.Status().GivenBack >= given+2*26 })
	if n := r.archive.Snapshot().Last(); n != 26 {
		t.Errorf("%d messages stored of 26: %v", n, r.bodies())
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	c.ready(t, "q", 26)
}

func TestNodeDrain(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	bodies := c.publish(t, "", "q", 0, 2000)
	r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, AcceptLoss: true})
	r.untilStored(t, 2000)
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.bodies(), bodies) || r.Status().Acknowledged != 2000 {
		t.Errorf("%+v", r.Status())
	}
	c.ready(t, "q", 0)
}

func TestNodeCopyHarmsNobody(t *testing.T) {
	c := dial(t)
	if err := c.ExchangeDeclare("events", "topic", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	c.declare(t, "q", nil)
	if err := c.QueueBind("q", "#", "events", false, nil); err != nil {
		t.Fatal(err)
	}
	r := run(t, Config{
		URL:           c.url(),
		Mode:          source.Copy,
		Exchange:      "events",
		Bindings:      []string{"order.*", "#.eu"},
		CopyMaxLength: 500,
	})
	st := r.untilState(t, source.Consuming)
	if st.Name != "events" || st.Queue == "" {
		t.Errorf("%+v", st)
	}
	var info struct {
		Exclusive  bool `json:"exclusive"`
		AutoDelete bool `json:"auto_delete"`
		Arguments  map[string]any
	}
	if err := c.node.API(http.MethodGet, "queues/"+c.vhost+"/"+url.PathEscape(st.Queue), nil, &info); err != nil {
		t.Fatal(err)
	}
	if !info.Exclusive || !info.AutoDelete || info.Arguments["x-max-length"] != 500.0 ||
		info.Arguments["x-overflow"] != "drop-head" {
		t.Errorf("the copy's queue: %+v", info)
	}
	want := c.publish(t, "events", "order.placed", 0, 10)
	c.publish(t, "events", "invoice.sent", 100, 5)
	want = append(want, c.publish(t, "events", "invoice.sent.eu", 200, 5)...)
	r.untilStored(t, 15)
	if !slices.Equal(r.bodies(), want) {
		t.Errorf("copied: %v", r.bodies())
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	c.ready(t, "q", 20)
	until(t, "the copy's queue is gone", func() bool {
		return c.node.API(http.MethodGet, "queues/"+c.vhost+"/"+url.PathEscape(st.Queue), nil, nil) != nil
	})
}

// TestNodeCopyGaps: the status tells when the copy was not connected, and only that.
func TestNodeCopyGaps(t *testing.T) {
	c := dial(t)
	if err := c.ExchangeDeclare("events", "topic", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	r := run(t, Config{URL: c.url(), Mode: source.Copy, Exchange: "events"})
	r.untilState(t, source.Consuming)
	c.publish(t, "events", "k", 0, 1)
	r.untilStored(t, 1)
	if gaps := r.Status().Gaps; len(gaps) > 0 {
		t.Errorf("%v before the connection was lost", gaps)
	}
	before := time.Now()
	c.node.Eval(t, `[rabbit_networking:close_connection(P, "test") || P <- rabbit_networking:connections()].`)
	until(t, "it has reconnected", func() bool { return r.Status().Reconnects == 1 })
	c.connect(t)
	c.publish(t, "events", "k", 1, 1)
	r.untilStored(t, 2)
	gaps := r.Status().Gaps
	if len(gaps) != 1 || gaps[0].From.Before(before) || !gaps[0].To.After(gaps[0].From) ||
		gaps[0].To.After(time.Now()) {
		t.Fatalf("%v", gaps)
	}
	for m := range r.archive.Snapshot().Forward(0) {
		if at := m.Received(); at.After(gaps[0].From) != (m.Seq() == 2) || at.Before(gaps[0].To) != (m.Seq() == 1) {
			t.Errorf("message %d arrived at %s", m.Seq(), at)
		}
	}
}

func TestNodePeekRefusesQuorumQueueWithoutReadingOneMessage(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int32(3)})
	c.publish(t, "", "q", 0, 10)
	r := run(t, Config{URL: c.url(), Queue: "q"})
	st := r.untilState(t, source.Stopped)
	if st.Kind != KindQueueType || st.QueueType != "quorum" || st.Stored != 0 {
		t.Errorf("%+v", st)
	}
	m, ok, err := c.Get("q", false)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if n := m.Headers["x-delivery-count"]; n != nil && n != int64(0) {
		t.Errorf("the refusal has cost a delivery: %v", n)
	}
	t.Log(st.Error)
}

func TestNodePeekOfAStreamIsRefused(t *testing.T) {
	c := dial(t)
	c.declare(t, "s", amqp.Table{"x-queue-type": "stream"})
	r := run(t, Config{URL: c.url(), Queue: "s"})
	st := r.untilState(t, source.Stopped)
	if st.Kind != KindQueueType || st.QueueType != "stream" {
		t.Errorf("%+v", st)
	}
}

func TestNodeStreamModeNeverRemovesFromAQueueThatIsNoStream(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			c := dial(t)
			c.declare(t, "q", amqp.Table{"x-queue-type": kind})
			c.publish(t, "", "q", 0, 10)
			r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Stream, Offset: "first"})
			st := r.untilState(t, source.Stopped)
			if st.Kind != KindQueueType || st.Acknowledged != 0 {
				t.Errorf("%+v", st)
			}
			t.Log(st.Error)
			c.ready(t, "q", 10)
		})
	}
}

// TestNodeTwoExplorersKnowOfEachOther: each sees how many others read the queue, and sees them go.
func TestNodeTwoExplorersKnowOfEachOther(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := dial(t)
			c.declare(t, "q", amqp.Table{"x-queue-type": kind})
			cfg := Config{
				URL:                   c.url(),
				Queue:                 "q",
				AcceptRedeliveryCount: true,
				ManagementURL:         c.node.ManagementURL(),
			}
			c.managed(t, "q")
			a, b := run(t, cfg), run(t, cfg)
			until(
				t,
				"each sees the other",
				func() bool { return a.Status().Consumers == 1 && b.Status().Consumers == 1 },
			)
			if err := b.stop(t); err != nil {
				t.Fatal(err)
			}
			until(t, "one sees the other go", func() bool { return a.Status().Consumers == 0 })
			if st := a.Status(); st.State != source.Consuming || time.Since(st.ObservedAt) > 2*observeEvery {
				t.Errorf("%+v", st)
			}
		})
	}
}
