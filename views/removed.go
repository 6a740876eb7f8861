package views

import "github.com/headerglass/headerglass/fieldtable"

// removedText stands where a value was before the message was stored without it.
const removedText = "removed by --redact"

// covered reports whether all of [from, to) is in one of the ranges.
func covered(ranges []Range, from, to int) bool {
	for _, r := range ranges {
		if r.Start <= from && to <= r.End {
			return true
		}
	}
	return false
}

// touched reports whether a byte of [from, to) is in one of the ranges.
func touched(ranges []Range, from, to int) bool {
	for _, r := range ranges {
		if r.Start < to && from < r.End {
			return true
		}
	}
	return false
}

// within returns the ranges counted from another first byte, without what lies before it.
func within(ranges []Range, first int) []Range {
	var out []Range
	for _, r := range ranges {
		if r.End > first {
			out = append(out, Range{Start: max(r.Start-first, 0), End: r.End - first})
		}
	}
	return out
}

// removed reports whether a message was stored without v, whose table has lost these ranges. A table or an
// array is without what is in it only if all of that is gone.
func removed(ranges []Range, v fieldtable.Value) bool {
	from := v.End() - len(v.Raw())
	if _, ok := containerOf(v); ok {
		return from < v.End() && covered(ranges, from, v.End())
	}
	return touched(ranges, from, v.End())
}
