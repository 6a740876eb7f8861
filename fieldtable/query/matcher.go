package query

import (
	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Matcher runs one query over many messages. Whatever the names and types of a
// message's headers decide is worked out once per shape and remembered. It belongs
// to one goroutine.
type Matcher struct {
	query   *Query
	dialect *fieldtable.Dialect
	// shaped: the archive's shapes and marks are of this dialect.
	shaped  bool
	decided []decision
	scratch Scratch

	scanned, skipped uint64
}

// decision is what matchShape says of a shape. An archive may use the number of a
// shape again for another one, hence the shape itself.
type decision struct {
	shape   *archive.Shape
	truth   truth
	decided bool
}

// Matcher returns a matcher that reads messages under dialect d, nil for Lenient.
// archived is the dialect that the archive was made with, nil for Lenient; where
// they differ, every message is read.
func (q *Query) Matcher(archived, d *fieldtable.Dialect) *Matcher {
	archived, d = orLenient(archived), orLenient(d)
	return &Matcher{query: q, dialect: d, shaped: archived == d, scratch: Scratch{marked: archived == d}}
}

// Match decides message m of the snapshot s. Unlike Query.Match it does not look
// further to tell No from Unknown.
func (x *Matcher) Match(s archive.Snapshot, m archive.Message) Verdict {
	return x.MatchMemo(s, m, nil)
}

// MatchMemo is Match with m's header table in a memo of the matcher's dialect,
// which any number of matchers share: all of them together read the table at
// most once. The memo may be nil.
func (x *Matcher) MatchMemo(s archive.Snapshot, m archive.Message, memo *fieldtable.Memo) Verdict {
	id, _ := m.ShapeID()
	if d := x.shape(s, id); d.decided {
		x.skipped++
		return d.truth.verdict()
	}
	return x.read(m, memo).verdict()
}

// shape returns what is decided for a shape; the result is valid until the next
// call.
func (x *Matcher) shape(s archive.Snapshot, id uint16) *decision {
	if int(id) >= len(x.decided) {
		x.decided = append(x.decided, make([]decision, int(id)+1-len(x.decided))...)
	}
	d := &x.decided[id]
	var sh *archive.Shape
	if x.shaped {
		sh = s.Shape(id)
	}
	if d.truth == 0 || d.shape != sh {
		d.shape = sh
		d.truth, d.decided = x.query.matchShape(sh, x.dialect)
	}
	return d
}

// read decides m by its bytes.
func (x *Matcher) read(m archive.Message, memo *fieldtable.Memo) truth {
	x.scanned++
	return x.query.match(m, x.dialect, memo, &x.scratch)
}
