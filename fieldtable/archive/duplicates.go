package archive

import (
	"bytes"
	"hash/maphash"
)

// duplicates finds a name that occurs twice in a shape key, in linear time. It keeps its memory for
// the next time.
type duplicates struct {
	seed  maphash.Seed
	names [][]byte
	slots []uint32 // open addressing: index into names + 1
}

const (
	// Up to so many names are compared each with each.
	fewNames = 16
	// Scratch memory above so many entries is given back.
	keepScratch = 64 << 10
)

func newDuplicates() duplicates { return duplicates{seed: maphash.MakeSeed()} }

func (d *duplicates) in(key []byte) bool {
	d.names = d.names[:0]
	for name, _, rest, ok := cutShapeKey(key); ok; name, _, rest, ok = cutShapeKey(rest) {
		d.names = append(d.names, name)
	}
	defer d.shrink()
	if len(d.names) <= fewNames {
		for i, a := range d.names {
			for _, b := range d.names[:i] {
				if bytes.Equal(a, b) {
					return true
				}
			}
		}
		return false
	}
	size := 2 * fewNames
	for size < 2*len(d.names) {
		size *= 2
	}
	if cap(d.slots) < size {
		d.slots = make([]uint32, size)
	} else {
		d.slots = d.slots[:size]
		clear(d.slots)
	}
	mask := uint64(size - 1)
	for i, name := range d.names {
		at := maphash.Bytes(d.seed, name) & mask
		for ; d.slots[at] != 0; at = (at + 1) & mask {
			if bytes.Equal(d.names[d.slots[at]-1], name) {
				return true
			}
		}
		d.slots[at] = uint32(i + 1)
	}
	return false
}

func (d *duplicates) shrink() {
	if cap(d.names) > keepScratch {
		d.names, d.slots = nil, nil
	}
}
