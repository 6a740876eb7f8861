package broker

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
	"github.com/headerglass/headerglass/web/eventually"
)

// node is one RabbitMQ node for all tests of the package, started by the first that asks.
var node = rabbittest.NewLazy(rabbittest.Options{})

// node4 is one of RabbitMQ 4, which counts and encodes otherwise than RabbitMQ 3.
var node4 = rabbittest.NewLazy(rabbittest.Options{Version: rabbittest.Version4})

// qpid is a Qpid Broker-J, for the tests with the build tag qpid.
var qpid = new(rabbittest.LazyQpid)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	code := m.Run()
	node.Stop()
	node4.Stop()
	qpid.Stop()
	if err := goleak.Find(toxiproxysOwn()...); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// toxiproxysOwn are the goroutines that toxiproxy leaves behind when a toxic is added to a
// connection that is just ending.
func toxiproxysOwn() (ignore []goleak.Option) {
	for _, name := range []string{"/toxics.(*ToxicStub).Run", ".(*ToxicLink).read", ".(*ToxicLink).write"} {
		ignore = append(ignore, goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2"+name))
	}
	return ignore
}

// running is a consumer that a test runs.
type running struct {
	*Consumer
	archive *archive.Archive
	cancel  context.CancelFunc
	done    chan error
}

const patience = 90 * time.Second // for events that come sooner or never

// run starts a consumer, which ends with the test at the latest.
func run(t *testing.T, cfg Config) *running {
	t.Helper()
	if cfg.Archive == nil {
		cfg.Archive = archive.New(archive.Config{})
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Consumer: c, archive: cfg.Archive, cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- c.Run(ctx) }()
	t.Cleanup(func() { r.stop(t) })
	return r
}

// stop ends Run and returns what it returned.
func (r *running) stop(t *testing.T) error {
	t.Helper()
	r.cancel()
	select {
	case err := <-r.done:
		r.done <- err
		return err
	case <-time.After(patience):
		t.Fatal("Run does not return")
		return nil
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	eventually.True(t, patience, what, ok)
}

func (r *running) untilState(t *testing.T, s source.State) source.Status {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("status: %+v", r.Status())
		}
	})
	until(t, fmt.Sprintf("state %q", s), func() bool { return r.Status().State == s })
	return r.Status()
}

func (r *running) untilKind(t *testing.T, k source.ErrorKind) source.Status {
	t.Helper()
	until(t, fmt.Sprintf("error of kind %q", k), func() bool { return r.Status().Kind == k })
	return r.Status()
}

func (r *running) untilStored(t *testing.T, n uint64) {
	t.Helper()
	until(t, fmt.Sprintf("%d messages stored", n), func() bool { return r.archive.Snapshot().Last() >= n })
}

// bodies are those of the messages in the archive, oldest first.
func (r *running) bodies() []string {
	var bodies []string
	for m := range r.archive.Snapshot().Forward(0) {
		bodies = append(bodies, string(m.Body()))
	}
	return bodies
}
