package broker

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// TestNodeMemoryAlarm: a node that is short of memory blocks who publishes. An explorer publishes
// nothing, so RabbitMQ neither blocks it nor tells it: it goes on reading, which is what relieves
// the node.
func TestNodeMemoryAlarm(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	c.publish(t, "", "q", 0, 200)
	conn, err := amqp.Dial(c.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 2))
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	before := run(t, Config{URL: c.url(), Queue: "q", Window: 10})
	before.untilState(t, source.WindowFull)

	clear := func() { c.node.Eval(t, "vm_memory_monitor:set_vm_memory_high_watermark(0.4).") }
	t.Cleanup(func() {
		if t.Failed() {
			clear()
		}
	})
	c.node.Eval(t, "vm_memory_monitor:set_vm_memory_high_watermark({absolute, 1000000}).")
	if err := ch.PublishWithContext(t.Context(), "", "q", false, false, amqp.Publishing{Body: []byte("201")}); err != nil {
		t.Fatal(err)
	}
	if b := <-blocked; !b.Active || b.Reason != "low on memory" {
		t.Errorf("the publisher is told %+v", b)
	}
	during := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, AcceptLoss: true})
	during.untilStored(t, 190)
	for _, r := range []*running{before, during} {
		if st := r.Status(); st.State != source.Consuming && st.State != source.WindowFull || st.Blocked != "" ||
			st.Error != "" {
			t.Errorf("%+v", st)
		}
	}
	clear()
	if b := <-blocked; b.Active {
		t.Errorf("the publisher is told %+v", b)
	}
	during.untilStored(t, 191)
	if err := before.stop(t); err != nil {
		t.Fatal(err)
	}
	during.untilStored(t, 201)
	if st := before.Status(); st.GivenBack != 10 {
		t.Errorf("%+v", st)
	}
}
