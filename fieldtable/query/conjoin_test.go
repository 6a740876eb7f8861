package query

import (
	"slices"
	"testing"
)

func TestConjoin(t *testing.T) {
	for _, tt := range []struct{ filter, condition, want string }{
		{"", "b", "b"},
		{"  ", "b", "b"},
		{"a", "b", "a AND b"},
		{"a OR c", "b", "(a OR c) AND b"},
		{"a or c", "b", "(a OR c) AND b"},
		{"order = 'OR'", "b", "order = 'OR' AND b"},
		{"(a OR c)", "b", "(a OR c) AND b"},
		{"(a OR c) AND d", "b", "(a OR c) AND d AND b"},
		{"a", "b OR c", "a AND (b OR c)"},
		{"a", "(NOT b OR c)", "a AND (NOT b OR c)"},
		{"b", "b", "b"},
		{"b AND c", "b", "b AND c"},
		{"a AND (b OR c)", "(b OR c)", "a AND (b OR c)"},
		{"a = 'x", "b", "(a = 'x) AND b"},
		{"a", "b = 'x", "a AND b = 'x"},
	} {
		t.Run(tt.filter+"+"+tt.condition, func(t *testing.T) {
			if got := Conjoin(tt.filter, tt.condition); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// Names, which are joined without being parsed, are joined as the parser would join them.
func TestConjoinNames(t *testing.T) {
	names := []string{"tenant", "a.b", "x-death", "a", "or", "true", "5", "my key", "$x", "caf\xe9", "", "-"}
	for _, filter := range []string{"a", "a AND b", "a OR b", "tenant = 'x' OR b", "NOT a", "(", "  "} {
		t.Run(filter, func(t *testing.T) {
			for _, name := range names {
				condition := Name([]byte(name))
				right, err := Compile(condition)
				left, wrong := Compile(filter)
				if err != nil || wrong != nil {
					continue
				}
				want := string(join(false, []node{left.root, right.root}).append(nil))
				switch {
				case left.MatchesAll():
					want = condition
				case slices.Contains(left.Conjuncts(), condition):
					want = left.String()
				}
				if got := Conjoin(filter, condition); got != want {
					t.Errorf("%s and %s: %s, want %s", filter, condition, got, want)
				}
			}
		})
	}
}
