package broker

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/headerglass/headerglass/web/spool"
)

// asides are deliveries of messages larger than the whole spool. They stay unacknowledged while
// later ones are acknowledged.
type asides struct {
	mu   sync.Mutex
	tags []uint64 // ascending, as they arrive
}

func (a *asides) add(tag uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tags = append(a.tags, tag)
}

// upTo are those with tags up to this one.
func (a *asides) upTo(tag uint64) []uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, _ := slices.BinarySearch(a.tags, tag+1)
	return slices.Clone(a.tags[:n])
}

// acknowledge acknowledges the deliveries after from, up to to, except those that are set aside,
// and returns their number. A basic.ack for several deliveries includes all earlier ones, so each
// delivery after the first that is set aside needs a basic.ack of its own.
func (s *sink) acknowledge(ch acknowledger, from, to uint64) (n uint64, err error) {
	aside := s.aside.upTo(to)
	if len(aside) == 0 {
		if err := ch.Ack(to, true); err != nil {
			return 0, err
		}
		return to - from, nil
	}
	if before := aside[0] - 1; before > from {
		if err := ch.Ack(before, true); err != nil {
			return 0, err
		}
		n, from = before-from, before
	}
	for tag := from + 1; tag <= to; tag++ {
		if _, found := slices.BinarySearch(aside, tag); found {
			continue
		}
		if err := ch.Ack(tag, false); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// asideNote says what is set aside; empty: nothing is.
func (c *Consumer) asideNote(s *sink) string {
	n := len(s.aside.upTo(s.arrived.Load()))
	if n == 0 {
		return ""
	}
	note := fmt.Sprintf("Larger than the whole spool of %s, and so left in %s unacknowledged: %s.",
		humanize.IBytes(uint64(c.cfg.Spool.Stats().MaxBytes)), c.target(), messages(n))
	then := " Later messages are read on."
	if n >= c.cfg.Prefetch {
		then = " They are as many as may be under way, so nothing else is delivered."
	}
	if more := c.cfg.Remedies.SpoolSize; more != "" {
		then += " " + more
	}
	return note + then
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// weight is what a delivery counts for while it waits to be written.
func weight(r *spool.Record) int64 {
	if r.TooLarge() {
		return r.Memory()
	}
	return r.Size()
}
