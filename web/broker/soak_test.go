//go:build soak

package broker

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/eventually"
	"github.com/headerglass/headerglass/web/spool"
)

// TestSoakNodeKilledUnderLoad: 20,000 persistent messages, a node that is killed in the middle and
// back after five seconds. Reading goes on within two seconds of the port answering, every message
// is shown once, none is lost, and no goroutine is left.
func TestSoakNodeKilledUnderLoad(t *testing.T) {
	for _, tc := range []struct {
		name string
		args amqp.Table
		cfg  Config
	}{
		{"peek, classic", nil, Config{Window: 30_000}},
		{"drain, classic", nil, Config{Mode: source.Drain, Prefetch: 200}},
		{"drain, quorum", amqp.Table{"x-queue-type": "quorum"}, Config{Mode: source.Drain, Prefetch: 200}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const n = 20_000
			c := dial(t)
			c.declare(t, "q", tc.args)
			want := c.publish(t, "", "q", 0, n)
			// a queue that is younger than half a second may not survive
			c.node.Eval(t, "[dets:sync(T) || T <- dets:all()].")
			cfg := tc.cfg
			cfg.URL, cfg.Queue = c.url(), "q"
			if cfg.Mode == source.Drain {
				cfg.Spool = openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{})
			}
			r := run(t, cfg)
			r.untilStored(t, n/10)
			c.node.Kill()
			stored := r.archive.Snapshot().Last()
			killed := time.Now()
			if st := r.untilState(t, source.Reconnecting); st.Error == "" || st.NextAttempt.IsZero() {
				t.Errorf("%+v", st)
			}
			noticed := time.Since(killed)
			<-time.After(5*time.Second - noticed)
			serves := make(chan time.Time, 1)
			go func() {
				for c.node.Serves() != nil {
					<-time.After(10 * time.Millisecond)
				}
				serves <- time.Now()
			}()
			reads := make(chan time.Time, 1)
			go func() {
				for r.Status().State != source.Consuming && r.Status().State != source.WindowFull {
					<-time.After(10 * time.Millisecond)
				}
				reads <- time.Now()
			}()
			if err := c.node.Restart(); err != nil {
				t.Fatal(err)
			}
			back := (<-reads).Sub(<-serves)
			c.connect(t)
			eventually.True(t, time.Minute, "all stored", func() bool { return r.archive.Snapshot().Last() >= n })
			eventually.True(t, time.Minute, "all acknowledged", func() bool {
				st := r.Status()
				return cfg.Mode == source.Peek || st.Held == 0 && st.State == source.Consuming
			})
			known := r.Status().Known
			if err := r.stop(t); err != nil {
				t.Fatal(err)
			}
			got := r.bodies()
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d messages shown of %d, %d of them once", len(got), n, len(slices.Compact(got)))
			}
			left := 0
			if cfg.Mode == source.Peek {
				left = n
			}
			c.ready(t, "q", left)
			t.Logf(
				"killed after %d messages, noticed after %s, reading again %s after the port answers, %d delivered again and known",
				stored,
				noticed.Round(time.Millisecond),
				back.Round(time.Millisecond),
				known,
			)
			if back > 2*time.Second {
				t.Errorf("that is too late")
			}
			if stacks := stacks(); strings.Contains(stacks, ".(*session)") || strings.Contains(stacks, ".(*spooler)") ||
				strings.Contains(stacks, "wire.(*Tap)") {
				t.Errorf("goroutines are left: %s", stacks) // TestMain looks for all others
			}
		})
	}
}

func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}
