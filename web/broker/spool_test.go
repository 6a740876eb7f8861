package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/demoserver"
	"github.com/headerglass/headerglass/web/spool"
)

func openSpool(t *testing.T, dir string, cfg spool.Config) *spool.Spool {
	t.Helper()
	sp, err := spool.Open(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sp.Close() })
	return sp
}

// readAll is every file of a folder, one after the other.
func readAll(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// TestSpoolIsShownAgain: what a drain has taken out of the queue is there after a restart, byte for
// byte.
func TestSpoolIsShownAgain(t *testing.T) {
	s := listen(t, demoserver.Config{})
	bodies := publish(t, s, "q", 3000)
	dir := filepath.Join(t.TempDir(), "spool")
	sp := openSpool(t, dir, spool.Config{})
	r := run(t, Config{URL: s.URL(), Queue: "q", Mode: source.Drain, Spool: sp})
	r.untilStored(t, 3000)
	queueIs(t, s, "q", demoserver.QueueInfo{Consumers: 1})
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	if st := r.Status(); st.Acknowledged != 3000 || st.Stored != 3000 || st.Held != 0 || st.Spool.Messages != 3000 {
		t.Errorf("%+v", st)
	}
	sp.Close()
	again := run(t, Config{URL: s.URL(), Queue: "q", Mode: source.Drain, Spool: openSpool(t, dir, spool.Config{})})
	if !slices.Equal(again.bodies(), bodies) {
		t.Fatalf("%d messages are shown again", len(again.bodies()))
	}
	old, fresh := r.archive.Snapshot(), again.archive.Snapshot()
	for m := range old.Forward(0) {
		n, err := fresh.Get(m.Seq())
		if err != nil {
			t.Fatal(err)
		}
		if !m.Received().Equal(n.Received()) || string(m.Exchange()) != string(n.Exchange()) ||
			string(m.RoutingKey()) != string(n.RoutingKey()) ||
			m.Redelivered() != n.Redelivered() || m.DeliveryTag() != n.DeliveryTag() ||
			string(m.Header().Payload()) != string(n.Header().Payload()) {
			t.Fatalf("message %d differs", m.Seq())
		}
	}
	publish(t, s, "q", 10)
	again.untilStored(t, 3010)
}

// TestSpooledDrainShowsEachMessageOnceThoughTheConnectionBreaks is about acknowledgements that are
// lost.
func TestSpooledDrainShowsEachMessageOnceThoughTheConnectionBreaks(t *testing.T) {
	s := listen(t, demoserver.Config{})
	bodies := publish(t, s, "q", 2000)
	s.SetFaults(demoserver.Faults{DropAfter: 40_000, WriteChunk: 4096})
	r := run(t, Config{
		URL:      s.URL(),
		Queue:    "q",
		Mode:     source.Drain,
		Prefetch: 300,
		Spool:    openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{}),
	})
	until(t, "two connections broke", func() bool { return r.Status().Reconnects >= 2 })
	s.SetFaults(demoserver.Faults{})
	r.untilStored(t, 2000)
	queueIs(t, s, "q", demoserver.QueueInfo{Consumers: 1})
	if got := r.bodies(); !slices.Equal(got, bodies) {
		t.Errorf("%d messages stored of 2000, or another order", len(got))
	}
}

