//go:build qpid

package broker

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web"
	"github.com/headerglass/headerglass/web/sources"
)

// TestQpidPeekTakesNothing: another consumer gets everything at once, and nothing is flagged as
// redelivered.
func TestQpidPeekTakesNothing(t *testing.T) {
	c := dialQpid(t)
	c.qpid.Queue(t, c.vhost, "q", map[string]any{"maximumDeliveryAttempts": 2})
	bodies := c.publish(t, "", "q", 0, 50)
	for range 4 { // more often than a message may be delivered
		r := run(t, Config{URL: c.url(), Queue: "q", Window: 10})
		r.untilStored(t, 50)
		if st := r.Status(); !st.Browsing || st.Held != 0 || st.State != source.Consuming {
			t.Errorf("%+v", st)
		}
		if !slices.Equal(r.bodies(), bodies) {
			t.Errorf("shown: %v", r.bodies())
		}
		if err := r.stop(t); err != nil {
			t.Fatal(err)
		}
		if st := r.Status(); st.GivenBack != 0 {
			t.Errorf("%d given back", st.GivenBack)
		}
	}
	r := run(t, Config{URL: c.url(), Queue: "q"})
	r.untilStored(t, 50)
	var got []string
	for range bodies {
		m, ok, err := c.Get("q", true)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if m.Redelivered {
			t.Errorf("%s is flagged as redelivered", m.Body)
		}
		got = append(got, string(m.Body))
	}
	if !slices.Equal(got, bodies) {
		t.Errorf("another consumer gets %v", got)
	}
	c.publish(t, "", "q", 100, 1)
	r.untilStored(t, 51)
}

// TestQpidCopy: the copy's queue has Qpid's own names for its bounds.
func TestQpidCopy(t *testing.T) {
	c := dialQpid(t)
	c.declare(t, "q", nil)
	if err := c.QueueBind("q", "order.#", "amq.topic", false, nil); err != nil {
		t.Fatal(err)
	}
	r := run(t, Config{
		URL:           c.url(),
		Mode:          source.Copy,
		Exchange:      "amq.topic",
		Bindings:      []string{"order.#"},
		CopyMaxLength: 500,
	})
	st := r.untilState(t, source.Consuming)
	var queue struct {
		Messages int    `json:"maximumQueueDepthMessages"`
		Bytes    int    `json:"maximumQueueDepthBytes"`
		Policy   string `json:"overflowPolicy"`
	}
	path := "queue/" + c.vhost + "/" + c.vhost + "/" + url.PathEscape(st.Queue)
	if err := c.qpid.API(http.MethodGet, path, nil, &queue); err != nil {
		t.Fatal(err)
	}
	if queue.Messages != 500 || queue.Bytes != DefaultCopyMaxBytes || queue.Policy != "RING" {
		t.Errorf("%+v", queue)
	}
	want := c.publish(t, "amq.topic", "order.placed", 0, 20)
	r.untilStored(t, 20)
	if !slices.Equal(r.bodies(), want) {
		t.Errorf("copied: %v", r.bodies())
	}
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	c.ready(t, "q", 20)
	until(t, "the copy's queue is gone", func() bool { return c.qpid.API(http.MethodGet, path, nil, nil) != nil })
}

// TestQpidQueueDeleted: no basic.cancel tells that, and reading goes on when the queue is there
// again.
func TestQpidQueueDeleted(t *testing.T) {
	for _, mode := range []source.Mode{source.Peek, source.Drain} {
		t.Run(string(mode), func(t *testing.T) {
			c := dialQpid(t)
			c.declare(t, "q", nil)
			c.publish(t, "", "q", 0, 5)
			r := run(t, Config{URL: c.url(), Queue: "q", Mode: mode, AcceptLoss: true})
			r.untilStored(t, 5)
			ready := readiness(t, r)
			if code, text := ready(); code != http.StatusOK {
				t.Errorf("while it reads: %d %s", code, text)
			}
			c.qpid.Do(t, http.MethodDelete, "queue/"+c.vhost+"/"+c.vhost+"/q", nil)
			r.untilKind(t, KindNotFound)
			if code, text := ready(); code != http.StatusServiceUnavailable {
				t.Errorf("without the queue: %d %s", code, text)
			}
			c.declare(t, "q", nil)
			c.publish(t, "", "q", 50, 1)
			r.untilStored(t, 6)
			r.untilState(t, source.Consuming)
			if code, text := ready(); code != http.StatusOK {
				t.Errorf("when it is there again: %d %s", code, text)
			}
		})
	}
}

// readiness asks the explorer of r for /readyz.
func readiness(t *testing.T, r *running) func() (code int, text string) {
	t.Helper()
	site, err := web.New(web.Config{Sources: []sources.Source{{Archive: r.archive, Status: r.Status}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Close)
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	return func() (int, string) {
		resp, err := server.Client().Get(server.URL + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

// TestQpidDrainOfANonDestructiveQueue removes nothing, and that is said.
func TestQpidDrainOfANonDestructiveQueue(t *testing.T) {
	c := dialQpid(t)
	c.qpid.Queue(t, c.vhost, "q", map[string]any{"ensureNondestructiveConsumers": true})
	c.publish(t, "", "q", 0, 5)
	r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, AcceptLoss: true})
	r.untilStored(t, 5)
	until(t, "said to remove nothing", func() bool { return r.Status().Undrained })
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	c.ready(t, "q", 5)
}

// TestQpidKilledAndRestarted: after a crash Qpid delivers again what it had not yet written down as
// acknowledged, and does not flag it. Each message is shown once.
func TestQpidKilledAndRestarted(t *testing.T) {
	c := dialQpid(t)
	c.declare(t, "q", nil)
	const n = 2000
	want := c.publish(t, "", "q", 0, n)
	r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, AcceptLoss: true, Prefetch: 50})
	r.untilStored(t, n/3)
	c.qpid.Kill()
	r.untilState(t, source.Reconnecting)
	if err := c.qpid.Restart(); err != nil {
		t.Fatal(err)
	}
	c.connect(t)
	r.untilState(t, source.Consuming)
	want = append(want, c.publish(t, "", "q", n, 1)...)
	r.untilStored(t, n+1)
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	got := r.bodies()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d messages shown of %d", len(got), len(want))
	}
	c.ready(t, "q", 0)
}
