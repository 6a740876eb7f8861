package sources

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Position is a place between the messages of a view: for each of its sources the number of the
// last message below. 0: all of the source's messages are above.
type Position []uint64

// End is the place above everything.
func (v View) End() Position {
	p := make(Position, len(v.snaps))
	for i, snap := range v.snaps {
		p[i] = snap.Last()
	}
	return p
}

// Above is the place just above a message: it is below, and what came later is above. Times decide
// about messages of other sources.
func (v View) Above(m archive.Message) Position {
	own := v.of(m)
	p := make(Position, len(v.snaps))
	for i, snap := range v.snaps {
		switch {
		case i == own:
			p[i] = m.Seq()
		default:
			p[i] = lastUntil(snap, m.ReceivedUnixNano(), i < own)
		}
	}
	return p
}

// Below is the place just below a message.
func (v View) Below(m archive.Message) Position {
	p := v.Above(m)
	if i := v.of(m); i >= 0 {
		p[i]--
	}
	return p
}

// lastUntil is the number of the last message received before a time, or at it where that counts
// too.
func lastUntil(s archive.Snapshot, unixNano int64, at bool) uint64 {
	if !at {
		unixNano--
	}
	if s.Len() == 0 {
		return s.Last()
	}
	g := sort.Search(s.Segments(), func(i int) bool {
		oldest, _ := s.Segment(i).Received()
		return s.Segment(i).Len() == 0 || oldest.UnixNano() > unixNano
	})
	if g == 0 {
		return s.First() - 1
	}
	segment := s.Segment(g - 1)
	n := sort.Search(segment.Len(), func(i int) bool { return segment.At(i).ReceivedUnixNano() > unixNano })
	return segment.First() + uint64(n) - 1
}

// lowest is the place below the oldest of some messages, and highest the one above the newest:
// where a source has none among them, it is that of base.
func (v View) Lowest(ms []archive.Message, base Position) Position {
	return v.bound(ms, base, func(seq, at uint64, first bool) uint64 {
		if first {
			return seq - 1
		}
		return min(at, seq-1)
	})
}

// Highest is described with Lowest.
func (v View) Highest(ms []archive.Message, base Position) Position {
	return v.bound(ms, base, func(seq, at uint64, first bool) uint64 {
		if first {
			return seq
		}
		return max(at, seq)
	})
}

func (v View) bound(ms []archive.Message, base Position, move func(seq, at uint64, first bool) uint64) Position {
	p := slices.Clone(base)
	seen := make([]bool, len(p))
	for _, m := range ms {
		if i := v.of(m); i >= 0 {
			p[i] = move(m.Seq(), p[i], !seen[i])
			seen[i] = true
		}
	}
	return p
}

// Reaches reports whether anything that is kept is below p.
func (v View) Reaches(p Position) bool {
	for i, snap := range v.snaps {
		if snap.Len() > 0 && p[i] >= snap.First() {
			return true
		}
	}
	return false
}

// Ahead reports whether p is above a message that there is not: it is of an explorer that ran
// before.
func (v View) Ahead(p Position) bool {
	for i, snap := range v.snaps {
		if p[i] > snap.Last() {
			return true
		}
	}
	return false
}

// Text is p as addresses have it, where there are several sources; Position reads it. It begins
// with a sign that no number and no name begins with.
func (v View) Text(p Position) string {
	numbers := make([]uint64, 0, len(p))
	for i, m := range v.members {
		for len(numbers) <= m.ordinal {
			numbers = append(numbers, 0)
		}
		numbers[m.ordinal] = p[i]
	}
	var b []byte
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return positionSign + base64.RawURLEncoding.EncodeToString(b)
}

const positionSign = "~"

// Position reads what Text has written, or the name of a message as SOURCE:NUMBER, which is the
// place above it, or the one below it where under is set. A source that came later than the text
// was written is above as a whole.
func (v View) Position(text string, under bool) (p Position, ok bool) {
	if name, number, found := strings.Cut(text, ":"); found {
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return nil, false
		}
		m, err := v.Get(Key{name, seq})
		if err != nil {
			return nil, false
		}
		if under {
			return v.Below(m), true
		}
		return v.Above(m), true
	}
	encoded, ok := strings.CutPrefix(text, positionSign)
	if !ok {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return nil, false
	}
	var numbers []uint64
	for len(b) > 0 {
		seq, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		numbers = append(numbers, seq)
		b = b[n:]
	}
	p = make(Position, len(v.members))
	for i, m := range v.members {
		if m.ordinal < len(numbers) {
			p[i] = numbers[m.ordinal]
		}
	}
	return p, true
}
