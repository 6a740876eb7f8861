package broker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/headerglass/headerglass/web/spool"
)

// State is what a Consumer is doing.
type State string

// The states of a Consumer.
const (
	StateIdle       State = "idle"        // Run was not called yet
	StateConnecting State = "connecting"  // the first attempts
	StateConsuming  State = "consuming"   // connected and reading
	StateWindowFull State = "window full" // peek holds as many messages as it may
	// peek gave everything back and looks again at NextAttempt
	StatePaused  State = "paused"
	StateBlocked State = "blocked" // connected, and the broker sent connection.blocked
	// the spool takes no more; everything else was given back; looks again at NextAttempt
	StateSpoolFull    State = "spool full"
	StateSpoolFailed  State = "spool failed" // the spool cannot be written; likewise
	StateReconnecting State = "reconnecting" // lost or refused; tries again at NextAttempt
	StateStopped      State = "stopped"      // ended, or reading on would harm the queue
)

// Status is what a Consumer does and has done to the queue.
type Status struct {
	State State
	Since time.Time // when State was entered
	// Err is one plain sentence about the last failure, without secrets; empty when all is well.
	// Kind classifies it.
	Err  string
	Kind ErrorKind
	// NextAttempt is when the next connection or look is due; zero when none is.
	NextAttempt time.Time
	Attempts    int    // failed in a row
	Reconnects  uint64 // connections that read, after the first
	Blocked     string // why, as the broker says, in StateBlocked

	Mode  Mode
	URL   string // without the password
	VHost string
	Queue string // in ModeCopy: the name that the broker chose
	// Exchange is what ModeCopy copies from; empty in the other modes.
	Exchange string

	// Product and Version are the broker's own, from connection.start.
	Product, Version string
	// QueueType is "classic", "quorum" or "stream" where it is known. Policy and DeliveryLimit are
	// from the management API; DeliveryLimit is -1 when there is none or it is not known.
	QueueType, Policy string
	DeliveryLimit     int64
	// Management is what went wrong when the management API was asked; empty when nothing did.
	Management string

	// Ready and Consumers are the broker's figures at ObservedAt: messages waiting, and consumers
	// other than this one.
	Ready, Consumers int
	ObservedAt       time.Time

	Window     int       // most that peek holds
	Held       uint64    // delivered and neither acknowledged nor given back
	HeldSince  time.Time // when the first of them arrived; zero when nothing is held
	GiveBackAt time.Time // when peek gives back; zero when nothing is held

	Spool *spool.Stats // nil: there is none

	// Since Run began: Stored messages are in the archive, and in the spool if there is one; Known
	// were delivered again and not stored again.
	Stored, Known, GivenBack, Acknowledged uint64
	// StreamOffset is that of the last message stored from a stream; -1: none yet.
	StreamOffset int64
}

// tracker keeps the slow part of the status and logs its changes.
type tracker struct {
	c   *Consumer
	log *slog.Logger

	mu       sync.Mutex
	s        Status
	succeeds uint64 // sessions that came to read
}

func newTracker(c *Consumer) *tracker {
	t := &tracker{c: c, log: c.cfg.Logger, s: Status{
		State: StateIdle, Since: c.now(), Mode: c.cfg.Mode, URL: c.endpoint.String(), VHost: c.endpoint.vhost,
		Queue: c.cfg.Queue, Window: c.cfg.Window, DeliveryLimit: -1,
	}}
	if c.cfg.Mode == ModeCopy {
		t.s.Queue, t.s.Exchange = "", c.cfg.Exchange
	}
	return t
}

// enter changes the state; the caller holds mu.
func (t *tracker) enter(state State) {
	if t.s.State != state {
		t.s.State, t.s.Since = state, t.c.now()
	}
	t.s.NextAttempt = time.Time{}
}

func (t *tracker) connecting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.State == StateIdle {
		t.enter(StateConnecting)
		t.log.Info("connecting", "url", t.s.URL, "mode", t.s.Mode.String())
	}
	t.s.NextAttempt = time.Time{}
}

