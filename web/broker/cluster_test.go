package broker

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
	"github.com/headerglass/headerglass/web/eventually"
	"github.com/headerglass/headerglass/web/spool"
)

// stubborn publishes through whatever node answers, until it is stopped.
type stubborn struct {
	cluster *rabbittest.Cluster
	queue   string
	alive   func(i int) bool

	confirmed atomic.Int64
	mu        sync.Mutex
	sure      map[string]bool // that the broker has confirmed; false: it may have it
}

func (p *stubborn) run(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		if n := i % len(p.cluster.Nodes); p.alive(n) {
			p.through(ctx, p.cluster.Nodes[n])
		}
	}
}

// through publishes until that fails. A message whose confirm does not come is not sent again.
func (p *stubborn) through(ctx context.Context, n *rabbittest.Node) {
	conn, err := amqp.DialConfig(n.URL("/"), amqp.Config{Dial: amqp.DefaultDial(time.Second), Heartbeat: time.Second})
	if err != nil {
		return
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil || ch.Confirm(false) != nil {
		return
	}
	for ctx.Err() == nil {
		p.mu.Lock()
		body := fmt.Sprint(p.queue, len(p.sure))
		p.sure[body] = false
		p.mu.Unlock()
		d, err := ch.PublishWithDeferredConfirm("", p.queue, false, false, amqp.Publishing{
			DeliveryMode: amqp.Persistent, Body: []byte(body),
		})
		if err != nil {
			return
		}
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		ok, err := d.WaitContext(limited)
		cancel()
		if err != nil || !ok {
			return
		}
		p.mu.Lock()
		p.sure[body] = true
		p.mu.Unlock()
		p.confirmed.Add(1)
	}
}

// check compares what was published with what was read.
func (p *stubborn) check(t *testing.T, bodies []string) {
	t.Helper()
	read := map[string]int{}
	for _, b := range bodies {
		read[b]++
	}
	lost, twice, unknown := 0, 0, 0
	for body, sure := range p.sure {
		if sure && read[body] == 0 {
			lost++
		}
	}
	for body, n := range read {
		if _, published := p.sure[body]; !published {
			unknown++
		}
		if n > 1 {
			twice++
		}
	}
	t.Logf("%s: %d confirmed of %d, %d read", p.queue, p.confirmed.Load(), len(p.sure), len(bodies))
	if lost+twice+unknown > 0 {
		t.Errorf("%s: %d lost, %d twice, %d unknown", p.queue, lost, twice, unknown)
	}
}

// TestNodeCluster: in a cluster of three a quorum queue is drained and a stream read while messages
// arrive. The leaders' node is killed, then the one that the explorer is attached to, and then each
// is restarted in good order. Nothing is lost, and nothing is shown twice.
func TestNodeCluster(t *testing.T) {
	rabbittest.Require(t, rabbittest.Any)
	began := time.Now()
	cluster, err := rabbittest.StartCluster(3, rabbittest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	t.Logf("the cluster took %s to start", time.Since(began))

	var down [3]atomic.Bool
	leader, attached := cluster.Nodes[0], cluster.Nodes[1]
	conn, err := amqp.Dial(leader.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"quorum", "stream"}
	publishers := map[string]*stubborn{}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var publishing sync.WaitGroup
	for _, kind := range kinds {
		if _, err := ch.QueueDeclare(kind, true, false, false, false, amqp.Table{"x-queue-type": kind}); err != nil {
			t.Fatal(err)
		}
		var info struct{ Members []string }
		until(t, "three members", func() bool {
			return leader.API(http.MethodGet, "queues/%2F/"+kind, nil, &info) == nil && len(info.Members) == 3
		})
		publishers[kind] = &stubborn{
			cluster: cluster, queue: kind, sure: map[string]bool{}, alive: func(i int) bool { return !down[i].Load() },
		}
		publishing.Go(func() { publishers[kind].run(ctx) })
	}
	readers := map[string]*running{
		"quorum": run(t, Config{
			URL: attached.URL("/"), Queue: "quorum", Mode: source.Drain, Prefetch: 100,
			Spool: openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{}),
		}),
		"stream": run(t, Config{
			URL:      attached.URL("/"),
			Queue:    "stream",
			Mode:     source.Stream,
			Offset:   "first",
			Prefetch: 100,
		}),
	}
	for _, kind := range kinds {
		readers[kind].untilState(t, source.Consuming)
	}
	// further waits until both readers have stored more, and what was published meanwhile was
	// confirmed.
	further := func(what string) {
		t.Helper()
		for _, kind := range kinds {
			p, r := publishers[kind], readers[kind]
			confirmed, stored := p.confirmed.Load(), r.Status().Stored
			eventually.True(t, 2*time.Minute, what+": "+kind+" goes on", func() bool {
				return p.confirmed.Load() >= confirmed+50 && r.Status().Stored >= stored+50
			})
		}
		t.Logf("%s, after %s", what, time.Since(began))
	}
	interrupt := func(i int, how func() error) {
		t.Helper()
		down[i].Store(true)
		if err := how(); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Nodes[i].Restart(); err != nil {
			t.Fatal(err)
		}
		down[i].Store(false)
	}
	kill := func(i int) func() error {
		return func() error {
			cluster.Nodes[i].Kill()
			return nil
		}
	}
	further("reading")
	interrupt(0, kill(0))
	further("the leaders' node was killed")
	interrupt(1, kill(1))
	further("the attached node was killed")
	for i, n := range cluster.Nodes {
		interrupt(i, n.Terminate)
	}
	further("each node was restarted")

	stop()
	publishing.Wait()
	for _, kind := range kinds {
		p, r := publishers[kind], readers[kind]
		until(t, kind+" is read to its end", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			read := map[string]bool{}
			for _, b := range r.bodies() {
				read[b] = true
			}
			for body, sure := range p.sure {
				if sure && !read[body] {
					return false
				}
			}
			return true
		})
		if kind == "quorum" {
			until(t, "the queue is empty", func() bool {
				var info struct{ Messages int }
				return attached.API(http.MethodGet, "queues/%2F/quorum", nil, &info) == nil && info.Messages == 0
			})
		}
		if err := r.stop(t); err != nil {
			t.Error(err)
		}
		p.check(t, r.bodies())
	}
	t.Logf("all took %s", time.Since(began))
}
