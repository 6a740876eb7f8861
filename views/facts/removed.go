package facts

import (
	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// covered reports whether all of [from, to) is in one of the ranges.
func covered(ranges []archive.Span, from, to int) bool {
	for _, r := range ranges {
		if r.From <= from && to <= r.To {
			return true
		}
	}
	return false
}

// Touched reports whether a byte of [from, to) is in one of the ranges.
func Touched(ranges []archive.Span, from, to int) bool {
	for _, r := range ranges {
		if r.From < to && from < r.To {
			return true
		}
	}
	return false
}

// Within returns the ranges counted from another first byte, without what lies before it.
func Within(ranges []archive.Span, first int) []archive.Span {
	var out []archive.Span
	for _, r := range ranges {
		if r.To > first {
			out = append(out, archive.Span{From: max(r.From-first, 0), To: r.To - first})
		}
	}
	return out
}

// Without reports whether a message was stored without v, whose table has lost these ranges. A
// table or an array is without what is in it only if all of that is gone.
func Without(ranges []archive.Span, v fieldtable.Value) bool {
	from := v.End() - len(v.Raw())
	if _, ok := ContainerOf(v); ok {
		return from < v.End() && covered(ranges, from, v.End())
	}
	return Touched(ranges, from, v.End())
}
