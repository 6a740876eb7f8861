package fieldtable

import (
	"iter"
	"math"
)

// Stage is one stage of the way from a table down to a value in it.
type Stage struct {
	Field
	Index   int  // how many elements come before it in its table or array
	InArray bool // it is an element, without a name, of an array
}

// Descend returns the way down to the value whose field, or element of an array, begins at offset,
// as Field tells it. ok is false if none begins there that can be read. Every level costs one pass
// over what comes before the value.
func (t Table) Descend(offset int) (way []Stage, ok bool) {
	b, _, first := t.bounds()
	if offset < int(first) || offset >= len(b) {
		return nil, false
	}
	limit := uint64(len(b))
	for e := range descend(b, t.dialect(), first, uint64(offset)) {
		depth := t.depth + uint8(len(way))
		if e.end > limit || t.dialect().widthsAt(depth)[t.root[e.tagAt]] == tooDeep {
			return nil, false
		}
		limit = e.end
		s := Stage{Index: e.index, InArray: !e.named}
		s.Value = newValue(t.root, t.dialect(), depth, e.tagAt, e.end)
		s.Offset, s.End = int(e.start), int(e.end)
		if e.named {
			s.Name = t.root[e.start+1 : e.tagAt : e.tagAt]
		}
		way = append(way, s)
	}
	return way, len(way) > 0 && way[len(way)-1].Offset == offset
}

// element is a field or element where it lies. Its end is beyond every offset if it cannot be
// measured.
type element struct {
	start, tagAt, end uint64
	named             bool
	index             int
}

// descend yields, level by level from the one that begins at p, the element that holds the octet at
// target or begins there. The elements before it must be sound; each is passed over once.
func descend(root []byte, d *Dialect, p, target uint64) iter.Seq[element] {
	return func(yield func(element) bool) {
		w, size := &d.limits[0], uint64(len(root))
		for named := true; ; {
			var e element
			for ; ; e.index++ {
				if p > target || p >= size {
					return
				}
				e.start, e.tagAt, e.end, e.named = p, p, math.MaxUint64, named
				if named {
					e.tagAt += 1 + uint64(root[p])
				}
				if e.tagAt < size {
					e.end = w.exactExtent(root, e.tagAt)
				}
				if e.end > target {
					break
				}
				p = e.end
			}
			if !yield(e) || target <= e.tagAt+4 || e.tagAt >= size || w[root[e.tagAt]]&(inTable|inArray) == 0 {
				return
			}
			named = w[root[e.tagAt]]&inTable != 0
			p = e.tagAt + 5
		}
	}
}
