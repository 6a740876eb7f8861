package archive

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
)

// Snapshot is an archive at one moment, as a value: it never changes, and holding it keeps its
// segments in memory. The zero Snapshot is not usable.
type Snapshot struct {
	st       *state
	n        uint32 // messages of the last segment that belong to the snapshot
	arrivals *arrivals
	columns  *columnCache
	dialect  *fieldtable.Dialect
}

// First is the number of the oldest message kept; in an empty snapshot Last is smaller.
func (s Snapshot) First() uint64 { return s.st.segments[0].base }

// Last is the number of the newest message, 0 before the first.
func (s Snapshot) Last() uint64 {
	return s.st.segments[len(s.st.segments)-1].base + uint64(s.n) - 1
}

// Len is how many messages are kept.
func (s Snapshot) Len() int { return int(s.Last() + 1 - s.First()) }

// Get returns the message with this number, ErrEvicted or ErrNotYet. Number 0, which no message
// has, is not yet.
func (s Snapshot) Get(seq uint64) (Message, error) {
	switch {
	case seq == 0 || seq > s.Last():
		return Message{}, ErrNotYet
	case seq < s.First():
		return Message{}, ErrEvicted
	}
	g := s.Segment(s.find(seq))
	return g.At(int(seq - g.First())), nil
}

// Backward yields the messages with numbers below before, newest first; before 0 means from the
// end.
func (s Snapshot) Backward(before uint64) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		for g, n := range s.SegmentsBackward(before) {
			for i := n - 1; i >= 0; i-- {
				if !yield(g.At(i)) {
					return
				}
			}
		}
	}
}

// Forward yields the messages with numbers above after, oldest first.
func (s Snapshot) Forward(after uint64) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		for g, i := range s.SegmentsForward(after) {
			for ; i < g.Len(); i++ {
				if !yield(g.At(i)) {
					return
				}
			}
		}
	}
}

// Segments is how many segments the snapshot has, at least one.
func (s Snapshot) Segments() int { return len(s.st.segments) }

// Segment returns segment i, 0 being the oldest. Only the newest can be empty.
func (s Snapshot) Segment(i int) Segment {
	seg := s.st.segments[i]
	if i == len(s.st.segments)-1 {
		return Segment{seg: seg, n: s.n}
	}
	return Segment{seg: seg, n: seg.n.Load(), sealed: true}
}

// SegmentsBackward yields the segments that have messages with numbers below before, newest first,
// each with how many of its messages, from its first, are below; before 0 means all.
func (s Snapshot) SegmentsBackward(before uint64) iter.Seq2[Segment, int] {
	return func(yield func(Segment, int) bool) {
		if before == 0 || before > s.Last() {
			before = s.Last() + 1
		}
		if before <= s.First() {
			return
		}
		for i := s.find(before - 1); i >= 0; i-- {
			g := s.Segment(i)
			if n := min(before-g.First(), uint64(g.Len())); n > 0 && !yield(g, int(n)) {
				return
			}
		}
	}
}

// SegmentsForward yields the segments that have messages with numbers above after, oldest first,
// each with the index of its first such message.
func (s Snapshot) SegmentsForward(after uint64) iter.Seq2[Segment, int] {
	return func(yield func(Segment, int) bool) {
		if after >= s.Last() {
			return
		}
		next := max(after+1, s.First())
		for i := s.find(next); i < len(s.st.segments); i++ {
			g := s.Segment(i)
			from := max(next, g.First()) - g.First()
			if from < uint64(g.Len()) && !yield(g, int(from)) {
				return
			}
		}
	}
}

// find returns the index of the segment with seq, which must lie within First … Last.
func (s Snapshot) find(seq uint64) int {
	i, exact := slices.BinarySearchFunc(s.st.segments, seq, func(g *segment, seq uint64) int {
		return cmp.Compare(g.base, seq)
	})
	if exact {
		return i
	}
	return i - 1
}

// Segment is one run of consecutive messages of a snapshot, as a value. Shapes and marks of its
// messages are read without touching the messages themselves.
type Segment struct {
	seg    *segment
	n      uint32
	sealed bool
}

// First is the number of message 0.
func (g Segment) First() uint64 { return g.seg.base }

// Len is how many messages it has.
func (g Segment) Len() int { return int(g.n) }

// Sealed reports whether no message will be added to it any more.
func (g Segment) Sealed() bool { return g.sealed }

// At returns message i, 0 ≤ i < Len.
func (g Segment) At(i int) Message { return g.seg.message(g.index(i)) }

// Load makes m message i. For a loop over many messages it is faster than At, which copies.
func (g Segment) Load(i int, m *Message) { g.seg.load(g.index(i), m) }

// ShapeAt returns the shape of message i, or Unshaped.
func (g Segment) ShapeAt(i int) uint16 { return g.seg.shape(g.index(i)) }

// Bytes is the memory the segment takes.
func (g Segment) Bytes() int { return len(g.seg.buf) }

// Received returns bounds on when its messages were received: none is older or newer. The clock may
// have been set meanwhile, so the messages need not be in order of time.
func (g Segment) Received() (oldest, newest time.Time) {
	return time.Unix(0, g.seg.oldest.Load()), time.Unix(0, g.seg.newest.Load())
}

// ShapeCounts returns how many of its messages have each shape, by ascending ID. It is free except
// for the newest segment of a snapshot, whose shapes are counted.
func (g Segment) ShapeCounts() []ShapeCount {
	if g.sealed {
		return g.seg.counts
	}
	var c shapeCounter
	return c.count(g.seg, g.n)
}

// index panics on a wrong index, as a slice does, rather than read slots that are not committed.
func (g Segment) index(i int) uint32 {
	if uint64(i) >= uint64(g.n) {
		panic("archive: message index out of range")
	}
	return uint32(i)
}
