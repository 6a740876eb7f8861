package facts

import "github.com/headerglass/headerglass/fieldtable"

// Container is what a table and an array have in common.
type Container struct {
	Scan  fieldtable.Scanner
	End   int // one past its last byte
	Array bool
}

// ContainerOf is what v holds; ok is false when it is neither a table nor an array.
func ContainerOf(v fieldtable.Value) (Container, bool) {
	if t, ok := v.Table(); ok {
		return Container{Scan: t.Scan(), End: v.End()}, true
	}
	if a, ok := v.Array(); ok {
		return Container{Scan: a.Scan(), End: v.End(), Array: true}, true
	}
	return Container{}, false
}

// node start: a field begins with its name's length octet, an element with its tag.
func Start(f fieldtable.Field, array bool) int {
	if array {
		return f.Value.Offset()
	}
	return f.Offset
}
