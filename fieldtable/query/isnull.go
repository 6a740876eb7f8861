package query

import "github.com/headerglass/headerglass/fieldtable"

// notNull is IS NOT NULL: there is a value, and it is not void. IS NULL is its
// negation.
type notNull struct{ not bool }

func (notNull) holds(_ *Scratch, d *datum) truth { return truthOf(d.class != classVoid) }
func (notNull) absent() truth                    { return isNo }

func (notNull) tag(tag byte, d *fieldtable.Dialect) truth {
	return truthOf(d.Kind(tag) != fieldtable.KindVoid)
}

func (n notNull) append(dst []byte, left string) []byte {
	dst = append(dst, left...)
	if n.not {
		return append(dst, " IS NOT NULL"...)
	}
	return append(dst, " IS NULL"...)
}
