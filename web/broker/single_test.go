package broker

import (
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// TestNodeSingleActiveConsumer: peek says before it reads that others wait, and makes way when one
// comes.
func TestNodeSingleActiveConsumer(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) { makesWay(t, kind) })
	}
}

func makesWay(t *testing.T, kind string) {
	c := dialNode(t, node4)
	c.declare(t, "q", amqp.Table{"x-queue-type": kind, "x-single-active-consumer": true})
	c.managed(t, "q")
	c.publish(t, "", "q", 0, 3)
	r := run(t, Config{
		URL: c.url(), Queue: "q", ManagementURL: c.node.ManagementURL(), Hold: time.Hour,
		AcceptRedeliveryCount: kind == "quorum",
	})
	r.untilStored(t, 3)
	if st := r.Status(); len(st.Notes) != 1 || !strings.Contains(st.Notes[0], "one consumer at a time") {
		t.Errorf("notes: %q", st.Notes)
	}
	got, err := c.Consume("q", "application", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.untilState(t, source.Paused)
	for range 3 {
		select {
		case m := <-got:
			if err := m.Ack(false); err != nil {
				t.Fatal(err)
			}
		case <-time.After(patience):
			t.Fatal("the application gets nothing")
		}
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	c.ready(t, "q", 0)
}
