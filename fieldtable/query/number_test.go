package query

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
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
				to, beyond := want, 0
				if !n.exact {
					to, beyond = naiveRounded(want, 53, math.MaxFloat64)
				}
				if beyond == 0 {
					beyond = new(big.Rat).SetFloat64(f).Cmp(to)
				}
				if got, ok := n.cmpFloat(f, false); !ok || got != beyond {
					t.Fatalf("%g against %s: %d", f, lit, got)
				}
			}
			text := strings.Repeat("0", r.Intn(3)) + digits(20) + pick(r, "", ".", ".5", "e3", "."+digits(10)+"00")
			v, _ = new(big.Rat).SetString(text)
			if got, ok := n.cmpText([]byte(text)); !ok || got != v.Cmp(want) {
				t.Fatalf("%s against %s: %d", text, lit, got)
			}
		}
		if sign, ok := n.cmpFloat(math.Inf(1), false); !ok || sign != 1 {
			t.Fatalf("+Inf against %s: %d", lit, sign)
		}
		if _, ok := n.cmpFloat(math.NaN(), false); ok {
			t.Fatalf("NaN against %s has an order", lit)
		}
		if sign, ok := n.cmpText([]byte(lit)); !ok || sign != 0 {
			t.Fatalf("%s does not equal itself: %d", lit, sign)
		}
	}
}

// A float equals the digits shown of it, whatever its width, and lies below and above those of its
// neighbours.
func TestFloatsEqualTheirDigits(t *testing.T) {
	r := rand.New(rand.NewSource(12))
	var scratch Scratch
	check := func(e func(name string, e *encode.Encoder), digits, below, above string) {
		t.Helper()
		m := one(t, encode.Table(func(enc *encode.Encoder) { e("f", enc) }))
		for _, filter := range []string{
			"f = " + digits, "f IN (1.5, " + digits + ")", "NOT f <> " + digits, "f <= " + digits, "f >= " + digits,
			"f BETWEEN " + digits + " AND " + digits, "f > " + below, "f < " + above, "f <> " + below, "f BETWEEN " + below + " AND " + above,
		} {
			if got := compile(t, filter).Match(m, nil, &scratch); got != Yes {
				t.Fatalf("%s: %v", filter, got)
			}
		}
	}
	for range 2000 {
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) == math.MaxFloat64 {
			continue
		}
		check(func(name string, e *encode.Encoder) { e.Float64(name, f) }, shown(f, 64),
			shown(math.Nextafter(f, math.Inf(-1)), 64), shown(math.Nextafter(f, math.Inf(1)), 64))
	}
	for range 2000 {
		f := math.Float32frombits(r.Uint32())
		if f != f || math.IsInf(float64(f), 0) || f == math.MaxFloat32 || f == -math.MaxFloat32 {
			continue
		}
		check(
			func(name string, e *encode.Encoder) { e.Float32(name, f) },
			shown(float64(f), 32),
			shown(
				float64(math.Nextafter32(f, float32(math.Inf(-1)))),
				32,
			),
			shown(float64(math.Nextafter32(f, float32(math.Inf(1)))), 32),
		)
	}
}

// shown is what the page shows of a float, with a point.
func shown(f float64, bits int) string {
	s := strconv.FormatFloat(f, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func TestDecimalLiteralsAgainstFloats(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Float64("price", 19.99)
		e.Float32("narrow", 19.99)
		e.Float64("big", 1<<53)
		e.Float32("most", math.MaxFloat32)
		e.Float64("inf", math.Inf(1))
		e.Int64("i", 1<<53+1)
	}))
	for _, tt := range []struct {
		filter string
		want   Verdict
	}{
		{"price = 19.99", Yes},
		{"price = 19.990", Yes},
		{"price = 1999e-2", Yes},
		{"price <> 19.99", No},
		{"price < 19.99", No},
		{"price >= 19.99", Yes},
		{"price IN (1, 19.99)", Yes},
		{"price BETWEEN 19.99 AND 20", Yes},
		{"price = 19.9900001", No},
		{"narrow = 19.99", Yes},
		{"narrow > 19.99", No},
		{"narrow = 19.9900001", Yes},
		{"narrow = 19.9901", No},
		{"big = 9007199254740992", Yes},
		{"big = 9007199254740993", No},
		{"big < 9007199254740993", Yes},
		{"big = 9007199254740993.0", Yes},
		{"i = 9007199254740993", Yes},
		{"i = 9007199254740993.0", Yes},
		{"i = 9007199254740992.0", No},
		{"most = 3.4028235e38", Yes},
		{"most < 1e39", Yes},
		{"most > -1e39", Yes},
		{"inf = 1e400", No},
		{"inf > 1e400", Yes},
	} {
		runCase(t, tt.filter, func(t *testing.T) {
			if got := compile(t, tt.filter).Match(m, nil, new(Scratch)); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
