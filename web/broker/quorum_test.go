package broker

import (
	"net/http"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

func TestNodeQuorumQueueSurvivesFiveRefusedExplorers(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int32(3)})
	c.publish(t, "", "q", 0, 11)
	for range 5 {
		r := run(t, Config{URL: c.url(), Queue: "q"})
		if st := r.untilState(t, source.Stopped); st.Kind != KindQueueType || st.Held != 0 {
			t.Fatalf("%+v", st)
		}
		if err := r.stop(t); err != nil {
			t.Fatal(err)
		}
	}
	c.ready(t, "q", 11)
	m, ok, err := c.Get("q", false)
	if err != nil || !ok || m.Headers["x-delivery-count"] != nil && m.Headers["x-delivery-count"] != int64(0) {
		t.Errorf("%v %v %v", ok, err, m.Headers)
	}
}

func TestNodeManagementTellsTypeAndLimit(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int32(9)})
	c.node.Do(t, http.MethodPut, "policies/"+c.vhost+"/limited", map[string]any{
		"pattern":    "^q$",
		"definition": map[string]any{"delivery-limit": 5},
		"apply-to":   "queues",
	})
	c.publish(t, "", "q", 0, 3)
	r := run(t, Config{URL: c.url(), Queue: "q", ManagementURL: c.node.ManagementURL()})
	st := r.untilState(t, source.Stopped)
	if st.Kind != KindQueueType || st.QueueType != "quorum" || st.Product != "" {
		t.Errorf("%+v", st) // no connection was needed
	}
	until(t, "the policy applies", func() bool {
		facts, err := r.management.queue(t.Context(), c.vhost, "q")
		if err != nil {
			t.Fatal(err)
		}
		return facts == queueFacts{Type: "quorum", DeliveryLimit: 5, Policy: "limited", Managed: true, Limited: true}
	})
	if _, err := r.management.queue(t.Context(), c.vhost, "nothing"); err == nil ||
		!strings.Contains(err.Error(), `does not know queue "nothing"`) {
		t.Error(err)
	}
}

// TestNodeConsumerTimeout: the broker takes back what is held for too long; that has words of its
// own, and nothing is shown twice.
func TestNodeConsumerTimeout(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	bodies := c.publish(t, "", "q", 0, 20)
	before := c.node.Eval(t, "[application:get_env(rabbit, K) || K <- [consumer_timeout, channel_tick_interval]].")
	c.node.Eval(
		t,
		"application:set_env(rabbit, consumer_timeout, 500), application:set_env(rabbit, channel_tick_interval, 200).",
	)
	r := run(t, Config{URL: c.url(), Queue: "q"})
	st := r.untilKind(t, KindTimeout)
	c.node.Eval(
		t,
		"application:set_env(rabbit, consumer_timeout, 1800000), application:set_env(rabbit, channel_tick_interval, 60000).",
	)
	if !strings.Contains(before, "1800000") || !strings.Contains(before, "60000") {
		t.Errorf("the node's settings were %s", before)
	}
	if !strings.Contains(st.Error, "consumer timeout") {
		t.Error(st.Error)
	}
	var again source.Status
	until(t, "reading again", func() bool {
		again = r.Status()
		return again.State == source.Consuming && again.Held == 20
	})
	// RabbitMQ named 500 ms, so peek holds for half of that.
	if hold := again.GiveBackAt.Sub(again.HeldSince); hold != 250*time.Millisecond {
		t.Errorf("holds for %s", hold)
	}
	if n := int(r.archive.Snapshot().Last()); n != len(bodies) {
		t.Errorf("%d messages stored of %d", n, len(bodies))
	}
}

// TestNodeForgedDeliveryCount: in a classic queue anybody may have written the header that quorum
// queues count in.
func TestNodeForgedDeliveryCount(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	for range 3 {
		if err := c.PublishWithContext(t.Context(), "", "q", false, false, amqp.Publishing{
			Headers: amqp.Table{"x-delivery-count": int64(19), "x-acquired-count": int64(19)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	c.ready(t, "q", 3)
	r := run(t, Config{URL: c.url(), Queue: "q"})
	r.untilStored(t, 3)
	if st := r.Status(); st.Error != "" || st.QueueType != "classic" {
		t.Errorf("%+v", st)
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	c.ready(t, "q", 3)
}

// TestNodeDrainOfAStream: acknowledging removes nothing from a stream, so drain does not claim it.
func TestNodeDrainOfAStream(t *testing.T) {
	c := dial(t)
	c.declare(t, "s", amqp.Table{"x-queue-type": "stream"})
	c.publish(t, "", "s", 0, 5)
	r := run(t, Config{URL: c.url(), Queue: "s", Mode: source.Drain, AcceptLoss: true})
	st := r.untilState(t, source.Stopped)
	if st.Kind != KindQueueType || !strings.Contains(st.Error, "is a stream") || st.Acknowledged != 0 || st.Stored != 0 {
		t.Errorf("%+v", st)
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	again := run(t, Config{URL: c.url(), Queue: "s", Mode: source.Stream, Offset: "first"})
	again.untilStored(t, 5)
}
