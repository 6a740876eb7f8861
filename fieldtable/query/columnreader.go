package query

import (
	"encoding/binary"
	"runtime"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// columnReader builds the columns of one operand, and reads the values in them. It belongs to one
// goroutine.
type columnReader struct {
	*Matcher
	snapshot  archive.Snapshot
	columns   archive.Columns
	name      archive.ColumnName
	condition *condition
	builder   archive.ColumnBuilder
	asked     bool

	entry []byte
	datum datum
	value fieldtable.Value
}

// A value in a column is what a condition compares, so that types stay exact: entryHeader and the
// value as on the wire, or the class of a fact and its octets.
const (
	entryHeader byte = iota
	entryText        // octets
	entryInt         // 8 octets, big-endian, as in all that follow
	entryUint        // 8 octets
	entryTime        // the scale, 8 octets
	entryBool        // 1 octet
)

// maxColumnValue bounds a value in a column, in octets. Messages with a longer one are read.
const maxColumnValue = 256

// columnable reports whether c names one value that columns are kept of. There is none of what is
// another number in each message, nor of bodies, which are large.
func columnable(c *condition) bool {
	for _, s := range c.path.steps {
		if s.index == each {
			return false
		}
	}
	if c.prop != nil {
		switch c.prop.name {
		case "received", "seq", "delivery_tag", bodyProperty:
			return false
		}
		return c.prop.kind != propertyPresence
	}
	return c.also == nil || columnable(c.also)
}

// columnReader returns one for the operand of c, which must be columnable.
func (r *PageRequest) columnReader(s archive.Snapshot, of archive.Columns, c *condition) *columnReader {
	alone, keys := c.alone()
	q := &Filter{root: alone, keys: keys}
	cr := &columnReader{Matcher: r.matcher(q), snapshot: s, columns: of, condition: alone}
	cr.name = archive.ColumnName{Name: c.operand(), Dialect: cr.dialect}
	cr.builder.Key = func(dst, value []byte) ([]byte, bool) { return cr.load(value).appendKey(dst) }
	return cr
}

// alone is the condition that the operand has a value, with keys of its own.
func (c condition) alone() (*condition, []string) {
	a := c.with(visitor{func(*Scratch, *datum) bool { return false }})
	a.negate = false
	var keys []string
	for of := a; of != nil; of = of.also {
		if of.prop == nil {
			of.slot = len(keys)
			keys = append(keys, of.path.name)
		}
		of.negate = false
	}
	return a, keys
}

// of returns the column of a segment, nil where there is none.
func (r *columnReader) of(g archive.Segment) *archive.Column {
	r.asked = true
	return r.columns.Of(g, r.name, &r.builder, func(b *archive.ColumnBuilder) { r.build(g, b) })
}

func (r *columnReader) build(g archive.Segment, b *archive.ColumnBuilder) {
	t := stretch{segment: g, hi: g.Len()}
	warms := r.warms(r.snapshot, &t)
	fact := r.condition.prop != nil
	s := &r.scratch
	read := 0
	for i := range g.Len() {
		if warms && i%archive.WarmMessages == 0 && fact {
			r.warmed += g.Warm(i, t.hi, func(uint16) (int, bool) { return archive.TableEnd, true })
		} else if warms && i%archive.WarmMessages == 0 {
			r.warm(r.snapshot, &t, i, t.hi)
		}
		d := r.shape(r.snapshot, g.ShapeAt(i))
		if d.decided {
			b.None()
			continue
		}
		g.Load(i, &s.message)
		s.start(r.dialect, nil, r.filter.keys)
		s.shape, s.places = d.shape, d.places
		switch r.condition.lookup(s, &s.datum) {
		case absent:
			b.None()
		case unreadable:
			b.Hidden()
		default:
			var ok bool
			if r.entry, ok = s.datum.appendEntry(r.entry[:0]); ok {
				b.Value(r.entry)
			} else {
				b.Unread()
			}
		}
		if read++; read%betweenChecks == 0 {
			runtime.Gosched()
		}
	}
}

// appendEntry writes d as a column has it. ok is false for what no column holds: what was removed,
// tables and arrays, and what is long.
func (d *datum) appendEntry(dst []byte) (_ []byte, ok bool) {
	if d.removed {
		return dst, false
	}
	if d.value != nil {
		switch d.value.Kind() {
		case fieldtable.KindTable, fieldtable.KindArray, fieldtable.KindInvalid:
			return dst, false
		}
		encoded := d.value.Encoded()
		return append(append(dst, entryHeader), encoded...), len(encoded) <= maxColumnValue
	}
	be := binary.BigEndian
	switch d.class {
	case classText:
		return append(append(dst, entryText), d.bytes...), len(d.bytes) <= maxColumnValue
	case classInt:
		return be.AppendUint64(append(dst, entryInt), uint64(d.int)), true // #nosec G115 -- read back as it is
	case classUint:
		return be.AppendUint64(append(dst, entryUint), d.uint), true
	case classTime:
		return be.AppendUint64(append(dst, entryTime, byte(d.scale)), uint64(d.int)), true // #nosec G115 -- likewise
	case classBool:
		if d.bool {
			return append(dst, entryBool, 1), true
		}
		return append(dst, entryBool, 0), true
	}
	return dst, false
}

// load reads a value of the column. The result is valid until the next call.
func (r *columnReader) load(entry []byte) *datum {
	d, be, rest := &r.datum, binary.BigEndian, entry[1:]
	if entry[0] == entryHeader {
		r.value.Seek(rest, r.dialect, 0)
		d.setValue(&r.value)
		return d
	}
	*d = datum{}
	switch entry[0] {
	case entryText:
		d.class, d.bytes = classText, rest
	case entryInt:
		d.class, d.int = classInt, int64(be.Uint64(rest)) // #nosec G115 -- as it was written
	case entryUint:
		d.class, d.uint = classUint, be.Uint64(rest)
	case entryTime:
		d.class, d.scale, d.int = classTime, int(rest[0]), int64(be.Uint64(rest[1:])) // #nosec G115 -- likewise
	case entryBool:
		d.class, d.bool = classBool, rest[0] == 1
	}
	return d
}
