package broker

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// tracker keeps the slow part of the status and logs its changes.
type tracker struct {
	c   *Consumer
	log *slog.Logger

	mu       sync.Mutex
	s        source.Status
	succeeds uint64 // sessions that came to read
	// lostAt is when the last session that came to read ended; zero: none has.
	lostAt time.Time
}

func newTracker(c *Consumer) *tracker {
	t := &tracker{c: c, log: c.cfg.Logger, s: source.Status{
		State: source.Idle, Since: c.now(), Mode: c.cfg.Mode, URL: c.endpoint.String(), VHost: c.endpoint.vhost,
		Name: c.cfg.Queue, Queue: c.cfg.Queue, Window: uint64(c.cfg.Window),
		StreamFilters: c.cfg.StreamFilters,
	}}
	if c.cfg.Mode == source.Copy {
		t.s.Name, t.s.Queue = c.cfg.Exchange, ""
	}
	return t
}

// enter changes the state; the caller holds mu.
func (t *tracker) enter(state source.State) {
	if t.s.State != state {
		t.s.State, t.s.Since = state, t.c.now()
	}
	t.s.NextAttempt = time.Time{}
}

func (t *tracker) connecting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.State == source.Idle {
		t.enter(source.Connecting)
		t.log.Info("connecting", "url", t.s.URL, "mode", string(t.s.Mode))
	}
	t.s.NextAttempt = time.Time{}
}

func (t *tracker) greeted(product, version string, frameMax int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Product, t.s.Version, t.s.FrameMax = product, version, frameMax
}

// habits notes what reading does at this broker.
func (t *tracker) habits(browsing bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Browsing = browsing
}

// undrained notes that acknowledging removes nothing.
func (t *tracker) undrained() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.s.Undrained {
		t.log.Warn("what is acknowledged stays in the queue: it removes nothing for its consumers", "queue", t.s.Queue)
	}
	t.s.Undrained = true
}

func (t *tracker) consuming(queue string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.State != source.Paused {
		t.log.Info(
			"consuming",
			"url",
			t.s.URL,
			"queue",
			queue,
			"mode",
			string(t.s.Mode),
			"broker",
			strings.TrimSpace(t.s.Product+" "+t.s.Version),
		)
		if t.succeeds > 0 {
			t.s.Reconnects++
		}
		t.succeeds++
		if now := t.c.now(); t.s.Mode == source.Copy && !t.lostAt.IsZero() {
			const most = 1000
			gaps := append(slices.Clip(t.s.Gaps), source.Gap{From: t.lostAt, To: now})
			t.s.Gaps = gaps[max(0, len(gaps)-most):]
		}
	}
	t.enter(source.Consuming)
	t.s.Queue, t.s.Error, t.s.Kind, t.s.Attempts, t.s.Blocked = queue, "", "", 0, ""
}

// lost notes since when a session that came to read does not any more.
func (t *tracker) lost(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lostAt = at
}

func (t *tracker) successes() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.succeeds
}

func (t *tracker) paused(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enter(source.Paused)
	t.s.NextAttempt = until
	t.log.Info("gave everything back, looking again soon", "queue", t.s.Queue, "at", until.Format(time.RFC3339))
}

func (t *tracker) blocked(active bool, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case active:
		t.enter(source.Blocked)
		t.log.Warn("the broker has blocked the connection", "reason", reason)
	case t.s.State == source.Blocked:
		t.enter(source.Consuming)
		t.log.Info("the broker has unblocked the connection")
	}
	t.s.Blocked = reason
}

// failed notes a failure. The same sentence again is logged at debug level only.
func (t *tracker) failed(e *Error, next time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	level := slog.LevelWarn
	if t.s.Error == e.Msg {
		level = slog.LevelDebug
	}
	switch {
	case e.Kind == KindSpoolFull:
		t.enter(source.SpoolFull)
	case e.Kind == KindSpool:
		t.enter(source.SpoolFailed)
	case t.s.State != source.Connecting:
		t.enter(source.Reconnecting)
	}
	t.s.Error, t.s.Kind, t.s.NextAttempt = e.Msg, e.Kind, next
	t.s.Attempts++
	t.log.Log(
		context.Background(),
		level,
		e.Msg,
		"kind",
		string(e.Kind),
		"attempt",
		t.s.Attempts,
		"again in",
		next.Sub(t.c.now()).Round(100*time.Millisecond).String(),
	)
}

func (t *tracker) stopped(e *Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.State == source.Stopped {
		return
	}
	t.enter(source.Stopped)
	if e != nil {
		t.s.Error, t.s.Kind = e.Msg, e.Kind
		t.log.Error(e.Msg, "kind", string(e.Kind))
	}
}

func (t *tracker) observed(ready, consumers int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.State != source.Paused {
		consumers = max(consumers-1, 0) // this one
	}
	t.s.Ready, t.s.Consumers, t.s.ObservedAt = uint64(max(ready, 0)), uint64(consumers), t.c.now()
}

func (t *tracker) queueType(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.QueueType = name
}

func (t *tracker) facts(f queueFacts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.QueueType, t.s.Policy, t.s.Management = f.Type, f.Policy, ""
	t.s.DeliveryLimit = uint64(max(f.DeliveryLimit, 0))
}

func (t *tracker) managementFailed(sentence string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.Management != sentence {
		t.log.Warn(sentence)
	}
	t.s.Management = sentence
}

// rabbitMQ reports whether the broker is RabbitMQ of this version or a later one.
func (t *tracker) rabbitMQ(major, minor int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.s.Broker()
	return b.Product == source.RabbitMQ && b.AtLeast(major, minor)
}

func (t *tracker) snapshot() source.Status {
	t.mu.Lock()
	s := t.s
	t.mu.Unlock()
	c := t.c
	s.Stored, s.Known = c.counts.stored.Load(), c.counts.known.Load()
	s.GivenBack, s.Acknowledged = c.counts.givenBack.Load(), c.counts.acknowledged.Load()
	s.StreamOffset = c.counts.offset.Load()
	s.OffsetGaps, s.LeftOut = c.counts.gaps.Load(), c.counts.leftOut.Load()
	if c.cfg.Spool != nil {
		stats := c.cfg.Spool.Stats()
		s.Spool = &stats
	}
	sink := c.current.Load()
	if sink == nil {
		return s
	}
	if s.Browsing {
		return s
	}
	s.Held = sink.held()
	if at := sink.firstAt.Load(); at != 0 && s.Held > 0 && s.Mode == source.Peek {
		s.HeldSince = time.Unix(0, at)
		s.GiveBackAt = s.HeldSince.Add(c.cfg.Hold)
		if s.State == source.Consuming && s.Held >= s.Window {
			s.State = source.WindowFull
		}
	}
	return s
}
