package broker

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
	"github.com/headerglass/headerglass/web/relay"
)

// relayed starts a relay in front of an AMQP URL and returns the URL that leads through it.
func relayed(t *testing.T, raw string) (r *relay.Relay, a *archive.Archive, through string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	a = archive.New(archive.Config{})
	if r, err = relay.New(relay.Config{Address: u.Host, Archive: a}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	u.Host = l.Addr().String()
	return r, a, u.String()
}

// What a publisher writes through the relay is shown as it wrote it, and what a consumer gets as it
// got it, whatever the broker does in between.
func TestNodeRelayed(t *testing.T) {
	for name, lazy := range map[string]*rabbittest.Lazy{"this run's": node, "RabbitMQ 4": node4} {
		t.Run(name, func(t *testing.T) {
			c := dialNode(t, lazy)
			c.declare(t, "q", nil)
			watch, kept, through := relayed(t, c.url())
			var sent []Publication
			for _, s := range specimens.Specimens() {
				if m := to("q", s.Encoded, s.Name); readable(m) && !strings.Contains(s.Name, "floats") {
					sent = append(sent, m)
				}
			}
			told := encode.Table(func(e *encode.Encoder) {
				e.Str("tenant", "acme")
				e.Str("tenant", "other")
				e.Int64L("attempt", 3)
			})
			large := strings.Repeat("b", 400_000)
			sent = append(sent, to("q", told, "told"), to("q", nil, large), to("nowhere", nil, "lost"))
			outcomes, err := published(t, Config{URL: through}, sent...)
			if err != nil {
				t.Fatal(err)
			}
			routed := uint64(len(sent) - 1)
			if o := outcomes[routed]; o.Fate != Returned {
				t.Errorf("what goes nowhere: %+v", o)
			}
			r := run(t, Config{URL: through, Queue: "q", Mode: source.Drain, AcceptLoss: true})
			r.untilStored(t, routed)
			until(t, "all is shown", func() bool { return kept.Snapshot().Last() == uint64(len(sent))+1+routed })
			up, down := 0, uint64(0)
			for m := range kept.Snapshot().Forward(0) {
				p := watch.Passage(m.Seq())
				switch p.Method {
				case source.Publish:
					want := sent[up]
					up++
					if !bytes.Equal(m.Header().Payload(), want.Header) || m.BodySize() != uint64(len(want.Body)) ||
						!bytes.HasPrefix(want.Body, m.Body()) {
						t.Errorf("published %x, shown %x", want.Header, m.Header().Payload())
					}
					wanted := source.Confirmed
					if string(want.RoutingKey) == "nowhere" {
						wanted = source.Returned
					}
					if p.Outcome != wanted || p.Connection.User != rabbittest.Username ||
						p.Connection.VHost != c.vhost {
						t.Errorf("%q: %+v", m.RoutingKey(), p)
					}
				case source.Deliver:
					down++
					got, err := r.archive.Snapshot().Get(down)
					if err != nil || p.Queue != "q" ||
						!bytes.Equal(got.Header().Payload(), m.Header().Payload()) {
						t.Errorf("%q: shown %x from %q, %v", m.Body(), m.Header().Payload(), p.Queue, err)
					}
					if string(m.Body()) == "told" {
						tellsChanges(t, c.node, kept.Snapshot(), p.Published, m)
					}
				}
			}
			if up != len(sent) || down != routed {
				t.Errorf("%d publishes and %d deliveries are shown", up, down)
			}
			if s := watch.Status(); s.Product != source.RabbitMQ || s.Version != c.node.Version() || len(s.Notes) != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// tellsChanges checks what is said of the message whose table has a name twice.
func tellsChanges(t *testing.T, n *rabbittest.Node, kept archive.Snapshot, published []uint64, m archive.Message) {
	t.Helper()
	if len(published) == 0 {
		t.Error("what was published is not found")
		return
	}
	was, err := kept.Get(published[0])
	if err != nil {
		t.Fatal(err)
	}
	of := func(m archive.Message) facts.Message {
		table, _ := m.HeaderTable()
		return facts.Message{Headers: table, HasHeaders: true, Exchange: m.Exchange(), RoutingKey: m.RoutingKey()}
	}
	var said []string
	for _, c := range facts.Changes(of(was), of(m), fieldtable.RabbitMQ()) {
		said = append(said, c.String())
	}
	got, want := strings.Join(said, ", "), ""
	if n.AtLeast(4, 0) {
		want = "sorted, second `tenant` dropped, `L` became `l`"
	}
	if got != want {
		t.Errorf("RabbitMQ %s: %q, want %q", n.Version(), got, want)
	}
}