func (t *tracker) greeted(product, version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Product, t.s.Version = product, version
}

func (t *tracker) consuming(queue string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.State != StatePaused {
		t.log.Info(
			"consuming",
			"url",
			t.s.URL,
			"queue",
			queue,
			"mode",
			t.s.Mode.String(),
			"broker",
			strings.TrimSpace(t.s.Product+" "+t.s.Version),
		)
		if t.succeeds > 0 {
			t.s.Reconnects++
		}
		t.succeeds++
	}
	t.enter(StateConsuming)
	t.s.Queue, t.s.Err, t.s.Kind, t.s.Attempts, t.s.Blocked = queue, "", "", 0, ""
}

func (t *tracker) successes() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.succeeds
}

func (t *tracker) paused(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enter(StatePaused)
	t.s.NextAttempt = until
	t.log.Info("gave everything back, looking again soon", "queue", t.s.Queue, "at", until.Format(time.RFC3339))
}

func (t *tracker) blocked(active bool, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case active:
		t.enter(StateBlocked)
		t.log.Warn("the broker has blocked the connection", "reason", reason)
	case t.s.State == StateBlocked:
		t.enter(StateConsuming)
		t.log.Info("the broker has unblocked the connection")
	}
	t.s.Blocked = reason
}

// failed notes a failure. The same sentence again is logged at debug level only.
func (t *tracker) failed(e *Error, next time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	level := slog.LevelWarn
	if t.s.Err == e.Msg {
		level = slog.LevelDebug
	}
	switch {
	case e.Kind == KindSpoolFull:
		t.enter(StateSpoolFull)
	case e.Kind == KindSpool:
		t.enter(StateSpoolFailed)
	case t.s.State != StateConnecting:
		t.enter(StateReconnecting)
	}
	t.s.Err, t.s.Kind, t.s.NextAttempt = e.Msg, e.Kind, next
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
	if t.s.State == StateStopped {
		return
	}
	t.enter(StateStopped)
	if e != nil {
		t.s.Err, t.s.Kind = e.Msg, e.Kind
		t.log.Error(e.Msg, "kind", string(e.Kind))
	}
}

func (t *tracker) observed(ready, consumers int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.State != StatePaused {
		consumers = max(consumers-1, 0) // this one
	}
	t.s.Ready, t.s.Consumers, t.s.ObservedAt = ready, consumers, t.c.now()
}

func (t *tracker) queueType(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.QueueType = name
}

func (t *tracker) facts(f queueFacts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.QueueType, t.s.Policy, t.s.DeliveryLimit, t.s.Management = f.Type, f.Policy, f.DeliveryLimit, ""
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
	var a, b int
	n, _ := fmt.Sscanf(t.s.Version, "%d.%d", &a, &b)
	return t.s.Product == "RabbitMQ" && n == 2 && (a > major || a == major && b >= minor)
}

func (t *tracker) snapshot() Status {
	t.mu.Lock()
	s := t.s
	t.mu.Unlock()
	c := t.c
	s.Stored, s.Known = c.counts.stored.Load(), c.counts.known.Load()
	s.GivenBack, s.Acknowledged = c.counts.givenBack.Load(), c.counts.acknowledged.Load()
	s.StreamOffset = c.counts.offset.Load()
	if c.cfg.Spool != nil {
		stats := c.cfg.Spool.Stats()
		s.Spool = &stats
	}
	sink := c.current.Load()
	if sink == nil {
		return s
	}
	s.Held = sink.held()
	if at := sink.firstAt.Load(); at != 0 && s.Held > 0 && s.Mode == ModePeek {
		s.HeldSince = time.Unix(0, at)
		s.GiveBackAt = s.HeldSince.Add(c.cfg.Hold)
		if s.State == StateConsuming && s.Held >= uint64(c.cfg.Window) {
			s.State = StateWindowFull
		}
	}
	return s
}