// TestDrainLosesNoneOfManyEqualMessages: where messages cannot be told apart, one too many is
// stored rather than one too few.
func TestDrainLosesNoneOfManyEqualMessages(t *testing.T) {
	for _, spooled := range []bool{false, true} {
		t.Run(fmt.Sprint("spool ", spooled), func(t *testing.T) {
			s := listen(t, demoserver.Config{})
			s.Declare("q")
			for range 2000 {
				if err := s.Publish(t.Context(), "q", demoserver.Message{Body: []byte("same")}); err != nil {
					t.Fatal(err)
				}
			}
			s.SetFaults(demoserver.Faults{DropAfter: 20_000, WriteChunk: 4096})
			cfg := Config{URL: s.URL(), Queue: "q", Mode: source.Drain, AcceptLoss: !spooled, Prefetch: 300}
			if spooled {
				cfg.Spool = openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{})
			}
			r := run(t, cfg)
			until(t, "two connections broke", func() bool { return r.Status().Reconnects >= 2 })
			s.SetFaults(demoserver.Faults{})
			queueIs(t, s, "q", demoserver.QueueInfo{Consumers: 1})
			if err := r.stop(t); err != nil {
				t.Fatal(err)
			}
			if n := len(r.bodies()); n < 2000 || n > 2000+3*300 {
				t.Errorf("%d stored of 2000", n)
			}
		})
	}
}

