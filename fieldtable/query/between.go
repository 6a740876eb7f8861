package query

import "github.com/headerglass/headerglass/fieldtable"

// between is BETWEEN low AND high, both included.
type between struct {
	not       bool
	low, high literal
}

func (b *between) holds(_ *Scratch, d *datum) truth {
	t := b.low.ordered(">=", d).and(b.high.ordered("<=", d))
	if b.not {
		return t.not()
	}
	return t
}

func (*between) absent() truth { return isUnknown }

func (*between) tag(tag byte, d *fieldtable.Dialect) truth {
	if d.Kind(tag) == fieldtable.KindVoid {
		return isUnknown
	}
	return anyTruth
}

func (b *between) append(dst []byte, left string) []byte {
	dst = append(dst, left...)
	if b.not {
		dst = append(dst, " NOT"...)
	}
	dst = b.low.append(append(dst, " BETWEEN "...))
	return b.high.append(append(dst, " AND "...))
}
