package query

import "github.com/headerglass/headerglass/fieldtable"

// comparison is = <> < <= > >= against a literal, such as
//
//	retries >= 3
type comparison struct {
	op string
	to literal
}

func (c *comparison) holds(s *Scratch, d *datum) truths {
	switch c.op {
	case "=":
		return c.to.equals(s, d)
	case "<>":
		return c.to.equals(s, d).not()
	}
	return c.to.ordered(c.op, d)
}

// ordered is unknown for values that have no order against l: another type, NaN,
// void. So x < 3 and NOT x >= 3 are the same.
func (l *literal) ordered(op string, d *datum) truths {
	sign, ok := l.cmp(d)
	if !ok || l.isBool && l.bare { // true and false order nothing, as words neither
		return isUnknown
	}
	return truthOf(holdsOrder(op, sign))
}

func holdsOrder(op string, sign int) bool {
	switch op {
	case "<":
		return sign < 0
	case "<=":
		return sign <= 0
	case ">":
		return sign > 0
	}
	return sign >= 0
}

func (*comparison) absent() truths { return isUnknown }

func (c *comparison) tag(tag byte, d *fieldtable.Dialect) truths {
	if d.Kind(tag) == fieldtable.KindVoid {
		return c.holds(nil, &datum{class: classVoid})
	}
	return anyTruth
}

func (c *comparison) append(dst []byte, left string) []byte {
	dst = append(dst, left...)
	dst = append(append(append(dst, ' '), c.op...), ' ')
	return c.to.append(dst)
}
