package query

import "github.com/headerglass/headerglass/fieldtable"

// existence is a path or property by itself, such as
//
//	x-death
//
// Is it there? A void is.
type existence struct {
	// call: written EXISTS(…), where the bare name would mean something else.
	call bool
}

func (existence) holds(*Scratch, *datum) truths        { return isYes }
func (existence) absent() truths                       { return isNo }
func (existence) tag(byte, *fieldtable.Dialect) truths { return isYes }

func (e existence) append(dst []byte, left string) []byte {
	if e.call {
		return append(append(append(dst, "EXISTS("...), left...), ')')
	}
	return append(dst, left...)
}
