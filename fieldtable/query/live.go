package query

import (
	"slices"
	"sync/atomic"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Memos shares memos of the newest messages among the matchers of a live feed: any
// number of filters together read a message about once. It is safe for concurrent
// use; the zero value is ready.
type Memos struct {
	// An entry is replaced, never changed. Two matchers that miss at once both make
	// one, which is only slower.
	recent [liveMessages]atomic.Pointer[liveMemo]
}

type liveMemo struct {
	seq     uint64
	dialect *fieldtable.Dialect
	memo    *fieldtable.Memo
}

const (
	// liveMessages is about how far matchers are apart, and memos kept.
	liveMessages = 64
	// maxMemoTable bounds what a memo can grow to, some 20 times this.
	maxMemoTable = 16 << 10
)

// of returns the memo of m, or nil where m is better read without one.
func (l *Memos) of(m archive.Message, d *fieldtable.Dialect) *fieldtable.Memo {
	encoded, ok := m.HeaderTable()
	if !ok || len(encoded) > maxMemoTable {
		return nil
	}
	slot := &l.recent[m.Seq()%liveMessages]
	if e := slot.Load(); e != nil && e.seq == m.Seq() && e.dialect == d {
		return e.memo
	}
	// A memo refers to the bytes that it reads. Those of the archive would keep a whole segment of
	// it.
	e := &liveMemo{m.Seq(), d, fieldtable.NewMemo(fieldtable.View(slices.Clone(encoded), d))}
	slot.Store(e)
	return e.memo
}

// MatchLive is Match by means of memos shared with other matchers of messages of
// the same archive.
func (x *Matcher) MatchLive(s archive.Snapshot, m archive.Message, shared *Memos) Verdict {
	id, _ := m.ShapeID()
	d := x.shape(s, id)
	if d.decided {
		x.skipped++
		return d.truth.verdict()
	}
	if len(x.query.keys) == 0 {
		return x.read(m, d, nil).verdict()
	}
	return x.read(m, d, shared.of(m, x.dialect)).verdict()
}
