package broker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headerglass/headerglass/fieldtable/plural"
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
	lostAt   time.Time
	troubled bool   // see consuming
	stored   uint64 // when the session came to read
	notes    []string
	waits    bool // see standby
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

// consuming is called when the broker has answered basic.consume. troubled: that was no success
// lately, and the last failure stays until a message is stored.
func (t *tracker) consuming(queue string, troubled bool) {
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
	t.s.Queue, t.s.Blocked, t.troubled = queue, "", troubled
	if !troubled {
		t.s.Error, t.s.Kind, t.s.Attempts = "", "", 0
	}
	t.stored = t.c.counts.stored.Load()
}

// lost notes since when a session that came to read does not any more.
func (t *tracker) lost(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lostAt = at
}

// note says what there is to know about the queue before it is read.
func (t *tracker) note(notes ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range notes {
		if !slices.Contains(t.notes, n) {
			t.log.Warn(n)
		}
	}
	t.notes = notes
}

// standby says whether this consumer gets nothing though messages wait and another is there.
func (t *tracker) standby(yes bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if yes && !t.waits {
		t.log.Warn(standbyNote)
	}
	t.waits = yes
}

const standbyNote = "Messages wait and another consumer is there, but nothing arrives here: " +
	"the queue may serve one consumer at a time (x-single-active-consumer), or the other one may go first."

// leftOut says how many messages of a stream were left out, the last one at this offset.
func (t *tracker) leftOut(n uint64, offset int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Undeliverable, t.s.UndeliverableAt = n, offset
}

// counted notes how often a message was given back before.
func (t *tracker) counted(count int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.DeliveryCount = max(t.s.DeliveryCount, uint64(max(count, 0)))
}

func (t *tracker) limit(limit int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.DeliveryLimit = uint64(max(limit, 0))
}

func (t *tracker) width(width int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Prefetch = uint64(width)
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

func (t *tracker) observed(ready, others int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Ready, t.s.Consumers, t.s.ObservedAt = uint64(max(ready, 0)), uint64(others), t.c.now()
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
	s.Notes = slices.Clone(t.notes)
	if t.waits {
		s.Notes = append(s.Notes, standbyNote)
	}
	if s.Undeliverable > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s of this stream %s left out, the last at offset %d: the broker fails "+
			"while it delivers such a message, and its log says why.",
			plural.Of(s.Undeliverable, "message"), plural.Verb(s.Undeliverable, "was", "were"), s.UndeliverableAt))
	}
	if t.troubled && s.State == source.Consuming && t.c.counts.stored.Load() > t.stored {
		s.Error, s.Kind, s.Attempts = "", "", 0
	}
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
	if note := c.asideNote(sink); note != "" {
		s.Notes = append(slices.Clip(s.Notes), note)
	}
	if at := sink.firstAt.Load(); at != 0 && s.Held > 0 && s.Mode == source.Peek {
		s.HeldSince = time.Unix(0, at)
		s.GiveBackAt = s.HeldSince.Add(c.hold())
		if s.State == source.Consuming && s.Held >= s.Window {
			s.State = source.WindowFull
		}
	}
	return s
}
