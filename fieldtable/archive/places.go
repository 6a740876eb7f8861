package archive

import "encoding/binary"

// Places let the value of a header be found without passing over those before it. They are numbers
// of 16 bits, little-endian:
//
//	where the header table begins in the record
//	how many octets it has, with its length octets
//	for each header, where its tag is, from the table's first length octet
//
// The headers are those of the message's shape, in the same order. A table that ends further back
// than 16 bits reach has no places, nor has one that something was removed from.
const (
	placeBytes = 2
	maxPlace   = 1<<16 - 1
)

// placesSize is how many octets the places of a table with so many headers take.
func placesSize(headers int) int { return (2 + headers) * placeBytes }

// appendPlaces appends the places of a table that begins at octet at of rec; tags are where its
// tags are.
func appendPlaces(rec []byte, at, size int, tags []uint16) []byte {
	le := binary.LittleEndian
	rec = le.AppendUint16(rec, uint16(at))
	rec = le.AppendUint16(rec, uint16(size))
	for _, tag := range tags {
		rec = le.AppendUint16(rec, tag)
	}
	return rec
}

func (m Message) placed() bool { return m.rec != nil && m.rec[recFlags]&recordPlaced != 0 }

// placesBytes is how many octets of the record are places.
func (m Message) placesBytes() int {
	if !m.placed() {
		return 0
	}
	return placesSize(int(m.marks & markCount))
}

// placedTable returns the header table of a message that is placed.
func (m Message) placedTable() []byte {
	at := int(binary.LittleEndian.Uint16(m.rec[recFixed:]))
	size := int(binary.LittleEndian.Uint16(m.rec[recFixed+placeBytes:]))
	return m.rec[at : at+size : at+size]
}

// Place returns the header table and where the tag of header i is in it, counted from its first
// length octet: what fieldtable.Value.Seek takes. The headers are those of the message's shape, so
// they are read under the archive's dialect. ok is false where i is not one of them, and for some
// messages always: then the table has to be searched.
func (m *Message) Place(i int) (table []byte, tagAt int, ok bool) {
	if !m.placed() || uint(i) >= uint(m.marks&markCount) {
		return nil, 0, false
	}
	return m.placedTable(), int(binary.LittleEndian.Uint16(m.rec[recFixed+placesSize(i):])), true
}

// WarmMessages is how many messages Warm takes at once.
const WarmMessages = 32

// TableEnd stands for what follows the header table in a record: see Warm.
const TableEnd = -2

// Warm brings into the processor's caches what Load and Place will read of the messages lo … hi-1,
// at most WarmMessages: the beginning of a record and the tag of the header that field names for a
// message's shape, by its index there, or TableEnd: what follows the header table. Where ok is
// false the message is left out; where i is negative otherwise, only its tag. One after the other,
// each message would wait for memory two or three times; here loads that do not depend on each
// other follow in loops so short that the processor has many of them under way. The result means
// nothing: without one the compiler may leave the loads out.
func (g Segment) Warm(lo, hi int, field func(shape uint16) (i int, ok bool)) (sum byte) {
	const line = 64 // places of up to some 14 headers lie within the first two lines
	type target struct {
		at    uint32 // first the record's start, then the tag
		field int
	}
	s := g.seg
	var targets [WarmMessages]target
	n, end := 0, uint32(0)
	if lo > 0 && lo < g.Len() {
		end = s.end(uint32(lo - 1))
	}
	for i := lo; i < min(hi, g.Len(), lo+WarmMessages); i++ {
		start := end
		end = s.end(uint32(i))
		if f, ok := field(s.shape(uint32(i))); ok {
			targets[n] = target{start, f}
			n++
		}
	}
	if n == 0 {
		return 0
	}
	last := end - 1 // the writer may be at work on what follows
	for _, t := range targets[:n] {
		sum += s.buf[t.at] + s.buf[min(t.at+line, last)]
	}
	for i := range targets[:n] {
		t := &targets[i]
		if t.field >= 0 || t.field == TableEnd {
			t.at = s.tag(t.at, t.field)
		}
	}
	for _, t := range targets[:n] {
		sum += s.buf[min(t.at, last)]
	}
	return sum
}

// tag returns where in the segment the tag of header i is, or what follows the header table, of the
// record at start, if that is placed.
func (s *segment) tag(start uint32, i int) uint32 {
	le, rec := binary.LittleEndian, s.buf[start:]
	if rec[recFlags]&recordPlaced == 0 {
		return start
	}
	table := start + uint32(le.Uint16(rec[recFixed:]))
	if i == TableEnd {
		return table + uint32(le.Uint16(rec[recFixed+placeBytes:]))
	}
	return table + uint32(le.Uint16(rec[recFixed+placesSize(i):]))
}
