package query

import "testing"

// sets lists every truth: all non-empty sets of no, unknown and yes.
func sets() (s []truths) {
	for t := truths(1); t <= anyTruth; t++ {
		s = append(s, t)
	}
	return s
}

// pairwise applies f to each pair of elements, no < unknown < yes.
func pairwise(a, b truths, f func(a, b truths) truths) (r truths) {
	for x := isNo; x <= isYes; x <<= 1 {
		for y := isNo; y <= isYes; y <<= 1 {
			if a&x != 0 && b&y != 0 {
				r |= f(x, y)
			}
		}
	}
	return r
}

func TestTruthIsTheImageOfThreeValuedLogic(t *testing.T) {
	for _, a := range sets() {
		if a.not().not() != a {
			t.Errorf("NOT NOT %03b is %03b", a, a.not().not())
		}
		for _, b := range sets() {
			if got, want := a.and(b), pairwise(a, b, func(x, y truths) truths { return min(x, y) }); got != want {
				t.Errorf("%03b AND %03b = %03b, want %03b", a, b, got, want)
			}
			if got, want := a.or(b), pairwise(a, b, func(x, y truths) truths { return max(x, y) }); got != want {
				t.Errorf("%03b OR %03b = %03b, want %03b", a, b, got, want)
			}
			if a.and(b).not() != a.not().or(b.not()) {
				t.Errorf("NOT (%03b AND %03b) is not De Morgan's", a, b)
			}
		}
	}
}

func TestVerdictOfTruth(t *testing.T) {
	for set, want := range map[truths]Verdict{
		isNo: No, isYes: Yes, isUnknown: Unknown,
		noOrYes: Damaged, anyTruth: Damaged, isYes | isUnknown: Damaged,
		isNo | isUnknown: Unknown, // damaged, but no match in any case
	} {
		if got := set.verdict(); got != want {
			t.Errorf("%03b: %v, want %v", set, got, want)
		}
	}
}
