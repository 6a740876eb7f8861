package facts

import (
	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/address"
)

// covered reports whether all of [from, to) is in one of the ranges.
func covered(ranges []address.Range, from, to int) bool {
	for _, r := range ranges {
		if r.Start <= from && to <= r.End {
			return true
		}
	}
	return false
}

// Touched reports whether a byte of [from, to) is in one of the ranges.
func Touched(ranges []address.Range, from, to int) bool {
	for _, r := range ranges {
		if r.Start < to && from < r.End {
			return true
		}
	}
	return false
}

// Within returns the ranges counted from another first byte, without what lies before it.
func Within(ranges []address.Range, first int) []address.Range {
	var out []address.Range
	for _, r := range ranges {
		if r.End > first {
			out = append(out, address.Range{Start: max(r.Start-first, 0), End: r.End - first})
		}
	}
	return out
}

// Without reports whether a message was stored without v, whose table has lost these ranges. A table or an
// array is without what is in it only if all of that is gone.
func Without(ranges []address.Range, v fieldtable.Value) bool {
	from := v.End() - len(v.Raw())
	if _, ok := ContainerOf(v); ok {
		return from < v.End() && covered(ranges, from, v.End())
	}
	return Touched(ranges, from, v.End())
}
