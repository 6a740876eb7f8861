package archive

import (
	"encoding/binary"
	"math"
	"sync/atomic"
)

// segment is one run of memory: records grow from its start, one slot a message grows from its end,
// so that both share the space whatever the size of the messages.
//
// Invariants, for a reader that has loaded n:
//   - slots 0 … n-1 and the records they name do not change any more (the writer only adds before
//     and after them);
//   - slot i ends at record offset end(i) and its record begins at end(i-1), or 0;
//   - received times of these messages lie within oldest … newest.
type segment struct {
	base   uint64 // sequence number of message 0
	origin *Origin
	buf    []byte
	n      atomic.Uint32 // messages committed

	oldest, newest atomic.Int64 // Unix nanoseconds; may already include messages after n

	// counts has the messages of each shape. Written once, before the state in which this segment
	// is no longer the last, and read only through such a state.
	counts []ShapeCount
}

// A slot is 10 octets: where the record ends, the marks, the shape.
const (
	slotBytes = 4 + 4 + 2

	slotEnd   = 0
	slotMarks = 4
	slotShape = 8
)

// newSegment begins a segment in buf, whose end must be zeros.
func newSegment(base uint64, buf []byte, origin *Origin) *segment {
	s := &segment{base: base, buf: buf, origin: origin}
	s.oldest.Store(math.MaxInt64)
	s.newest.Store(math.MinInt64)
	return s
}

func (s *segment) slot(i uint32) []byte {
	at := len(s.buf) - (int(i)+1)*slotBytes
	return s.buf[at : at+slotBytes : at+slotBytes]
}

func (s *segment) end(i uint32) uint32 { return binary.LittleEndian.Uint32(s.slot(i)[slotEnd:]) }

func (s *segment) shape(i uint32) uint16 { return binary.LittleEndian.Uint16(s.slot(i)[slotShape:]) }

func (s *segment) record(i uint32) []byte {
	start := uint32(0)
	if i > 0 {
		start = s.end(i - 1)
	}
	end := s.end(i)
	return s.buf[start:end:end]
}

func (s *segment) message(i uint32) (m Message) {
	s.load(i, &m)
	return m
}

func (s *segment) load(i uint32, m *Message) {
	slot := s.slot(i)
	m.rec = s.record(i)
	m.seq = s.base + uint64(i)
	m.marks = packedMarks(binary.LittleEndian.Uint32(slot[slotMarks:]))
	m.shape = binary.LittleEndian.Uint16(slot[slotShape:])
	m.origin = s.origin
}

// packedMarks: the number of headers, and two flags above it.
type packedMarks uint32

const (
	markDamaged    = 1 << 31
	markDuplicates = 1 << 30
	markCount      = markDuplicates - 1
)

func packMarks(headers int, damaged, duplicates bool) packedMarks {
	m := packedMarks(min(headers, markCount))
	if damaged {
		m |= markDamaged
	}
	if duplicates {
		m |= markDuplicates
	}
	return m
}

func (m packedMarks) unpack() Marks {
	return Marks{
		HeaderCount: int(m & markCount),
		Damaged:     m&markDamaged != 0,
		Duplicates:  m&markDuplicates != 0,
	}
}
