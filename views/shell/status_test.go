package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/viewtest"
)

// What stands in the safety panel, in the broker's terms.
func TestSafety(t *testing.T) {
	held := source.Status{
		State:      source.WindowFull,
		Since:      viewtest.Now.Add(-time.Minute),
		Mode:       "peek",
		Held:       1,
		Window:     1000,
		HeldSince:  viewtest.Now.Add(-2 * time.Minute),
		GiveBackAt: viewtest.Now.Add(13 * time.Minute),
		GivenBack:  40,
		Consumers:  2,
		Ready:      7,
		ObservedAt: viewtest.Now,
		QueueType:  "quorum",
		Known:      12,
		Reconnects: 1,
	}
	html := viewtest.Render(t, BrokerStrip(held, viewtest.Now))
	for _, part := range []string{
		"peek: holds 1, returns it on exit · shared with 2 other consumers", "On exit what is held, 1 message, is given back", "1 of 1000", "13 min", "Given back so far", "quorum", "Waiting in the queue",
		"Connections made again", "Delivered again, kept once",
	} {
		if !strings.Contains(html, part) {
			t.Errorf("no %q", part)
		}
	}
	html = viewtest.Render(t, BrokerStrip(source.Status{
		State:        source.Consuming,
		Mode:         "demo",
		Acknowledged: 900,
	}, viewtest.Now))
	for _, part := range []string{"takes", "Acknowledged", "removes"} {
		if strings.Contains(html, part) {
			t.Errorf("the demo says %q", part)
		}
	}
	spooled := source.Status{
		Mode:  "drain",
		Spool: &source.Spool{Messages: 1204, Dropped: 7, Bytes: 3 << 20, MaxBytes: 1 << 30},
	}
	html = viewtest.Render(t, BrokerStrip(spooled, viewtest.Now))
	for _, part := range []string{"the next start shows it again", "1204 messages, 3.0 MiB of 1.0 GiB", "Dropped from disk"} {
		if !strings.Contains(html, part) {
			t.Errorf("no %q with a spool", part)
		}
	}
	spooled.Spool.Damage, spooled.Spool.Lost = []string{"1.log at offset 3", "<b>"}, 7
	spooled.Notes = []string{"left out"}
	html = viewtest.Render(t, BrokerStrip(spooled, viewtest.Now))
	for _, part := range []string{
		"The spool is damaged: 1.log at offset 3; and 1 more place, 7 messages lost in all. ", "left out", "Lost on disk", "&lt;b&gt;",
	} {
		if !strings.Contains(html, part) {
			t.Errorf("no %q with a damaged spool", part)
		}
	}
	if html = viewtest.Render(t, BrokerStrip(source.Status{
		Mode:  "drain",
		State: source.Paused,
	}, viewtest.Now)); !strings.Contains(html, `class="badge takes"`) || !strings.Contains(html, "paused") {
		t.Error("drain does not say so loudly")
	}
}

func TestTroubleWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   time.Duration
		want string
	}{
		{"soon", 300 * time.Millisecond, "next attempt now"},
		{"overdue", -5 * time.Second, "next attempt now"},
		{"later", 5 * time.Second, "next attempt in 5 s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Date(2026, 11, 29, 14, 3, 22, 0, time.UTC)
			got := TroubleWords(source.Status{NextAttempt: now.Add(tt.in)}, now)
			if !strings.Contains(got, tt.want) {
				t.Errorf("no %q in %s", tt.want, got)
			}
		})
	}
}

// TestBrokerFactsByMode: what the broker does to headers follows the kind of queue that is read.
func TestBrokerFactsByMode(t *testing.T) {
	for _, tt := range []struct {
		mode                source.Mode
		queueType, has, not string
	}{
		{source.Peek, "classic", "octet for octet", "stream"},
		{source.Drain, "", "octet for octet", "sorted by name"},
		{source.Copy, "", "octet for octet", "quorum"},
		{source.Stream, "", "loses arrays", "octet for octet"},
	} {
		t.Run(string(tt.mode), func(t *testing.T) {
			s := source.Status{Mode: tt.mode, QueueType: tt.queueType, Product: source.RabbitMQ, Version: "3.10.8"}
			all := strings.Join(brokerFacts(s), " ")
			if !strings.Contains(all, tt.has) || strings.Contains(all, tt.not) {
				t.Error(all)
			}
			if html := viewtest.Render(t, BrokerStrip(s, viewtest.Now)); !strings.Contains(html, tt.has) {
				t.Error("not in the panel")
			}
		})
	}
	if says := brokerFacts(source.Status{
		Mode:    source.Replay,
		Product: source.RabbitMQ,
		Version: "3.10.8",
	}); says != nil {
		t.Errorf("of files: %q", says)
	}
}

// TestPeekOfAQuorumQueueNamesTheCost: it is read only where that was accepted.
func TestPeekOfAQuorumQueueNamesTheCost(t *testing.T) {
	const cost = "each look costs every message in it one"
	for _, queueType := range []string{"classic", "quorum"} {
		c := conductOf(source.Status{Mode: source.Peek, QueueType: queueType, Held: 3})
		if strings.Contains(c.exit, cost) != (queueType == "quorum") {
			t.Errorf("%s: %s", queueType, c.exit)
		}
	}
}

