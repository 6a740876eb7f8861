package query

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Explain says how an answer was reached.
type Explain struct {
	// Filter is the query in canonical form, Keys are the header names that it
	// looks for.
	Filter string
	Keys   []string
	// Shapes counts the distinct lists of header names and types in the snapshot,
	// ShapesMatched those whose messages can match.
	Shapes, ShapesMatched int
	// Scanned counts the messages that were looked at one by one, Skipped those
	// that their shape decided.
	Scanned, Skipped uint64
	// Answered counts the messages that Columns decided: what was remembered of values that earlier
	// questions have read. They are neither scanned nor skipped.
	Answered uint64
	Columns  []string
	// Damaged counts messages that may match: their table is damaged before what
	// the filter asks for.
	Damaged uint64
	// BytesRead counts the bytes of header tables that were looked at.
	BytesRead int64
	// Decoded counts header tables decoded, which never happens for a filter.
	Decoded uint64
	Elapsed time.Duration
}

// explain starts an explanation, with the part that does not depend on the run.
func (q *Filter) explain(s archive.Snapshot, x *Matcher) Explain {
	e := Explain{Filter: q.text, Keys: q.Keys()}
	if !x.shaped {
		return e
	}
	for id, n := range s.ShapeCounts() {
		if n == 0 || id == int(archive.Unshaped) {
			continue
		}
		e.Shapes++
		if d := x.shape(s, uint16(id)); d.truth&isYes != 0 {
			e.ShapesMatched++
		}
	}
	return e
}
