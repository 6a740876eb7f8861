package archive

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/headerglass/headerglass/fieldtable"
)

// Unshaped stands in the place of a shape's ID for messages that have none.
const Unshaped uint16 = 0

// Shape is the ordered list of names and tags at the top level of a header table, up to the first
// damage there. A message without a headers property has the shape without fields. Not to be
// changed.
type Shape struct {
	Fields  []ShapeField
	Damaged bool // at the top level; a message can also be damaged deeper, see Marks
	// HeaderDamaged says that a property other than the table, or what follows the properties,
	// cannot be read.
	HeaderDamaged bool
	Duplicates    bool // a name occurs twice

	key string // what it is interned under; the names point into it
}

// ShapeField is one name and its tag, as on the wire.
type ShapeField struct {
	Name string
	Tag  byte
}

// Tag returns the tag of the first field with this name.
func (s *Shape) Tag(name string) (tag byte, ok bool) {
	if i := s.Index(name); i >= 0 {
		return s.Fields[i].Tag, true
	}
	return 0, false
}

// Index returns the place of the first field with this name among Fields, or -1.
func (s *Shape) Index(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// ShapeCount is a shape and how many messages have it.
type ShapeCount struct {
	ID uint16
	N  uint32
}

// Shape returns the shape with this ID; nil for Unshaped and for IDs not in use.
func (s Snapshot) Shape(id uint16) *Shape { return s.st.shapes.get(id) }

// Shapes yields the shapes in use, by ascending ID. There may be some that no message of the
// snapshot has.
func (s Snapshot) Shapes() iter.Seq2[uint16, *Shape] {
	return func(yield func(uint16, *Shape) bool) {
		for i := range s.st.shapes.slots {
			if sh := s.st.shapes.slots[i].Load(); sh != nil && !yield(uint16(i), sh) {
				return
			}
		}
	}
}

// ShapeCounts returns how many messages of the snapshot have each shape, indexed by ID; at Unshaped
// the messages without one. It is longer than any ID in the snapshot.
func (s Snapshot) ShapeCounts() []uint64 {
	counts := make([]uint64, len(s.st.shapes.slots))
	for i := range s.st.segments {
		for _, c := range s.Segment(i).ShapeCounts() {
			counts[c.ID] += uint64(c.N)
		}
	}
	return counts
}

// shapeTable maps IDs to shapes. Slot 0 stays empty. Slots are filled once and never changed; what
// no longer fits is a new table in a new state.
type shapeTable struct{ slots []atomic.Pointer[Shape] }

func (t *shapeTable) get(id uint16) *Shape {
	if int(id) >= len(t.slots) {
		return nil
	}
	return t.slots[id].Load()
}

func (t *shapeTable) len() (n int) {
	for i := range t.slots {
		if t.slots[i].Load() != nil {
			n++
		}
	}
	return n
}

// What a shape takes beside its key: the struct, its map entry, slot and counter; and per field.
const (
	shapeOverhead      = 200
	shapeFieldOverhead = 24
)

func (s *Shape) bytes() int64 { return shapeBytes(len(s.key), len(s.Fields)) }

func shapeBytes(key, fields int) int64 {
	return int64(key) + int64(fields)*shapeFieldOverhead + shapeOverhead
}

// What the last octet of a shape's key says.
const (
	keyDamaged       = 1 // the top level is damaged
	keyHeaderDamaged = 2 // the content header is, outside the table
)

// shapeKey is what a message's shape is interned under, and what the walk over its table has told
// besides. Its memory is used again.
type shapeKey struct {
	// key has, for each field at the top level, what stands on the wire before the value, which is
	// the name's length, the name and the tag; then one octet of the bits above.
	key []byte
	// tags is where each field's tag is; in tables over 64 KiB, those are without meaning.
	tags   []uint16
	fields int
	// large: key and tags hold only what came first, because such a shape is not interned.
	large bool
	// damaged also covers what is nested.
	damaged bool
}

// read walks the top level of a table. A shape that takes more than limit bytes is large.
func (k *shapeKey) read(table []byte, d *fieldtable.Dialect, limit int64) {
	k.reset()
	view := fieldtable.View(table, d)
	key, tags, fields := k.key, k.tags, 0 // every message that arrives comes by here
	large, nested := false, false
	s := view.Scan()
	for at := s.Offset(); s.Skip(); at = s.Offset() {
		tagAt := at + 1 + int(table[at])
		fields++
		if large = large || shapeBytes(len(key)+tagAt+1-at, fields) > limit; !large {
			key = append(key, table[at:tagAt+1]...)
			tags = append(tags, uint16(tagAt))
		}
		kind := d.Kind(table[tagAt])
		nested = nested || kind == fieldtable.KindTable || kind == fieldtable.KindArray
	}
	k.key, k.tags, k.fields, k.large = key, tags, fields, large
	if s.Err() != nil {
		k.key, k.damaged = append(k.key, keyDamaged), true
	} else {
		k.key, k.damaged = append(k.key, 0), nested && view.Valid() != nil
	}
}

func (k *shapeKey) reset() {
	if cap(k.key) > keepScratch {
		k.key, k.tags = nil, nil
	}
	k.key, k.tags, k.fields, k.large, k.damaged = k.key[:0], k.tags[:0], 0, false, false
}

// cutShapeKey takes the first field off a key; ok is false at the end.
func cutShapeKey[K string | []byte](key K) (name K, tag byte, rest K, ok bool) {
	if len(key) < 2 {
		return name, 0, key, false
	}
	end := 1 + int(key[0])
	return key[1:end], key[end], key[end+1:], true
}

// newShape reads a shape's key.
func newShape(key string, fields int, duplicates bool) *Shape {
	sh := &Shape{
		Fields:     make([]ShapeField, 0, fields),
		Duplicates: duplicates,
		key:        key,

		Damaged:       key[len(key)-1]&keyDamaged != 0,
		HeaderDamaged: key[len(key)-1]&keyHeaderDamaged != 0,
	}
	for name, tag, rest, ok := cutShapeKey(key); ok; name, tag, rest, ok = cutShapeKey(rest) {
		sh.Fields = append(sh.Fields, ShapeField{Name: name, Tag: tag})
	}
	return sh
}

// shapeCounter counts the shapes of a segment.
type shapeCounter struct {
	n    []uint32 // by ID, zero between uses
	seen []uint16
}

// count returns the counts of the first n messages, by ascending ID.
func (c *shapeCounter) count(s *segment, n uint32) []ShapeCount {
	for i := range n {
		id := s.shape(i)
		if missing := int(id) + 1 - len(c.n); missing > 0 {
			c.n = append(c.n, make([]uint32, missing)...)
		}
		if c.n[id] == 0 {
			c.seen = append(c.seen, id)
		}
		c.n[id]++
	}
	slices.Sort(c.seen)
	counts := make([]ShapeCount, len(c.seen))
	for i, id := range c.seen {
		counts[i] = ShapeCount{ID: id, N: c.n[id]}
		c.n[id] = 0
	}
	c.seen = c.seen[:0]
	return counts
}
