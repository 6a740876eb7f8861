package query

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Memos shares memos of the newest messages of one archive among the matchers of a live feed: any
// number of filters together read a message about once. It is safe for concurrent use.
type Memos struct {
	// Memos are kept by number and dialect alone, so messages of another archive must not get here:
	// only a LiveMessage does, and only the Memos make one.
	archive *archive.Archive
	// An entry is replaced, never changed. Two matchers that miss at once both make
	// one, which is only slower.
	recent [liveMessages]atomic.Pointer[liveMemo]
}

// NewMemos returns memos for the messages of a.
func NewMemos(a *archive.Archive) *Memos { return &Memos{archive: a} }

// LiveSnapshot is a snapshot of the archive that its Memos are for.
type LiveSnapshot struct {
	archive.Snapshot
	memos *Memos
}

// LiveMessage is a message together with the Memos of its archive.
type LiveMessage struct {
	archive.Message
	from LiveSnapshot
}

// Snapshot is what the archive holds now.
func (l *Memos) Snapshot() LiveSnapshot { return LiveSnapshot{l.archive.Snapshot(), l} }

// Forward yields the messages with numbers above after, oldest first, for MatchLive.
func (s LiveSnapshot) Forward(after uint64) iter.Seq[LiveMessage] {
	return func(yield func(LiveMessage) bool) {
		live := LiveMessage{from: s}
		for live.Message = range s.Snapshot.Forward(after) {
			if !yield(live) {
				return
			}
		}
	}
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

// MatchLive is Match by means of the memos that m's archive shares with other matchers.
func (x *Matcher) MatchLive(m LiveMessage) Verdict {
	id, _ := m.ShapeID()
	d := x.shape(m.from.Snapshot, id)
	if d.decided {
		x.skipped++
		return d.truth.verdict()
	}
	if len(x.filter.keys) == 0 {
		return x.read(m.Message, d, nil).verdict()
	}
	return x.read(m.Message, d, m.from.memos.of(m.Message, x.dialect)).verdict()
}
