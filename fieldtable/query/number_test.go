package query

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strings"
	"testing"
)

func TestParseDecimalAccepts(t *testing.T) {
	for s, ok := range map[string]bool{
		"0":              true,
		"-0":             true,
		"+5":             true,
		"5.":             true,
		".5":             true,
		"-.5e-3":         true,
		"1E10":           true,
		"1e+5":           true,
		"007":            true,
		"1e99999":        true,
		"":               false,
		"-":              false,
		".":              false,
		"e5":             false,
		"1e":             false,
		"1e+":            false,
		"1e100000":       false,
		"1e999999999999": false,
		"5 ":             false,
		" 5":             false,
		"0x10":           false,
		"1_000":          false,
		"NaN":            false,
		"Inf":            false,
		"1.2.3":          false,
		"--1":            false,
		"1e1.5":          false,
		"５":              false,
	} {
		if _, got := parseDecimal([]byte(s)); got != ok {
			t.Errorf("parseDecimal(%q): %v, want %v", s, got, ok)
		}
	}
}

// TestNumbersCompareAsRationals compares literals with values of every type that
// are near them.
func TestNumbersCompareAsRationals(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	digits := func(most int) string {
		b := make([]byte, 1+r.Intn(most))
		for i := range b {
			b[i] = "0123456789"[r.Intn(10)]
		}
		return string(b)
	}
	for range 5_000 {
		lit := pick(r, "", "-")
		switch r.Intn(6) {
		case 0:
			lit += fmt.Sprint(uint64(math.MaxInt64) + uint64(r.Intn(5)) - 2)
		case 1:
			lit += fmt.Sprint(math.MaxUint64 - uint64(r.Intn(3)))
		case 2:
			lit += digits(3) + "." + digits(3)
		case 3:
			lit += digits(25) + pick(r, "", "."+digits(25))
		case 4:
			lit += digits(2) + pick(r, "e", "E-", "e-0") + digits(2)
		case 5:
			lit = new(big.Float).SetFloat64(math.Float64frombits(r.Uint64()&^(1<<62))).Text('f', -1)
		}
		n, ok := parseNumber(lit)
		if !ok {
			t.Fatalf("%q is no number", lit)
		}
		want, ok := new(big.Rat).SetString(lit)
		if !ok {
			t.Fatalf("%q is no rational", lit)
		}
		near, _ := want.Float64()
		scale := r.Intn(256)
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		for range 4 {
			i := pick(
				r,
				int64(r.Uint64()),
				int64(near)+int64(r.Intn(3))-1,
				math.MaxInt64-int64(r.Intn(3)),
				math.MinInt64+int64(r.Intn(3)),
				int64(r.Intn(2000)-1000),
			)
			if got, want := n.cmpInt(i), new(big.Rat).SetInt64(i).Cmp(want); got != want {
				t.Fatalf("%d against %s: %d, want %d", i, lit, got, want)
			}
			u := pick(r, r.Uint64(), uint64(i))
			if got, want := n.cmpUint(u), new(big.Rat).SetUint64(u).Cmp(want); got != want {
				t.Fatalf("%d against %s: %d, want %d", u, lit, got, want)
			}
			v := new(big.Rat).Mul(new(big.Rat).SetInt64(i), unit)
			if got, want := n.cmpScaled(i, scale), v.Cmp(want); got != want {
				t.Fatalf("%d × 10^-%d against %s: %d, want %d", i, scale, lit, got, want)
			}
			f := pick(
				r,
				near,
				math.Nextafter(near, math.Inf(1)),
				math.Nextafter(near, math.Inf(-1)),
				r.NormFloat64(),
				float64(i),
			)
			if !math.IsInf(f, 0) {
				if got, ok := n.cmpFloat(f); !ok || got != new(big.Rat).SetFloat64(f).Cmp(want) {
					t.Fatalf("%g against %s: %d", f, lit, got)
				}
			}
			text := strings.Repeat("0", r.Intn(3)) + digits(20) + pick(r, "", ".", ".5", "e3", "."+digits(10)+"00")
			v, _ = new(big.Rat).SetString(text)
			if got, ok := n.cmpText([]byte(text)); !ok || got != v.Cmp(want) {
				t.Fatalf("%s against %s: %d", text, lit, got)
			}
		}
		if sign, ok := n.cmpFloat(math.Inf(1)); !ok || sign != 1 {
			t.Fatalf("+Inf against %s: %d", lit, sign)
		}
		if _, ok := n.cmpFloat(math.NaN()); ok {
			t.Fatalf("NaN against %s has an order", lit)
		}
		if sign, ok := n.cmpText([]byte(lit)); !ok || sign != 0 {
			t.Fatalf("%s does not equal itself: %d", lit, sign)
		}
	}
}
