package broker

import (
	"fmt"
	"slices"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// TestNodeStreamNextSkipsNothingOverAReconnect: the connection of a reader that has seen nothing
// yet breaks, and what is published before it is back is shown.
func TestNodeStreamNextSkipsNothingOverAReconnect(t *testing.T) {
	for _, before := range []int{0, 1, 3000} {
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			c := dial(t)
			c.declare(t, "s", amqp.Table{"x-queue-type": "stream"})
			if before > 0 {
				c.publish(t, "", "s", 0, before)
			}
			p, through := via(t, c.url())
			r := run(t, Config{URL: through, Queue: "s", Mode: source.Stream})
			r.untilState(t, source.Consuming)
			p.refuse(true)
			p.cut()
			r.untilState(t, source.Reconnecting)
			want := c.publish(t, "", "s", before, 20)
			p.refuse(false)
			r.untilStored(t, 20)
			want = append(want, c.publish(t, "", "s", before+20, 1)...)
			r.untilStored(t, 21)
			if got := r.bodies(); !slices.Equal(got, want) {
				t.Errorf("%d messages, from %v", len(got), got[:min(3, len(got))])
			}
		})
	}
}
