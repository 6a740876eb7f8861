package query

import (
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// answers decides the messages of sealed segments by the plan of a filter. It belongs to one
// goroutine.
type answers struct {
	plan   plan
	union  truths          // that look found
	asks   []*columnReader // what the plan asks
	truths []truths
	// answered counts the messages that were not looked at because of a column.
	answered uint64
}

// mostColumns is how many columns a filter may ask. With more names, one pass over each message
// finds all of them sooner than a pass for each.
const mostColumns = 16

// answers returns those of x's filter. They are nil where it would ask too many columns, or none
// and shapes do not settle it.
func (r *PageRequest) answers(x *Matcher, s archive.Snapshot, columns archive.Columns) *answers {
	if r.plain {
		return nil
	}
	p := planner{matcher: x, request: r, snapshot: s, columns: columns}
	a := &answers{plan: p.plan(x.filter.root)}
	a.asks = p.readers
	settled := x.filter.MatchesAll() || x.shaped && x.filter.byShape
	if n := len(a.asks); n > mostColumns || n == 0 && !settled {
		return nil
	}
	return a
}

// look finds the columns for t. some is false where none of its messages can match. ok is false
// where the segment still grows.
func (a *answers) look(t *stretch) (some, ok bool) {
	if a == nil || !t.segment.Sealed() {
		return false, false
	}
	a.union = a.plan.look(t)
	return a.union&isYes != 0, true
}

// all returns the truths of all messages of the segment that look was called with last. They are
// valid until the next call. Where one has isOpen, the message has to be read.
func (a *answers) all(t *stretch) []truths {
	n := t.segment.Len()
	a.truths = slices.Grow(a.truths[:0], n)[:n]
	if a.union == isYes {
		fillWith(a.truths, isYes)
	} else {
		a.plan.fill(a.truths)
	}
	return a.truths
}

// count is how many messages of the segment that look was called with last match, and how many may
// for damage, where a dictionary tells.
func (a *answers) count() (n, damaged uint64, ok bool) {
	p, not := a.plan, false
	if negation, ok := p.(*planNegation); ok {
		p, not = negation.of, true
	}
	if column, ok := p.(*planColumn); ok {
		return column.count(not)
	}
	return 0, 0, false
}

// explain adds what columns did.
func (a *answers) explain(e *Explain) {
	if a == nil {
		return
	}
	asked := slices.DeleteFunc(slices.Clone(a.asks), func(r *columnReader) bool { return !r.asked })
	if len(asked) == 0 {
		e.Skipped += a.answered
		return
	}
	e.Answered += a.answered
	for _, r := range asked {
		e.BytesRead += r.scratch.bytesRead // to build them
		if a.answered > 0 && !slices.Contains(e.Columns, r.name.Name) {
			e.Columns = append(e.Columns, r.name.Name)
		}
	}
}