// TestEveryModeIsWorded: none falls back on what is said without one, and only drain is said to
// remove.
func TestEveryModeIsWorded(t *testing.T) {
	none := conductOf(source.Status{})
	for _, m := range source.Modes() {
		t.Run(string(m), func(t *testing.T) {
			c := conductOf(source.Status{Mode: m})
			if c.doing == none.doing || c.badge == string(m) {
				t.Errorf("%+v", c)
			}
			if removes := c.class == "takes"; removes != (m == source.Drain) {
				t.Errorf("class %q", c.class)
			}
			var acknowledged string
			for _, f := range safetyFacts(source.Status{Mode: m, Acknowledged: 7}, time.Time{}) {
				if f.value == "7" {
					acknowledged = f.name
				}
			}
			want := map[source.Mode]string{
				source.Drain:  "Acknowledged, so removed",
				source.Copy:   "Acknowledged in the explorer's own queue",
				source.Stream: "Acknowledged to get more, removing nothing",
			}[m]
			if acknowledged != want {
				t.Errorf("acknowledging is called %q, want %q", acknowledged, want)
			}
		})
	}
}

func TestGoldens(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status source.Status
	}{
		{"peek", source.Status{
			State:     source.Consuming,
			Since:     viewtest.Now.Add(-41 * time.Minute),
			Mode:      source.Peek,
			Name:      "orders.dead-letter",
			Held:      312,
			Window:    1000,
			Product:   "RabbitMQ",
			Version:   "3.10.8",
			QueueType: "quorum",
			Kept:      source.Kept{Messages: 12340, Evicted: 1, Bytes: 41 << 20, MaxBytes: 256 << 20, Rate: 48.2},
		}},
		{"down", source.Status{
			State:       source.Reconnecting,
			Mode:        source.Drain,
			Name:        "orders",
			Error:       "The broker refused the <connection>.",
			Since:       viewtest.Now.Add(-3 * time.Minute),
			NextAttempt: viewtest.Now.Add(4 * time.Second),
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			viewtest.GoldenHTML(t, tt.name+".html", viewtest.Render(t, BrokerStrip(tt.status, viewtest.Now)))
		})
	}
}

// TestBrowsingAndUndrained: what is taken and removed is said as it is.
func TestBrowsingAndUndrained(t *testing.T) {
	for _, tt := range []struct {
		name     string
		s        source.Status
		has, not []string
	}{
		{"browsing", source.Status{Mode: source.Peek, Browsing: true, Window: 10},
			[]string{"peek: takes nothing", "none counts as delivered"}, []string{"basic.nack", "Held now", "returns"}},
		{
			"undrained",
			source.Status{Mode: source.Drain, Undrained: true, Acknowledged: 7},
			[]string{"this queue keeps its messages", "Acknowledged, removing nothing"},
			[]string{"so removed", "for good", "badge takes"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			html := viewtest.Render(t, BrokerStrip(tt.s, viewtest.Now))
			for _, part := range tt.has {
				if !strings.Contains(html, part) {
					t.Errorf("no %q", part)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(html, part) {
					t.Errorf("%q is said", part)
				}
			}
		})
	}
}

// Every sentence with a count reads well for none, one and two.
func TestCountsRead(t *testing.T) {
	for _, tt := range []struct {
		name string
		draw func(n uint64) string
		want [3]string
	}{
		{
			"held", func(n uint64) string { return conductOf(source.Status{Mode: source.Peek, Held: n}).badge },
			[3]string{"holds 0, returns them", "holds 1, returns it", "holds 2, returns them"},
		},
		{
			"given back", func(n uint64) string { return conductOf(source.Status{Mode: source.Peek, Held: n}).exit },
			[3]string{"nothing to give back", "what is held, 1 message, is", "what is held, 2 messages, is"},
		},
		{
			"shared", func(n uint64) string { return conductOf(source.Status{Mode: source.Drain, Consumers: n}).badge },
			[3]string{"drain: removes messages", "shared with 1 other consumer", "shared with 2 other consumers"},
		},
		{
			"evicted", func(n uint64) string { return keptTitle(source.Kept{Evicted: n}) },
			[3]string{"0 B", "1 older one made way", "2 older ones made way"},
		},
	} {
		for n, want := range tt.want {
			t.Run(tt.name, func(t *testing.T) {
				if got := tt.draw(uint64(n)); !strings.HasSuffix(got, want) && !strings.Contains(got, want+" ") {
					t.Errorf("no %q in %s", want, got)
				}
			})
		}
	}
}

// TestGapsInAStreamAreExplained: by the filter, or by what AMQP is not given.
func TestGapsInAStreamAreExplained(t *testing.T) {
	for _, tt := range []struct {
		name     string
		s        source.Status
		has, not string
	}{
		{"none", source.Status{Mode: source.Stream}, "reads only", "offsets between"},
		{"a filter", source.Status{
			Mode:          source.Stream,
			StreamFilters: []string{"eu"},
			OffsetGaps:    3,
		}, "that the stream filter wants", "compressed"},
		{"no filter", source.Status{Mode: source.Stream, OffsetGaps: 3}, "compressed", "stream filter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			html := viewtest.Render(t, BrokerStrip(tt.s, viewtest.Now))
			if !strings.Contains(html, tt.has) || strings.Contains(html, tt.not) {
				t.Error(html)
			}
		})
	}
}
