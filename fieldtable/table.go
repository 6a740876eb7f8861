package fieldtable

import (
	"encoding/binary"
	"iter"
	"math"
)

// container is what Table and Array share: where they lie.
type container struct {
	root    []byte // from the outermost table's first length octet; every offset counts from there
	d       *Dialect
	at, end int // at is the first length octet; nothing is read at or after end
	depth   uint8
	// flaw is what is wrong with the outermost table as a whole. With a bad length, end is 0 and
	// nothing can be read; with trailing octets, everything can.
	flaw reason
}

func (c *container) dialect() *Dialect {
	if c.d == nil {
		return lenient
	}
	return c.d
}

func (c *container) bounds() (b []byte, w *widths, first uint64) {
	return c.root[:c.end], c.dialect().widthsAt(c.depth), uint64(c.at) + 4
}

func (c *container) encoded() []byte {
	if c.flaw == tableLengthTruncated || c.flaw == tableLengthOverrun {
		return c.root
	}
	return c.root[c.at:c.end:c.end]
}

// Table is a view of one field table: its octets and the dialect to read them in. It holds no
// state, so it can be copied and used by many goroutines at once; nobody may change the octets
// meanwhile. The zero Table is empty.
type Table struct{ container }

// View looks at encoded as one field table with its 4 length octets. It never fails: damage, also a
// length that is not exactly that of what follows, is reported when the table is read. A nil
// dialect means Lenient.
func View(encoded []byte, d *Dialect) Table {
	if d == nil {
		d = lenient
	}
	t := Table{container{root: encoded, d: d, flaw: tableLengthTruncated}}
	if len(encoded) >= 4 {
		t.end, t.flaw = outermost(encoded)
	}
	return t
}

// outermost returns where the table that b begins with ends, 0 if not within b.
func outermost(b []byte) (end int, flaw reason) {
	switch n := uint64(binary.BigEndian.Uint32(b)) + 4; {
	case n > uint64(len(b)):
		return 0, tableLengthOverrun
	case n < uint64(len(b)):
		return int(n), trailingBytes
	}
	return len(b), sound
}

// Cut looks at the field table that b begins with, and returns what follows it.
// If its length is missing or exceeds b, the table is all of b and nothing follows.
func Cut(b []byte, d *Dialect) (t Table, rest []byte) {
	t = View(b, d)
	switch t.flaw {
	case trailingBytes:
		t.root, t.flaw = b[:t.end:t.end], sound
		fallthrough
	case sound:
		rest = b[t.end:]
	}
	return t, rest
}

// Encoded returns the table with its length octets, as on the wire, without any octets that follow
// it.
func (t Table) Encoded() []byte { return t.encoded() }

// Whole returns everything that the outermost table was viewed in: Encoded and, after View, octets
// that follow it.
func (t Table) Whole() []byte { return t.root }

// Dialect returns the dialect in which the table is read.
func (t Table) Dialect() *Dialect {
	return t.dialect()
}

// Offset returns where the table's length octets are, in octets from those of the outermost table.
func (t Table) Offset() int { return t.at }

// DeclaredLen returns the length that the table claims, without its own 4 octets; ok is false if
// those are incomplete.
func (t Table) DeclaredLen() (n uint32, ok bool) {
	b := t.encoded()
	if len(b) < 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

// All returns the fields in wire order, duplicates included, then the error, once and last with a
// zero Field, if there is damage. It does not look into nested tables and arrays.
func (t Table) All() iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		b, w, p := t.bounds()
		f := Field{Value: Value{root: t.root, d: t.d, depth: t.depth}}
		for p < uint64(len(b)) {
			end := uint64(math.MaxUint64)
			tagAt := p + 1 + uint64(b[p])
			if tagAt < uint64(len(b)) {
				if end = w.extent(b, tagAt); end > uint64(len(b)) {
					end = w.exactExtent(b, tagAt)
				}
			}
			if end > uint64(len(b)) {
				yield(Field{}, damaged(b, w, t.d, p, true))
				return
			}
			f.Name = b[p+1 : tagAt : tagAt]
			f.Value.set(tagAt, end)
			f.Offset, f.End = int(p), int(end)
			if !yield(f, nil) {
				return
			}
			p = end
		}
		if t.flaw != sound {
			yield(Field{}, t.flawed())
		}
	}
}

