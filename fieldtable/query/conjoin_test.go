package query

import "testing"

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