// TestSpoolIsRedacted: neither the file nor what is loaded from it has what was to be removed.
func TestSpoolIsRedacted(t *testing.T) {
	s := listen(t, demoserver.Config{})
	s.Declare("q")
	header := content(
		encode.Table(func(e *encode.Encoder) { e.Str("authorization", "Bearer s3cr3t"); e.Str("tenant", "acme") }),
		[]byte("b"),
	)
	for range 5 {
		if err := s.Publish(t.Context(), "q", demoserver.Message{Header: header, Body: []byte("b")}); err != nil {
			t.Fatal(err)
		}
	}
	redact, err := archive.ParseRedaction("authorization")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "spool")
	sp := openSpool(t, dir, spool.Config{})
	r := run(t, Config{
		URL:     s.URL(),
		Queue:   "q",
		Mode:    source.Drain,
		Spool:   sp,
		Archive: archive.New(archive.Config{Redact: redact}),
	})
	r.untilStored(t, 5)
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	sp.Close()
	if raw := readAll(t, dir); strings.Contains(raw, "s3cr3t") || !strings.Contains(raw, "acme") {
		t.Error("the file holds the secret, or not the rest")
	}
	c, err := New(Config{
		URL:     s.URL(),
		Queue:   "q",
		Mode:    source.Drain,
		Spool:   openSpool(t, dir, spool.Config{}),
		Archive: archive.New(archive.Config{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for m := range c.cfg.Archive.Snapshot().Forward(0) {
		was, err := r.archive.Snapshot().Get(m.Seq())
		if err != nil || !m.Redacted() || !slices.Equal(m.Removed(), was.Removed()) || len(m.Removed()) != 1 {
			t.Errorf("removed %v, was %v, %v", m.Removed(), was.Removed(), err)
		}
	}
}

// TestSpoolFull: at the bound nothing is acknowledged any more and nothing is lost; with more room,
// draining goes on.
func TestSpoolFull(t *testing.T) {
	s := listen(t, demoserver.Config{QueueLimit: 1000})
	s.Declare("q")
	const n = 400
	body := make([]byte, 256<<10) // 100 MiB in all
	var want []string
	for i := range n {
		copy(body, fmt.Sprintf("%04d", i))
		want = append(want, fmt.Sprintf("%04d", i))
		if err := s.Publish(t.Context(), "q", demoserver.Message{Body: slices.Clone(body)}); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "spool")
	sp := openSpool(t, dir, spool.Config{MaxBytes: spool.MinMaxBytes})
	r := run(t, Config{
		URL: s.URL(), Queue: "q", Mode: source.Drain, Prefetch: 50, Spool: sp,
		Remedies: Remedies{SpoolFull: "a larger one"},
	})
	st := r.untilState(t, source.SpoolFull)
	if st.Kind != KindSpoolFull || !strings.Contains(st.Error, "64 MiB") || !strings.HasSuffix(st.Error, "; a larger one") {
		t.Errorf("%+v", st)
	}
	stored := r.archive.Snapshot().Last()
	if stored == 0 || stored != st.Acknowledged || stored != st.Spool.Messages {
		t.Errorf("stored %d, acknowledged %d, in the spool %d", stored, st.Acknowledged, st.Spool.Messages)
	}
	queueIs(t, s, "q", demoserver.QueueInfo{Ready: n - int(stored)})
	if err := r.stop(t); err != nil {
		t.Fatal(err)
	}
	sp.Close()
	if size := len(readAll(t, dir)); size > spool.MinMaxBytes {
		t.Errorf("the file has %d bytes", size)
	}
	again := run(t, Config{
		URL:      s.URL(),
		Queue:    "q",
		Mode:     source.Drain,
		Prefetch: 50,
		Spool:    openSpool(t, dir, spool.Config{}),
	})
	again.untilStored(t, n)
	queueIs(t, s, "q", demoserver.QueueInfo{Consumers: 1})
	var got []string
	for _, b := range again.bodies() {
		got = append(got, b[:4])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d messages, or another order", len(got))
	}
}

// TestSpoolThatCannotBeWritten: nothing is acknowledged, the page says why, and it goes on by
// itself.
func TestSpoolThatCannotBeWritten(t *testing.T) {
	s := listen(t, demoserver.Config{})
	bodies := publish(t, s, "q", 500)
	dir := filepath.Join(t.TempDir(), "spool")
	sp := openSpool(t, dir, spool.Config{})
	lift := limitFiles(t, 1<<20)
	for i := range 200 { // 2 MiB
		body := strings.Repeat(fmt.Sprintf("%03d-", i), 2500)
		bodies = append(bodies, body)
		if err := s.Publish(t.Context(), "q", demoserver.Message{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, Config{URL: s.URL(), Queue: "q", Mode: source.Drain, Prefetch: 1000, Spool: sp})
	st := r.untilState(t, source.SpoolFailed)
	if st.Kind != KindSpool || !strings.Contains(st.Error, "cannot be written") || st.NextAttempt.IsZero() {
		t.Errorf("%+v", st)
	}
	queueIs(t, s, "q", demoserver.QueueInfo{Ready: 700 - int(st.Acknowledged)})
	lift()
	r.untilStored(t, 700)
	queueIs(t, s, "q", demoserver.QueueInfo{Consumers: 1})
	if got := r.bodies(); !slices.Equal(got, bodies) {
		t.Errorf("%d messages, or another order", len(got))
	}
}

// TestSpoolBehind: messages that arrive faster than they can be written are not piled up in memory,
// and from then on fewer are under way.
func TestSpoolBehind(t *testing.T) {
	c, err := New(Config{
		URL:     "amqp://",
		Queue:   "q",
		Mode:    source.Drain,
		Archive: archive.New(archive.Config{}),
		Spool:   openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newSink(c)
	s.store.finish()
	sp := &spooler{
		c:        c,
		sink:     s,
		redactor: c.cfg.Archive.Redactor(),
		writer:   c.cfg.Archive.Writer(),
		in:       make(chan spooled, c.cfg.Prefetch),
		quit:     make(chan struct{}),
	} // does not run yet
	s.store = sp
	const size = 4 << 20
	chunk := make([]byte, size/4)
	for tag := range uint64(40) {
		s.Begin(&wire.Delivery{
			DeliveryTag: tag + 1,
			Header:      wire.AppendContentHeaderPayload(nil, size),
			BodySize:    size,
		})
		for range 4 {
			s.Body(1, chunk)
		}
		s.End(1)
	}
	if ahead := sp.waiting.Load(); ahead > spoolAhead || ahead < spoolAhead-2*size || s.arrived.Load() != 40 {
		t.Errorf("%d bytes are ahead; %d arrived", ahead, s.arrived.Load())
	}
	select {
	case e := <-s.halt:
		if e.Kind != KindSpoolBehind || !strings.Contains(e.Msg, "faster than the spool") || e.refused() {
			t.Errorf("%+v", e)
		}
	default:
		t.Error("the session goes on")
	}
	taken := uint64(len(sp.in))
	sp.done.Go(sp.run)
	sp.finish()
	if s.stored.Load() != taken || c.cfg.Archive.Snapshot().Last() != taken || !s.withheld.Load() {
		t.Errorf("%d of %d taken were stored", s.stored.Load(), taken)
	}
	if n := c.flow.begin(false); n < 2 || n > 16 {
		t.Errorf("now %d are under way at most", n)
	}
}

// TestNodeSpoolDeletedWhileDraining: what arrives after somebody has deleted the spool's files is
// not acknowledged before they are there again, and nothing of what was acknowledged is missing on
// disk.
func TestNodeSpoolDeletedWhileDraining(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"files": func(dir string) error {
			logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
			for _, name := range logs {
				err = errors.Join(err, os.Remove(name))
			}
			return err
		},
		"folder": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t)
			c.declare(t, "q", nil)
			want := c.publish(t, "", "q", 0, 5)
			dir := filepath.Join(t.TempDir(), "spool")
			sp := openSpool(t, dir, spool.Config{})
			r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, Spool: sp})
			until(t, "five are acknowledged", func() bool { return r.Status().Acknowledged == 5 })
			if err := remove(dir); err != nil {
				t.Fatal(err)
			}
			want = append(want, c.publish(t, "", "q", 5, 20)...)
			st := r.untilState(t, source.SpoolFailed)
			if st.Acknowledged != 5 || st.Kind != KindSpool || !strings.Contains(st.Error, "was deleted") ||
				!strings.Contains(st.Error, "nothing more is acknowledged") {
				t.Errorf("%+v", st)
			}
			c.ready(t, "q", 20)
			until(t, "it goes on", func() bool { return r.Status().Acknowledged == 25 })
			c.ready(t, "q", 0)
			if err := r.stop(t); err != nil {
				t.Fatal(err)
			}
			sp.Close()
			again := run(t, Config{
				URL:   c.url(),
				Queue: "q",
				Mode:  source.Drain,
				Spool: openSpool(t, dir, spool.Config{}),
			})
			if got := again.bodies(); !slices.Equal(got, want) || !slices.Equal(r.bodies(), want) {
				t.Errorf("on disk %v, shown %v", got, r.bodies())
			}
		})
	}
}

// TestNodeSpoolReplacedWhileDraining: another spool in its place is not written to, and nothing is
// acknowledged.
func TestNodeSpoolReplacedWhileDraining(t *testing.T) {
	c := dial(t)
	c.declare(t, "q", nil)
	dir := filepath.Join(t.TempDir(), "spool")
	r := run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, Spool: openSpool(t, dir, spool.Config{})})
	r.untilState(t, source.Consuming)
	if err := os.Rename(dir, dir+"-was"); err != nil {
		t.Fatal(err)
	}
	other := openSpool(t, dir, spool.Config{})
	c.publish(t, "", "q", 0, 20)
	until(t, "two attempts", func() bool { return r.Status().Attempts >= 2 })
	if st := r.Status(); st.Acknowledged != 0 || st.State != source.SpoolFailed {
		t.Errorf("%+v", st)
	}
	c.ready(t, "q", 20)
	if n := other.Stats().Messages; n != 0 {
		t.Errorf("%d messages in the other one", n)
	}
}

