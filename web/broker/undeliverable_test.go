package broker

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	amqp1 "github.com/Azure/go-amqp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// amqp1Send publishes with AMQP 1.0.
func (c *client) amqp1Send(t *testing.T, queue string, properties map[string]any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := amqp1.Dial(ctx, "amqp://guest:guest@"+c.node.Addr(), &amqp1.ConnOptions{HostName: "vhost:" + c.vhost})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := session.NewSender(ctx, "/queues/"+queue, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &amqp1.Message{
		Header:                &amqp1.MessageHeader{Durable: true},
		Data:                  [][]byte{[]byte("undeliverable")},
		ApplicationProperties: properties,
	}
	if err := sender.Send(ctx, m, nil); err != nil {
		t.Fatal(err)
	}
}

// undeliverables are properties that RabbitMQ 4.0 cannot convert for a 0-9-1 consumer.
func undeliverables() map[string]map[string]any {
	return map[string]map[string]any{
		"NaN":  {"k": math.NaN()},
		"uuid": {"u": amqp1.UUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
	}
}

// TestNodeMessageThatTheBrokerCannotDeliver: it costs no other message, and its own is not used up.
func TestNodeMessageThatTheBrokerCannotDeliver(t *testing.T) {
	c := dialNode(t, node4)
	for _, tc := range []struct {
		name  string
		args  amqp.Table
		cfg   Config
		left  int // of 11
		shown int
		state source.State
	}{
		{"drain-quorum", amqp.Table{"x-queue-type": "quorum"}, Config{
			Mode:       source.Drain,
			AcceptLoss: true,
		}, 6, 5, source.Stopped},
		{"drain-quorum-3", amqp.Table{
			"x-queue-type":     "quorum",
			"x-delivery-limit": int32(3),
		}, Config{
			Mode:       source.Drain,
			AcceptLoss: true,
		}, 6, 5, source.Stopped},
		{"drain-classic", nil, Config{Mode: source.Drain, AcceptLoss: true}, 6, 5, source.Reconnecting},
		{"peek-classic", nil, Config{}, 11, 5, source.Reconnecting},
		{"peek-quorum", amqp.Table{"x-queue-type": "quorum"}, Config{AcceptRedeliveryCount: true}, 11, 5, source.Stopped},
		{"stream", amqp.Table{"x-queue-type": "stream"}, Config{
			Mode:   source.Stream,
			Offset: "first",
		}, 11, 10, source.Consuming},
	} {
		for what, properties := range undeliverables() {
			for _, managed := range []bool{false, true} {
				queue := fmt.Sprintf("%s-%s-%t", tc.name, what, managed)
				if tc.name == "peek-quorum" && !managed {
					continue // refused without the limit
				}
				t.Run(queue, func(t *testing.T) {
					c.declare(t, queue, tc.args)
					want := c.publish(t, "", queue, 0, 5)
					c.amqp1Send(t, queue, properties)
					behind := c.publish(t, "", queue, 5, 5)
					cfg := tc.cfg
					cfg.URL, cfg.Queue = c.url(), queue
					if managed {
						cfg.ManagementURL = c.node.ManagementURL()
						c.managed(t, queue)
					}
					r := run(t, cfg)
					if tc.state == source.Consuming {
						want = append(want, behind...)
						r.untilStored(t, 10)
						until(t, "one is left out", func() bool { return r.Status().Undeliverable == 1 })
					} else {
						st := r.untilKind(t, KindUndeliverable)
						if st.State != tc.state || !strings.Contains(st.Error, "its log says why") {
							t.Errorf("%s: %s", st.State, st.Error)
						}
						if st.State == source.Reconnecting && time.Until(st.NextAttempt) < time.Minute {
							t.Errorf("next attempt in %s", time.Until(st.NextAttempt))
						}
					}
					if got := r.bodies(); !slices.Equal(got, want) {
						t.Errorf("shown: %v", got)
					}
					if err := r.stop(t); err != nil {
						t.Fatal(err)
					}
					if tc.state != source.Consuming {
						c.ready(t, queue, tc.left)
					}
				})
			}
		}
	}
}

// TestNodePeekLeavesACountingQueueAsItWas: however often it is started, no message is used up.
func TestNodePeekLeavesACountingQueueAsItWas(t *testing.T) {
	c := dialNode(t, node4)
	for _, tc := range []struct {
		name    string
		limit   any
		managed bool
		starts  int
		reads   bool
		words   string
	}{
		{"default", nil, true, 16, true, "after 20 the queue drops"},
		{"twelve", int32(12), true, 10, true, "after 12 the queue drops"},
		{"five", int32(5), true, 10, false, "more than 5 times"},
		{"three", int32(3), false, 10, false, "peek does not know after how many"},
		{"default unknown", nil, false, 30, false, "peek does not know after how many"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := amqp.Table{"x-queue-type": "quorum"}
			if tc.limit != nil {
				args["x-delivery-limit"] = tc.limit
			}
			c.declare(t, tc.name, args)
			c.publish(t, "", tc.name, 0, 5)
			cfg := Config{URL: c.url(), Queue: tc.name, AcceptRedeliveryCount: true}
			if tc.managed {
				c.managed(t, tc.name)
				cfg.ManagementURL = c.node.ManagementURL()
			}
			read := false
			var last source.Status
			for range tc.starts {
				r := run(t, cfg)
				until(t, "it reads or stops", func() bool {
					last = r.Status()
					return last.State == source.Stopped || last.Held == 5
				})
				read = read || last.Held == 5
				if err := r.stop(t); err != nil {
					t.Fatal(err)
				}
			}
			if read != tc.reads || last.State != source.Stopped || !strings.Contains(last.Error, tc.words) {
				t.Errorf("read: %t; %s: %s", read, last.State, last.Error)
			}
			c.ready(t, tc.name, 5)
		})
	}
}

// TestNodeManagementOfVersion4KnowsTheLimits: what nothing is set for has the default of 20.
func TestNodeManagementOfVersion4KnowsTheLimits(t *testing.T) {
	c := dialNode(t, node4)
	c.declare(t, "q", amqp.Table{"x-queue-type": "quorum"})
	c.managed(t, "q")
	cfg := Config{URL: c.url(), Queue: "q", AcceptRedeliveryCount: true, ManagementURL: c.node.ManagementURL()}
	if st := run(t, cfg).untilState(t, source.Consuming); st.DeliveryLimit != 20 || len(st.Notes) != 0 {
		t.Errorf("limit %d, notes %q", st.DeliveryLimit, st.Notes)
	}
	c.declare(t, "none", amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int32(-1)})
	c.managed(t, "none")
	cfg.Queue = "none"
	st := run(t, cfg).untilState(t, source.Consuming)
	if st.DeliveryLimit != 0 || len(st.Notes) != 1 || !strings.Contains(st.Notes[0], "its order changes") {
		t.Errorf("limit %d, notes %q", st.DeliveryLimit, st.Notes)
	}
	c.node.Do(t, http.MethodPut, "policies/"+c.vhost+"/limited", map[string]any{
		"pattern": "^q$", "definition": map[string]any{"delivery-limit": 15}, "apply-to": "queues",
	})
	cfg.Queue = "q"
	until(t, "the policy applies", func() bool {
		r := run(t, cfg)
		st := r.untilState(t, source.Consuming)
		return r.stop(t) == nil && st.DeliveryLimit == 15
	})
}
