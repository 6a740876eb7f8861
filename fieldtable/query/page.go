package query

import (
	"cmp"
	"context"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Page is some of the messages that match.
type Page struct {
	Messages []archive.Message
	// Matched counts the messages with the verdict Yes, all of which are in
	// Messages.
	Matched uint64
	// Next is where to go on: the next request's Before, or its After if the order
	// is oldest first. 0: there is nothing further in the range.
	Next uint64
	// Complete: the whole range was looked at.
	Complete bool
	Explain
}

// betweenChecks is how many messages are read between two looks at the clock and
// the context; they take some 10 µs. Where columns answer, a segment lies between two looks.
const betweenChecks = 64

// Page returns matches in the order asked for, until there are enough, the budget
// is used up or the range ends; then Next says where to go on. Where ctx ends first
// its error comes with the page so far.
func (q *Filter) Page(ctx context.Context, s archive.Snapshot, r PageRequest) (Page, error) {
	now := r.Now
	if now == nil {
		now = time.Now
	}
	start := now()
	deadline := start.Add(cmp.Or(r.Budget, DefaultBudget))
	limit := cmp.Or(max(r.Limit, 0), defaultLimit)
	ascending := r.ascending()

	x := r.matcher(q)
	p := Page{Explain: q.explain(s, x)}
	answers := r.answers(x, s, s.Columns())
	var err error
	finish := func(last uint64) (Page, error) {
		p.Next = last
		p.Scanned, p.Skipped = x.scanned, x.skipped
		p.BytesRead = x.scratch.bytesRead
		answers.explain(&p.Explain)
		p.Complete = p.Next == 0
		p.Elapsed = now().Sub(start)
		return p, err
	}
	over := func() bool {
		err = ctx.Err()
		return err != nil || now().After(deadline)
	}
	unchecked := 0
	for t := range r.stretches(s) {
		if x.misses(s, &t) {
			continue
		}
		some, answered := answers.look(&t)
		if answered && !some {
			answers.answered += t.len()
			if over() {
				return finish(r.further(s, t.last(ascending)))
			}
			continue
		}
		var all []truths
		if answered {
			all = answers.all(&t)
		}
		warms := x.warms(s, &t)
		for n := range t.hi - t.lo {
			i, from := t.lo+n, t.lo+n
			if !ascending {
				i = t.hi - 1 - n
				from = max(t.lo, i+1-archive.WarmMessages)
			}
			if warms && n%archive.WarmMessages == 0 {
				x.warm(s, &t, from, t.hi)
			}
			var truth truths
			read := false
			if all != nil && (all[i]&isYes == 0 || all[i]&isOpen == 0 && !t.timed) {
				truth = all[i]
				answers.answered++
			} else {
				truth, read = x.at(s, &t, i, &r)
			}
			seq := t.segment.First() + uint64(i)
			switch truth.verdict() {
			case Yes:
				p.Matched++
				p.Messages = append(p.Messages, t.segment.At(i))
			case Damaged:
				p.Damaged++
				if r.IncludeDamaged {
					p.Messages = append(p.Messages, t.segment.At(i))
				}
			}
			if len(p.Messages) == limit {
				return finish(r.further(s, seq))
			}
			if !read {
				continue
			}
			if unchecked++; unchecked == betweenChecks {
				unchecked = 0
				if over() {
					return finish(r.further(s, seq))
				}
			}
		}
		if answered && over() {
			return finish(r.further(s, t.last(ascending)))
		}
	}
	err = ctx.Err()
	return finish(0)
}

// further returns seq, or 0 if it is the last in the order of r.
func (r *PageRequest) further(s archive.Snapshot, seq uint64) uint64 {
	if r.ascending() && (seq >= s.Last() || seq+1 == r.Before) || !r.ascending() && seq <= max(s.First(), r.After+1) {
		return 0
	}
	return seq
}

// misses reports whether no message of t can match, by the shapes in its segment.
func (x *Matcher) misses(s archive.Snapshot, t *stretch) bool {
	if !x.shaped {
		return false
	}
	for _, c := range t.shapeCounts() {
		if d := x.shape(s, c.ID); !d.decided || d.truth&isYes != 0 {
			return false
		}
	}
	x.skipped += t.len()
	return true
}

// at decides message i of t, which does not match if it lies outside the time
// range of r. read tells whether its bytes were looked at.
func (x *Matcher) at(s archive.Snapshot, t *stretch, i int, r *PageRequest) (_ truths, read bool) {
	d := x.shape(s, t.segment.ShapeAt(i))
	if d.decided && (d.truth&isYes == 0 || !t.timed) {
		x.skipped++
		return d.truth, false
	}
	m := &x.scratch.message
	t.segment.Load(i, m)
	if t.timed && !r.receivedIn(m.Received()) {
		return isNo, true
	}
	if d.decided {
		x.skipped++
		return d.truth, true
	}
	return x.readLoaded(d, nil), true
}