// TestNodeMessageLargerThanTheSpool: it stays in the queue, what is before and behind it is taken,
// and a larger spool takes it.
func TestNodeMessageLargerThanTheSpool(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			c := dial(t)
			c.declare(t, "q", amqp.Table{"x-queue-type": kind})
			want := c.publish(t, "", "q", 0, 3)
			large := amqp.Publishing{DeliveryMode: amqp.Persistent, Body: make([]byte, 70<<20)}
			d, err := c.PublishWithDeferredConfirm("", "q", false, false, large)
			if err != nil || !d.Wait() {
				t.Fatal(err)
			}
			want = append(want, c.publish(t, "", "q", 3, 300)...)
			dir := filepath.Join(t.TempDir(), "spool")
			sp := openSpool(t, dir, spool.Config{MaxBytes: spool.MinMaxBytes})
			r := run(t, Config{
				URL: c.url(), Queue: "q", Mode: source.Drain, Spool: sp, Prefetch: 50,
				Remedies: Remedies{SpoolSize: "A larger one takes them."},
			})
			until(t, "all others are acknowledged", func() bool { return r.Status().Acknowledged == 303 })
			st := r.Status()
			if st.State != source.Consuming || st.Held != 1 || len(st.Notes) != 1 ||
				!strings.Contains(st.Notes[0], ": 1 message.") ||
				!strings.HasSuffix(st.Notes[0], " Later messages are read on. A larger one takes them.") {
				t.Errorf("%+v", st)
			}
			if err := r.stop(t); err != nil {
				t.Fatal(err)
			}
			if got := r.bodies(); !slices.Equal(got, want) {
				t.Errorf("%d messages, or another order", len(got))
			}
			c.ready(t, "q", 1)
			sp.Close()
			sp = openSpool(t, dir, spool.Config{MaxBytes: 4 * spool.MinMaxBytes})
			r = run(t, Config{URL: c.url(), Queue: "q", Mode: source.Drain, Spool: sp, Prefetch: 50})
			until(t, "the large one, too", func() bool { return r.Status().Acknowledged == 1 })
			c.ready(t, "q", 0)
			if n := sp.Stats().Messages; n != 304 {
				t.Errorf("%d on disk", n)
			}
		})
	}
}

