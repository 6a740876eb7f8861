package broker

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/demoserver"
	"github.com/headerglass/headerglass/web/spool"
)

func listen(t *testing.T, cfg demoserver.Config) *demoserver.Server {
	t.Helper()
	s, err := demoserver.Listen("127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// publish fills a queue with n messages with the bodies "1" to n.
func publish(t *testing.T, s *demoserver.Server, queue string, n int) (bodies []string) {
	t.Helper()
	s.Declare(queue)
	for i := range n {
		body := fmt.Sprint(i + 1)
		bodies = append(bodies, body)
		if err := s.Publish(t.Context(), queue, demoserver.Message{
			Exchange:   "x",
			RoutingKey: "k",
			Body:       []byte(body),
		}); err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}

func queueIs(t *testing.T, s *demoserver.Server, queue string, want demoserver.QueueInfo) {
	t.Helper()
	until(t, fmt.Sprintf("queue is %+v", want), func() bool { got, _ := s.Queue(queue); return got == want })
}

func TestPeekGivesBackEverythingInOrder(t *testing.T) {
	s := listen(t, demoserver.Config{})
	bodies := publish(t, s, "q", 100)
	r := run(t, Config{URL: s.URL(), Queue: "q", Window: 40})
	st := r.untilState(t, source.WindowFull)
	if st.Held != 40 || st.Stored != 40 || !slices.Equal(r.bodies(), bodies[:40]) {
		t.Fatalf("held %d, stored %d: %v", st.Held, st.Stored, r.bodies())
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	queueIs(t, s, "q", demoserver.QueueInfo{Ready: 100})
	if st := r.Status(); st.GivenBack != 40 || st.Held != 0 || st.State != source.Stopped {
		t.Errorf("after the end: %+v", st)
	}
	again := run(t, Config{URL: s.URL(), Queue: "q", Window: 200})
	again.untilStored(t, 100)
	if !slices.Equal(again.bodies(), bodies) {
		t.Errorf("the order has changed: %v", again.bodies())
	}
}

func TestDrainAcknowledgesWhatIsStored(t *testing.T) {
	s := listen(t, demoserver.Config{})
	bodies := publish(t, s, "q", 5000)
	r := run(t, Config{URL: s.URL(), Queue: "q", Mode: source.Drain, AcceptLoss: true, Prefetch: 100})
	r.untilStored(t, 5000)
	queueIs(t, s, "q", demoserver.QueueInfo{Consumers: 1})
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	if st := r.Status(); st.Acknowledged != 5000 || st.Stored != 5000 {
		t.Errorf("%+v", st)
	}
	if !slices.Equal(r.bodies(), bodies) {
		t.Error("the archive holds something else")
	}
}

// TestDrainShowsEachMessageOnceThoughTheConnectionBreaksAgainAndAgain: a message whose
// acknowledgement was lost comes back marked as redelivered, and is known.
func TestDrainShowsEachMessageOnceThoughTheConnectionBreaksAgainAndAgain(t *testing.T) {
	s := listen(t, demoserver.Config{})
	bodies := publish(t, s, "q", 2000)
	s.SetFaults(demoserver.Faults{DropAfter: 40_000, WriteChunk: 4096})
	r := run(t, Config{URL: s.URL(), Queue: "q", Mode: source.Drain, AcceptLoss: true, Prefetch: 300})
	until(t, "two connections broke", func() bool { return r.Status().Reconnects >= 2 })
	s.SetFaults(demoserver.Faults{})
	r.untilStored(t, 2000)
	queueIs(t, s, "q", demoserver.QueueInfo{Consumers: 1})
	if got := r.bodies(); !slices.Equal(got, bodies) {
		t.Errorf("%d messages stored of 2000, or another order", len(got))
	}
}

func TestPeekShowsEachMessageOnceThoughTheConnectionBreaks(t *testing.T) {
	s := listen(t, demoserver.Config{})
	bodies := publish(t, s, "q", 500)
	s.SetFaults(demoserver.Faults{DropAfter: 10_000})
	r := run(t, Config{URL: s.URL(), Queue: "q"})
	until(t, "a connection broke", func() bool { return r.Status().Reconnects >= 1 })
	s.SetFaults(demoserver.Faults{})
	s.Drop()
	until(t, "all held", func() bool { return r.Status().Held == 500 })
	if got := r.bodies(); !slices.Equal(got, bodies) {
		t.Errorf("%d messages stored of 500, or another order", len(got))
	}
	if st := r.Status(); st.Known == 0 {
		t.Errorf("%+v", st)
	}
}

// TestPeekOfABrokerThatLooksAtNoArgument: the probe gets a delivery there, gives it back, and the
// order stays.
func TestPeekOfABrokerThatLooksAtNoArgument(t *testing.T) {
	s := listen(t, demoserver.Config{AnyArgument: true})
	bodies := publish(t, s, "q", 20)
	r := run(t, Config{URL: s.URL(), Queue: "q"})
	r.untilStored(t, 20)
	if !slices.Equal(r.bodies(), bodies) || r.Status().QueueType != "" {
		t.Errorf("%v %+v", r.bodies(), r.Status())
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	queueIs(t, s, "q", demoserver.QueueInfo{Ready: 20})
}

func TestOneOctetAtATime(t *testing.T) {
	s := listen(t, demoserver.Config{})
	bodies := publish(t, s, "q", 30)
	s.SetFaults(demoserver.Faults{WriteChunk: 1})
	r := run(t, Config{URL: s.URL(), Queue: "q"})
	r.untilStored(t, 30)
	if !slices.Equal(r.bodies(), bodies) {
		t.Errorf("%v", r.bodies())
	}
}

func TestStatusTellsOthersAndDepth(t *testing.T) {
	s := listen(t, demoserver.Config{})
	publish(t, s, "q", 30)
	a := run(t, Config{URL: s.URL(), Queue: "q", Window: 10})
	a.untilState(t, source.WindowFull)
	b := run(t, Config{URL: s.URL(), Queue: "q", Window: 10})
	b.untilState(t, source.WindowFull)
	// The first look may come while one of them widens its subscription.
	until(t, "b has observed", func() bool { st := b.Status(); return st.Ready == 10 && st.Consumers == 1 })
	st := b.Status()
	if st.State != source.WindowFull || st.HeldSince.IsZero() ||
		st.GiveBackAt.Sub(st.HeldSince) != DefaultHold {
		t.Errorf("%+v", st)
	}
}

// TestMessageBrokenOff: AMQP lets a broker end a message early with the next method on the channel.
// It was not stored, so nothing from there on is acknowledged; all of it is given back.
func TestMessageBrokenOff(t *testing.T) {
	for _, tc := range []struct {
		name         string
		cfg          Config
		spooled      bool
		acknowledged int
	}{
		{"peek", Config{}, false, 0},
		{"drain", Config{Mode: source.Drain, AcceptLoss: true}, false, 5},
		{"spool", Config{Mode: source.Drain}, true, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := listen(t, demoserver.Config{})
			bodies := publish(t, s, "q", 5)
			if err := s.Publish(t.Context(), "q", demoserver.Message{
				Header: content(nil, make([]byte, 10)),
				Body:   []byte("half"),
			}); err != nil {
				t.Fatal(err)
			}
			publish(t, s, "q", 3)
			t.Parallel() // a drain waits for two heartbeats
			cfg := tc.cfg
			cfg.URL, cfg.Queue, cfg.Heartbeat = s.URL(), "q", 2*time.Second
			if tc.spooled {
				cfg.Spool = openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{})
			}
			r := run(t, cfg)
			st := r.untilKind(t, KindLost)
			if !strings.Contains(st.Error, `broke off a message of queue "q"`) || st.State != source.Reconnecting ||
				st.Acknowledged != uint64(tc.acknowledged) {
				t.Errorf("%+v", st)
			}
			queueIs(t, s, "q", demoserver.QueueInfo{Ready: 9 - tc.acknowledged})
			// Drain begins with one message under way. A broker that sends half of it sends nothing
			// after that.
			until(t, "it is read again", func() bool {
				st := r.Status()
				return st.Reconnects > 0 && st.State == source.Reconnecting
			})
			if err := r.stop(t); err != nil {
				t.Error(err)
			}
			queueIs(t, s, "q", demoserver.QueueInfo{Ready: 9 - tc.acknowledged})
			if got := r.bodies(); !slices.Equal(got, bodies) {
				t.Errorf("stored: %q", got)
			}
		})
	}
}

// TestMessageBrokenOffBeforeItsHeader: then there is nothing of it but its delivery tag.
func TestMessageBrokenOffBeforeItsHeader(t *testing.T) {
	s := testSink(t, 100)
	deliver(s, 1)
	s.Abort(1, true) // 2
	deliver(s, 3)
	if s.stored.Load() != 1 || s.arrived.Load() != 3 || !s.withheld.Load() {
		t.Errorf("stored up to %d, arrived up to %d", s.stored.Load(), s.arrived.Load())
	}
	select {
	case <-s.halt:
	default:
		t.Error("the session goes on")
	}
}
