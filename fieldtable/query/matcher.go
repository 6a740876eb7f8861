package query

import (
	"math/bits"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Matcher runs one query over many messages. Whatever the names and types of a
// message's headers decide is worked out once per shape and remembered. It belongs
// to one goroutine.
type Matcher struct {
	filter  *Filter
	dialect *fieldtable.Dialect
	// shaped: the archive's shapes and marks are of this dialect.
	shaped bool
	// decided holds decisions by the number of a shape, modulo its length, a power of two up to the
	// limit: hostile churn of names costs time, not memory.
	decided []decision
	limit   int
	scratch Scratch

	scanned, skipped uint64
	warmed           byte // keeps what Warm returns, without meaning
}

// A matcher that lives as long as someone watches remembers fewer decisions than one that scans.
// Each has a place for each key of its query, so that many keys leave room for fewer.
const (
	liveDecisions = 1 << 9
	liveBytes     = 64 << 10
	scanDecisions = 1 << 16
	scanBytes     = 4 << 20
	decisionBytes = 48  // and 8 for the place of each key
	queryBytes    = 128 // what a byte of a filter becomes when it is compiled
)

// decision is what matchShape says of a shape. An archive may use the number of a
// shape again for another one, hence the shape itself.
type decision struct {
	shape   *archive.Shape
	truth   truths
	decided bool
	// places has the index of each of the query's keys among the fields of the shape, -1 where it
	// is none of them.
	places []int
}

// Matcher returns a matcher that reads messages under dialect d, nil for Lenient.
// archived is the dialect that the archive was made with, nil for Lenient; where
// they differ, every message is read.
func (q *Filter) Matcher(archived, d *fieldtable.Dialect) *Matcher {
	archived, d = orLenient(archived), orLenient(d)
	return &Matcher{
		filter:  q,
		dialect: d,
		shaped:  archived == d,
		limit:   q.decisions(liveDecisions, liveBytes),
		scratch: Scratch{marked: archived == d},
	}
}

// decisions halves n until so many decisions take limit bytes at most.
func (q *Filter) decisions(n, limit int) int {
	for n > 1 && n*q.decisionBytes() > limit {
		n /= 2
	}
	return n
}

func (q *Filter) decisionBytes() int { return decisionBytes + 8*len(q.keys) }

// MaxBytes bounds the memory that the matcher and its query take.
func (x *Matcher) MaxBytes() int64 {
	return int64(x.limit*x.filter.decisionBytes() + queryBytes*len(x.filter.text) + 4<<10)
}

// Match decides message m of the snapshot s. Unlike Filter.Match it does not look
// further to tell No from Unknown.
func (x *Matcher) Match(s archive.Snapshot, m archive.Message) Verdict {
	return x.MatchMemo(s, m, nil)
}

// MatchMemo is Match with m's header table in a memo of the matcher's dialect,
// which any number of matchers share: all of them together read the table at
// most once. The memo may be nil.
func (x *Matcher) MatchMemo(s archive.Snapshot, m archive.Message, memo *fieldtable.Memo) Verdict {
	id, _ := m.ShapeID()
	d := x.shape(s, id)
	if d.decided {
		x.skipped++
		return d.truth.verdict()
	}
	return x.read(m, d, memo).verdict()
}

// Rest lets go of the message that was read last, which would keep a segment of the archive in
// memory until the next one is read.
func (x *Matcher) Rest() {
	s := &x.scratch
	s.message, s.memo, s.encoded = archive.Message{}, nil, nil
	s.datum, s.inner = datum{}, fieldtable.Value{}
	clear(s.values[:cap(s.values)])
}

// shape returns what is decided for a shape; the result is valid until the next
// call.
func (x *Matcher) shape(s archive.Snapshot, id uint16) *decision {
	if n := len(x.decided); int(id) >= n && n < x.limit {
		n = min(1<<bits.Len16(id), x.limit)
		x.decided = append(make([]decision, 0, n), x.decided...)[:n]
	}
	d := &x.decided[int(id)&(len(x.decided)-1)]
	var sh *archive.Shape
	if x.shaped {
		sh = s.Shape(id)
	}
	if d.truth == 0 || d.shape != sh {
		d.shape = sh
		d.truth, d.decided = x.filter.matchShape(sh, x.dialect)
		d.places = d.places[:0]
		if sh != nil && !d.decided {
			for _, key := range x.filter.keys {
				d.places = append(d.places, sh.Index(key))
			}
		}
	}
	return d
}

// read decides m by its bytes; d is of its shape.
func (x *Matcher) read(m archive.Message, d *decision, memo *fieldtable.Memo) truths {
	x.scratch.message = m
	return x.readLoaded(d, memo)
}

// readLoaded is read of the message that is in the scratch memory.
func (x *Matcher) readLoaded(d *decision, memo *fieldtable.Memo) truths {
	x.scanned++
	x.scratch.start(x.dialect, memo, x.filter.keys)
	x.scratch.shape, x.scratch.places = d.shape, d.places
	return x.filter.root.eval(&x.scratch)
}

// warms reports whether so many messages of t have to be read that it is worth preparing for them.
func (x *Matcher) warms(s archive.Snapshot, t *stretch) bool {
	undecided := 0
	for _, c := range t.shapeCounts() {
		if !x.shape(s, c.ID).decided {
			undecided += int(c.N)
		}
	}
	return undecided > t.segment.Len()/8
}

// warm prepares for the messages of t from lo on, up to hi, that have to be read.
func (x *Matcher) warm(s archive.Snapshot, t *stretch, lo, hi int) {
	x.warmed += t.segment.Warm(lo, hi, func(id uint16) (int, bool) {
		d := x.shape(s, id)
		if len(d.places) > 0 {
			return d.places[0], true
		}
		return -1, !d.decided
	})
}
