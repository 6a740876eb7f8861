package query

import "github.com/headerglass/headerglass/fieldtable"

// exists is a path or property by itself: is it there? A void is.
type exists struct {
	// call: written EXISTS(…), where the bare name would mean something else.
	call bool
}

func (exists) holds(*Scratch, *datum) truth        { return isYes }
func (exists) absent() truth                       { return isNo }
func (exists) tag(byte, *fieldtable.Dialect) truth { return isYes }

func (e exists) append(dst []byte, left string) []byte {
	if e.call {
		return append(append(append(dst, "EXISTS("...), left...), ')')
	}
	return append(dst, left...)
}
