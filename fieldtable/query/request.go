package query

import (
	"cmp"
	"iter"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// PageRequest says which messages of a snapshot to look at, and how. The zero
// value is the newest messages, up to the default limit.
type PageRequest struct {
	// After and Before bound the sequence numbers, both exclusive; 0 is open.
	After, Before uint64
	// Ascending is oldest first. It is implied where After is set and Before is
	// not.
	Ascending bool
	// From and To bound the time of receipt, From included; zero is open.
	From, To time.Time
	// Dialect is the one to read header tables under; nil: the archive's.
	Dialect *fieldtable.Dialect
	// ArchiveDialect is the one the archive was made with; nil: Lenient. Where it
	// is not Dialect, shapes cannot be used and every message is read.
	ArchiveDialect *fieldtable.Dialect

	// The rest is for Page and Top only.

	// Limit is how many messages to return at most; 0: 100.
	Limit int
	// Budget is how long to look for them; 0: DefaultBudget.
	Budget time.Duration
	// IncludeDamaged returns messages with the verdict Damaged too.
	IncludeDamaged bool
	// Now is the clock that Budget and Elapsed are measured by. Nil: time.Now.
	Now func() time.Time

	// plain reads messages instead of asking columns: tests compare the two.
	plain bool
}

const (
	defaultLimit = 100
	// DefaultBudget is how long Page looks unless it is told otherwise.
	DefaultBudget = 500 * time.Millisecond
)

func (r *PageRequest) ascending() bool {
	return r.Ascending || r.After > 0 && r.Before == 0
}

func (r *PageRequest) matcher(q *Filter) *Matcher {
	x := q.Matcher(r.ArchiveDialect, cmp.Or(r.Dialect, r.ArchiveDialect))
	x.limit = q.decisions(scanDecisions, scanBytes)
	return x
}

// stretch is messages lo ≤ i < hi of a segment.
type stretch struct {
	segment archive.Segment
	lo, hi  int
	// timed: messages may lie outside the time range, each has to be asked.
	timed bool
	// counts are those of the whole segment once shapeCounts was called: in the newest one they
	// have to be counted.
	counts []archive.ShapeCount
}

func (t *stretch) shapeCounts() []archive.ShapeCount {
	if t.counts == nil {
		t.counts = t.segment.ShapeCounts()
	}
	return t.counts
}

// last is the number of the last message in an order.
func (t *stretch) last(ascending bool) uint64 {
	if ascending {
		return t.segment.First() + uint64(t.hi) - 1 // #nosec G115 -- hi is a length
	}
	return t.segment.First() + uint64(t.lo) // #nosec G115 -- an index
}

func (t *stretch) len() uint64 { return uint64(t.hi - t.lo) }

// stretches yields what the request asks for, in its order.
func (r *PageRequest) stretches(s archive.Snapshot) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		if r.ascending() {
			for g, lo := range s.SegmentsForward(r.After) {
				t := stretch{segment: g, lo: lo, hi: g.Len()}
				if r.Before > 0 {
					if r.Before <= g.First() {
						return
					}
					t.hi = int(min(uint64(t.hi), r.Before-g.First()))
				}
				if r.during(&t) && !yield(t) {
					return
				}
			}
			return
		}
		for g, hi := range s.SegmentsBackward(r.Before) {
			t := stretch{segment: g, hi: hi}
			if r.After >= g.First() {
				t.lo = int(min(uint64(t.hi), r.After+1-g.First()))
			}
			if r.during(&t) && !yield(t) {
				return
			}
			if r.After >= g.First() {
				return
			}
		}
	}
}

// during reports whether t can have messages of the time range, and sets timed.
func (r *PageRequest) during(t *stretch) bool {
	if t.lo >= t.hi {
		return false
	}
	if r.From.IsZero() && r.To.IsZero() {
		return true
	}
	oldest, newest := t.segment.Received()
	if !r.To.IsZero() && !oldest.Before(r.To) || newest.Before(r.From) {
		return false
	}
	t.timed = !r.receivedIn(oldest) || !r.receivedIn(newest)
	return true
}

func (r *PageRequest) receivedIn(t time.Time) bool {
	return !t.Before(r.From) && (r.To.IsZero() || t.Before(r.To))
}
