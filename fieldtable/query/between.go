package query

import "github.com/headerglass/headerglass/fieldtable"

// betweenBounds is BETWEEN low AND high, both included, such as
//
//	retries BETWEEN 1 AND 5
type betweenBounds struct {
	not       bool
	low, high literal
}

func (b *betweenBounds) holds(_ *Scratch, d *datum) truths {
	t := b.low.ordered(">=", d).and(b.high.ordered("<=", d))
	if b.not {
		return t.not()
	}
	return t
}

func (*betweenBounds) absent() truths { return isUnknown }

func (*betweenBounds) tag(tag byte, d *fieldtable.Dialect) truths {
	if d.Kind(tag) == fieldtable.KindVoid {
		return isUnknown
	}
	return anyTruth
}

func (b *betweenBounds) append(dst []byte, left string) []byte {
	dst = append(dst, left...)
	if b.not {
		dst = append(dst, " NOT"...)
	}
	dst = b.low.append(append(dst, " BETWEEN "...))
	return b.high.append(append(dst, " AND "...))
}
