package query

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/fttest"
)

// TestEqualFindsItsOwnValue makes the condition of every value, and matches the
// message it comes from.
func TestEqualFindsItsOwnValue(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	var scratch Scratch
	check := func(encoded []byte) {
		t.Helper()
		m := one(t, encoded)
		seen := map[string]bool{}
		for f, err := range fieldtable.View(encoded, nil).All() {
			if err != nil || seen[string(f.Name)] {
				break
			}
			seen[string(f.Name)] = true
			equal := equal(string(appendName(nil, string(f.Name))), f.Value.Kind(), string(f.Value.AppendText(nil)))
			if got := compile(t, equal).Match(m, nil, &scratch); got != Yes {
				t.Errorf("%s on %x: %v", equal, encoded, got)
			}
		}
	}
	for range 2000 {
		check(randomTable(r))
	}
	for _, s := range fttest.Specimens() {
		if len(s.Encoded) < 5000 {
			check(s.Encoded)
		}
	}
	check(fttest.Table(func(e *fttest.Encoder) {
		e.Str("quote's", "it's\n\x00\xff\"\\")
		e.Str("$x", "NULL")
		e.Str("", "5")
		e.Bytes("hex", []byte{0x12})
		e.Float64("f", 0.1)
		e.Float64("e", 1e300)
		e.Float64("inf", math.Inf(-1))
		e.Decimal("d", 200, -7)
		e.Int64("i", math.MinInt64)
		e.Uint64("u", math.MaxUint64)
	}))
}

func TestHelpCompiles(t *testing.T) {
	for _, h := range Help() {
		q := compile(t, h.Example)
		if strings.TrimSpace(h.Meaning) == "" {
			t.Errorf("%s has no meaning", q)
		}
	}
}

func TestConjuncts(t *testing.T) {
	for _, tt := range []struct {
		filter string
		want   []string
	}{
		{"", nil},
		{"x-death", []string{"x-death"}},
		{"a OR b", []string{"a OR b"}},
		{"a and b AND c = 'x AND y'", []string{"a", "b", "c = 'x AND y'"}},
		{"(a OR b) AND NOT (c OR d) AND (e AND f)", []string{"(a OR b)", "NOT (c OR d)", "e", "f"}},
		{"n BETWEEN 1 AND 2 AND k", []string{"n BETWEEN 1 AND 2", "k"}},
	} {
		q := compile(t, tt.filter)
		got := q.Conjuncts()
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.filter, got, tt.want)
		}
		if again := compile(t, strings.Join(got, " AND ")).String(); again != q.String() {
			t.Errorf("%s: joined again %s, want %s", tt.filter, again, q)
		}
	}
}