func TestSpoolConfig(t *testing.T) {
	sp := openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{})
	for mode, ok := range map[source.Mode]bool{
		source.Peek:   false,
		source.Drain:  true,
		source.Copy:   true,
		source.Stream: false,
	} {
		_, err := New(Config{
			URL:      "amqp://",
			Queue:    "q",
			Exchange: "e",
			Mode:     mode,
			Spool:    sp,
			Archive:  archive.New(archive.Config{}),
		})
		if (err == nil) != ok {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if _, err := New(Config{
		URL:      "amqp://",
		Queue:    "q",
		Mode:     source.Drain,
		Archive:  archive.New(archive.Config{}),
		Remedies: Remedies{Loss: "keep them on disk"},
	}); err == nil || !strings.HasSuffix(err.Error(), "would keep them in memory only; keep them on disk") {
		t.Error(err)
	}
}

// TestEqualMessagesAreStoredOnceThoughTheBrokerIsAwayForLong: an attempt that nothing arrives with
// changes nothing about what comes again.
func TestEqualMessagesAreStoredOnceThoughTheBrokerIsAwayForLong(t *testing.T) {
	for _, spooled := range []bool{false, true} {
		t.Run(fmt.Sprint("spool ", spooled), func(t *testing.T) {
			cfg := Config{
				URL:        "amqp://" + closedPort(t),
				Queue:      "q",
				Mode:       source.Drain,
				AcceptLoss: true,
				Archive:    archive.New(archive.Config{}),
			}
			if spooled {
				cfg.Spool = openSpool(t, filepath.Join(t.TempDir(), "spool"), spool.Config{})
			}
			c, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			for _, redelivered := range []bool{false, true} {
				s := newSink(c)
				for tag := range uint64(3) {
					s.Begin(&wire.Delivery{
						Channel:     1,
						DeliveryTag: tag + 1,
						Redelivered: redelivered,
						Header:      content(nil, nil),
					})
					s.End(1)
				}
				s.attempted.Store(1) // the other two were not acknowledged
				c.delivered.finish(s)
				for range 2 {
					if _, e := c.session(t.Context()); e == nil || e.Kind != KindUnreachable {
						t.Fatal(e)
					}
				}
			}
			if stored, known := c.counts.stored.Load(), c.counts.known.Load(); stored != 3+1 || known != 2 {
				t.Errorf("%d stored, %d known", stored, known)
			}
		})
	}
}
