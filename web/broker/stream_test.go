package broker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

func stream(t *testing.T, n int) (*client, []string) {
	t.Helper()
	c := dial(t)
	c.declare(t, "s", amqp.Table{"x-queue-type": "stream"})
	return c, c.publish(t, "", "s", 0, n)
}

func TestNodeStreamFromEachOffset(t *testing.T) {
	c, bodies := stream(t, 300)
	for _, tc := range []struct {
		offset string
		want   []string
	}{
		{"first", bodies},
		{"120", bodies[120:]}, // chunks begin earlier: what is below must not show
		{"299", bodies[299:]},
		{"1h", bodies},
		{time.Now().Add(-time.Hour).Format(time.RFC3339), bodies},
	} {
		t.Run(tc.offset, func(t *testing.T) {
			r := run(t, Config{URL: c.url(), Queue: "s", Mode: source.Stream, Offset: tc.offset, Prefetch: 50})
			r.untilStored(t, uint64(len(tc.want)))
			if err := r.stop(t); err != nil {
				t.Fatal(err)
			}
			if got := r.bodies(); !slices.Equal(got, tc.want) {
				t.Errorf("%d messages, from %v", len(got), got[:min(3, len(got))])
			}
			if st := r.Status(); st.StreamOffset != 299 || st.QueueType != "stream" {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestNodeStreamNext(t *testing.T) {
	c, _ := stream(t, 50)
	r := run(t, Config{URL: c.url(), Queue: "s", Mode: source.Stream})
	r.untilState(t, source.Consuming)
	want := c.publish(t, "", "s", 50, 30)
	r.untilStored(t, 30)
	if !slices.Equal(r.bodies(), want) {
		t.Errorf("%v", r.bodies())
	}
}

func TestNodeStreamResumesAfterEachCutWithNothingTwiceAndNothingSkipped(t *testing.T) {
	c, bodies := stream(t, 500)
	p, through := via(t, c.url())
	r := run(t, Config{URL: through, Queue: "s", Mode: source.Stream, Offset: "first", Prefetch: 10})
	for cut := range uint64(3) {
		r.untilStored(t, 50+100*cut)
		p.cut()
		until(t, fmt.Sprintf("reconnect %d", cut+1), func() bool { return r.Status().Reconnects > cut })
		bodies = append(bodies, c.publish(t, "", "s", len(bodies), 20)...)
	}
	r.untilStored(t, uint64(len(bodies)))
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	if got := r.bodies(); !slices.Equal(got, bodies) {
		t.Errorf("%d messages instead of %d, or another order", len(got), len(bodies))
	}
}

func TestNodeTwoReadersOfAStreamSeeTheSame(t *testing.T) {
	c, bodies := stream(t, 200)
	a := run(t, Config{URL: c.url(), Queue: "s", Mode: source.Stream, Offset: "first"})
	b := run(t, Config{URL: c.url(), Queue: "s", Mode: source.Stream, Offset: "first"})
	a.untilStored(t, 200)
	b.untilStored(t, 200)
	if !slices.Equal(a.bodies(), bodies) || !slices.Equal(b.bodies(), bodies) {
		t.Error("they differ")
	}
}
