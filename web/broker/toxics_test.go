package broker

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/spool"
)

// toxic stands between a consumer and a broker and harms the connection as a network does.
type toxic struct{ *toxiproxy.Proxy }

// through starts a toxic in front of an AMQP URL and returns the URL that leads through it.
func through(t *testing.T, raw string) (toxic, string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	p := toxiproxy.NewProxy(
		toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		t.Name(),
		"127.0.0.1:0",
		u.Host,
	)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	u.Host = p.Listen
	return toxic{p}, u.String()
}

// add begins a harm to what the broker sends ("downstream") or is sent ("upstream").
func (x toxic) add(t *testing.T, kind, stream, attributes string) {
	t.Helper()
	toxic := fmt.Sprintf(`{"name":%q,"type":%q,"stream":%q,"attributes":{%s}}`, kind+stream, kind, stream, attributes)
	if _, err := x.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatal(err)
	}
}

func (x toxic) end() { x.Toxics.ResetToxics(context.Background()) }

// TestNodeOverABadNetwork: whatever the network does, each message is shown once and acknowledged
// on the channel that it came from.
func TestNodeOverABadNetwork(t *testing.T) {
	const n, heartbeat = 400, 2 * time.Second
	for _, tc := range []struct {
		name string
		harm func(t *testing.T, x toxic, r *running)
	}{
		{"latency", func(t *testing.T, x toxic, _ *running) {
			x.end()
			x.add(t, "latency", "downstream", `"latency":150,"jitter":100`)
			x.add(t, "latency", "upstream", `"latency":150,"jitter":100`)
		}},
		{"slices of one octet", func(t *testing.T, x toxic, _ *running) {
			x.add(t, "slicer", "downstream", `"average_size":1,"size_variation":0,"delay":0`)
			x.add(t, "slicer", "upstream", `"average_size":1,"size_variation":0,"delay":0`)
		}},
		{"a narrow line", func(t *testing.T, x toxic, _ *running) {
			x.add(t, "bandwidth", "downstream", `"rate":20`)
		}},
		{"resets", func(t *testing.T, x toxic, r *running) {
			for i := range uint64(3) {
				x.add(t, "reset_peer", "downstream", `"timeout":0`)
				st := r.untilState(t, source.Reconnecting)
				if st.Kind != KindLost && st.Kind != KindProtocol || st.Error == "" || st.NextAttempt.IsZero() {
					t.Errorf("%+v", st)
				}
				x.end()
				until(t, "reading again", func() bool { return r.Status().Reconnects > i })
			}
		}},
		{"half-open", func(t *testing.T, x toxic, r *running) {
			x.add(t, "timeout", "downstream", `"timeout":0`)
			x.add(t, "timeout", "upstream", `"timeout":0`)
			st := r.untilState(t, source.Reconnecting)
			if st.Kind != KindLost || !strings.Contains(st.Error, "dead") {
				t.Errorf("%+v", st)
			}
			x.end()
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := dial(t)
			c.declare(t, "q", nil)
			want := c.publish(t, "", "q", 0, n)
			x, address := through(t, c.url())
			// so that the harm comes while there is much to read
			x.add(t, "latency", "upstream", `"latency":20`)
			logged := len(c.node.Log())
			r := run(t, Config{
				URL:       address,
				Queue:     "q",
				Mode:      source.Drain,
				Prefetch:  20,
				Heartbeat: heartbeat,
				Spool:     openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{}),
			})
			r.untilStored(t, n/10)
			tc.harm(t, x, r)
			want = append(want, c.publish(t, "", "q", n, 20)...)
			r.untilStored(t, n+20)
			until(t, "all acknowledged", func() bool { return r.Status().Held == 0 })
			if err := r.stop(t); err != nil {
				t.Fatal(err)
			}
			c.ready(t, "q", 0)
			if got := r.bodies(); !slices.Equal(got, want) {
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%d messages shown of %d, or another order", len(got), len(want))
				}
			}
			if log := c.node.Log()[logged:]; strings.Contains(log, "unknown delivery tag") {
				t.Errorf("acknowledged on another channel: %s", log)
			}
		})
	}
}
