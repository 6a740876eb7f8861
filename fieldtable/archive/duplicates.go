package archive

import (
	"bytes"
	"hash/maphash"

	"github.com/headerglass/headerglass/fieldtable"
)

// duplicates finds a name that occurs twice among the names at the top level of a table, or in a
// shape's key, in linear time. It keeps its memory for the next time.
type duplicates struct {
	seed  maphash.Seed
	names []uint32 // where the lengths of the names are
	// open addressing: index into names + 1; a power of two; empty while there are few
	slots []uint32
}

const (
	// Up to so many names are compared each with each.
	fewNames = 16
	// Scratch memory above so many entries is given back.
	keepScratch = 64 << 10
)

func newDuplicates() duplicates { return duplicates{seed: maphash.MakeSeed()} }

// in reports whether a name occurs twice in a shape's key.
func (d *duplicates) in(key []byte) bool {
	defer d.reset()
	at := 0
	for name, _, rest, ok := cutShapeKey(key); ok; name, _, rest, ok = cutShapeKey(rest) {
		if d.add(key, at) {
			return true
		}
		at += 1 + len(name) + 1
	}
	return false
}

// inTable is in for a table whose key would be too large.
func (d *duplicates) inTable(table fieldtable.Table, encoded []byte) bool {
	defer d.reset()
	s := table.Scan()
	for at := s.Offset(); s.Skip(); at = s.Offset() {
		if d.add(encoded, at) {
			return true
		}
	}
	return false
}

// name is the name whose length is at buf[at].
func name(buf []byte, at uint32) []byte { return buf[at+1 : at+1+uint32(buf[at])] }

// add adds the name whose length is at buf[at], and reports whether it was there.
func (d *duplicates) add(buf []byte, at int) bool {
	added := name(buf, uint32(at)) // #nosec G115 -- a table has less than 4 GiB
	if len(d.slots) == 0 {
		for _, other := range d.names {
			if bytes.Equal(added, name(buf, other)) {
				return true
			}
		}
	} else if d.find(buf, added, uint32(len(d.names)+1)) { // #nosec G115 -- as above
		return true
	}
	d.names = append(d.names, uint32(at)) // #nosec G115 -- as above
	if n := len(d.names); n >= fewNames && 2*n >= len(d.slots) {
		d.grow(buf, 4*n)
	}
	return false
}

// find reports whether a name has a slot, and gives it one with this entry if not.
func (d *duplicates) find(buf, added []byte, entry uint32) bool {
	mask := uint64(len(d.slots) - 1)
	slot := maphash.Bytes(d.seed, added) & mask
	for ; d.slots[slot] != 0; slot = (slot + 1) & mask {
		if bytes.Equal(name(buf, d.names[d.slots[slot]-1]), added) {
			return true
		}
	}
	d.slots[slot] = entry
	return false
}

func (d *duplicates) grow(buf []byte, least int) {
	size := 2 * fewNames
	for size < least {
		size *= 2
	}
	if cap(d.slots) < size {
		d.slots = make([]uint32, size)
	} else {
		d.slots = d.slots[:size]
		clear(d.slots)
	}
	for i, at := range d.names {
		d.find(buf, name(buf, at), uint32(i+1)) // #nosec G115 -- as above
	}
}

func (d *duplicates) reset() {
	if cap(d.names) > keepScratch {
		d.names, d.slots = nil, nil
	}
	d.names, d.slots = d.names[:0], d.slots[:0]
}
