package query

import "github.com/headerglass/headerglass/fieldtable"

// nullCheck is a condition such as
//
//	eta IS NOT NULL
//
// There is a value, and it is not void. IS NULL is its negation.
type nullCheck struct{ not bool }

func (nullCheck) holds(_ *Scratch, d *datum) truths { return truthOf(d.class != classVoid) }
func (nullCheck) absent() truths                    { return isNo }

func (nullCheck) tag(tag byte, d *fieldtable.Dialect) truths {
	return truthOf(d.Kind(tag) != fieldtable.KindVoid)
}

func (n nullCheck) append(dst []byte, left string) []byte {
	dst = append(dst, left...)
	if n.not {
		return append(dst, " IS NOT NULL"...)
	}
	return append(dst, " IS NULL"...)
}