// Scan returns a Scanner before the first field.
func (t Table) Scan() Scanner { return newScanner(t.container, true) }

// Lookup returns the value of the first field of that name: of duplicates, AMQP 0-9-1 section
// 4.2.5.5 lets only the first count. It passes over the fields before it without reading their
// values. The error is ErrAbsent if there is no such field, or a *SyntaxError if there is damage
// before it.
func (t Table) Lookup(key string) (Value, error) {
	b, w, first := t.bounds()
	at, end := find(b, w, first, key)
	switch {
	case end <= uint64(len(b)):
		return newValue(t.root, t.d, t.depth, at, end), nil
	case at < uint64(len(b)):
		return Value{}, damaged(b, w, t.d, at, true)
	case t.flaw != sound:
		return Value{}, t.flawed()
	}
	return Value{}, ErrAbsent
}

// find passes over the fields from p on until it comes to the key, and returns where its tag and
// its end are. If there is no such field, end is beyond b; then at is that of the field that could
// not be read, or not within b either.
func find(b []byte, w *widths, p uint64, key string) (at, end uint64) {
	for p < uint64(len(b)) {
		size := uint64(b[p])
		tagAt := p + 1 + size
		if tagAt >= uint64(len(b)) {
			return p, math.MaxUint64
		}
		end := w.extent(b, tagAt)
		if end > uint64(len(b)) {
			if end = w.exactExtent(b, tagAt); end > uint64(len(b)) {
				return p, end
			}
		}
		if size == uint64(len(key)) && string(b[p+1:tagAt]) == key {
			return tagAt, end
		}
		p = end
	}
	return math.MaxUint64, math.MaxUint64
}

// Get is Lookup without the reason why there is no value.
func (t Table) Get(key string) (v Value, ok bool) {
	v, err := t.Lookup(key)
	return v, err == nil
}

// Project looks up several keys in one pass, which ends as soon as all are found. dst[i] becomes
// the value of keys[i], the zero Value if it is absent; dst must be at least as long as keys. found
// counts the keys that have a value. The error is a *SyntaxError if there is damage before all were
// found; values found before it are in dst.
func (t Table) Project(keys []string, dst []Value) (found int, err error) {
	dst = dst[:len(keys)]
	clear(dst)
	if len(keys) == 0 {
		return 0, nil
	}
	var prints uint64
	for _, key := range keys {
		prints |= fingerprint(key)
	}
	b, w, p := t.bounds()
	for p < uint64(len(b)) {
		size := uint64(b[p])
		tagAt := p + 1 + size
		if tagAt >= uint64(len(b)) {
			return found, damaged(b, w, t.d, p, true)
		}
		end := w.extent(b, tagAt)
		if end > uint64(len(b)) {
			if end = w.exactExtent(b, tagAt); end > uint64(len(b)) {
				return found, damaged(b, w, t.d, p, true)
			}
		}
		if print := uint64(1) << ((size + uint64(b[tagAt-1])) & 63); prints&print != 0 {
			for i, key := range keys {
				if string(b[p+1:tagAt]) == key && dst[i].IsZero() {
					v := &dst[i]
					v.root, v.d, v.depth = t.root, t.d, t.depth
					v.set(tagAt, end)
					found++
				}
			}
			if found == len(keys) {
				return found, nil
			}
		}
		p = end
	}
	if t.flaw != sound {
		return found, t.flawed()
	}
	return found, nil
}

// fingerprint has one bit set, which the length and the last octet of the key decide.
func fingerprint(key string) uint64 {
	if key == "" {
		return 1
	}
	return 1 << ((len(key) + int(key[len(key)-1])) & 63)
}

// Valid returns nil if the table and everything nested in it can be read, otherwise the first
// damage in depth-first wire order, a *SyntaxError.
func (t Table) Valid() error { return t.valid(true) }
