package query

import (
	"slices"

	"github.com/headerglass/headerglass/fieldtable"
)

// maxList bounds the values of an IN.
const maxList = 1000

// inList is IN (…): equal to any of the values, such as
//
//	tenant IN (acme, 'beta', 7)
type inList struct {
	not    bool
	values []literal
	// words holds the values that text equals byte for byte, so that a long list
	// costs one look-up; others are the places of the values that have to be tried on text too.
	words  map[string]struct{}
	others []uint16
}

func newIn(values []literal, not bool) *inList {
	n := &inList{not: not, values: slices.Clone(values), words: make(map[string]struct{})}
	for i, l := range values {
		if l.kind == literalNumber {
			n.others = append(n.others, uint16(i)) // #nosec G115 -- below maxList
		} else {
			n.words[string(l.text)] = struct{}{}
		}
	}
	return n
}

func (n *inList) holds(s *Scratch, d *datum) truths {
	t := n.contains(s, d)
	if n.not {
		return t.not()
	}
	return t
}

func (n *inList) contains(s *Scratch, d *datum) truths {
	t := isNo
	if d.class == classText {
		if _, ok := n.words[string(d.bytes)]; ok {
			return isYes
		}
		for _, i := range n.others {
			if t = t.or(n.values[i].equals(s, d)); t == isYes {
				break
			}
		}
		return t
	}
	for i := range n.values {
		if t = t.or(n.values[i].equals(s, d)); t == isYes {
			break
		}
	}
	return t
}

func (*inList) absent() truths { return isUnknown }

func (n *inList) tag(tag byte, d *fieldtable.Dialect) truths {
	if d.Kind(tag) == fieldtable.KindVoid {
		return n.holds(nil, &datum{class: classVoid})
	}
	return anyTruth
}

func (n *inList) append(dst []byte, left string) []byte {
	dst = append(dst, left...)
	if n.not {
		dst = append(dst, " NOT"...)
	}
	dst = append(dst, " IN ("...)
	for i := range n.values {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = n.values[i].append(dst)
	}
	return append(dst, ')')
}
