package query

import "github.com/headerglass/headerglass/fieldtable"

// existence is a path or property by itself, such as
//
//	x-death
//
// Is it there, and not false? A void is. EXISTS(x-death) asks only whether it is there.
type existence struct {
	call bool
}

func (e existence) holds(_ *Scratch, d *datum) truths {
	return truthOf(e.call || d.class != classBool || d.bool || d.removed)
}

func (existence) absent() truths { return isNo }

func (e existence) tag(tag byte, d *fieldtable.Dialect) truths {
	if !e.call && d.Kind(tag) == fieldtable.KindBool {
		return noOrYes
	}
	return isYes
}

func (e existence) append(dst []byte, left string) []byte {
	if e.call {
		return append(append(append(dst, "EXISTS("...), left...), ')')
	}
	return append(dst, left...)
}
