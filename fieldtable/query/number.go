package query

import (
	"math"
	"strconv"
	"strings"
)

// decimal is an exact decimal number: ± 0.(whole frac) × 10^exp, where whole and
// frac are views of ASCII digits that neither begin (whole, then frac) nor end
// (frac, then whole) with a zero. Zero has no digits.
type decimal struct {
	neg         bool
	whole, frac []byte
	exp         int
}

// maxExponentDigits keeps exponents far from overflow: nothing on the wire comes
// near 10^99999.
const maxExponentDigits = 5

// parseDecimal reads an optional sign, digits with an optional point, and an
// optional exponent; ok is false for anything else. The result is a view of s.
func parseDecimal(s []byte) (d decimal, ok bool) {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		d.neg = s[0] == '-'
		s = s[1:]
	}
	n := leadingDigits(s)
	d.whole, s = s[:n], s[n:]
	if len(s) > 0 && s[0] == '.' {
		n := leadingDigits(s[1:])
		d.frac, s = s[1:1+n], s[1+n:]
	}
	if len(d.whole)+len(d.frac) == 0 {
		return decimal{}, false
	}
	exp := 0
	if len(s) > 0 {
		if s[0] != 'e' && s[0] != 'E' {
			return decimal{}, false
		}
		s = s[1:]
		neg := false
		if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
			neg = s[0] == '-'
			s = s[1:]
		}
		if len(s) == 0 || len(s) > maxExponentDigits || leadingDigits(s) != len(s) {
			return decimal{}, false
		}
		for _, c := range s {
			exp = exp*10 + int(c-'0')
		}
		if neg {
			exp = -exp
		}
	}
	return d.normal(exp), true
}

func leadingDigits(s []byte) int {
	for i, c := range s {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(s)
}

// normal trims zeros; exp10 scales the number written as whole.frac.
func (d decimal) normal(exp10 int) decimal {
	for len(d.whole) > 0 && d.whole[0] == '0' {
		d.whole = d.whole[1:]
	}
	d.exp = len(d.whole) + exp10
	if len(d.whole) == 0 {
		for len(d.frac) > 0 && d.frac[0] == '0' {
			d.frac = d.frac[1:]
			d.exp--
		}
	}
	for len(d.frac) > 0 && d.frac[len(d.frac)-1] == '0' {
		d.frac = d.frac[:len(d.frac)-1]
	}
	if len(d.frac) == 0 {
		for len(d.whole) > 0 && d.whole[len(d.whole)-1] == '0' {
			d.whole = d.whole[:len(d.whole)-1]
		}
	}
	if d.digits() == 0 {
		return decimal{}
	}
	return d
}

func (d *decimal) digits() int { return len(d.whole) + len(d.frac) }

func (d *decimal) digit(i int) byte {
	if i < len(d.whole) {
		return d.whole[i]
	}
	if i -= len(d.whole); i < len(d.frac) {
		return d.frac[i]
	}
	return '0'
}

func (d *decimal) sign() int {
	switch {
	case d.digits() == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// cmp compares exactly and without allocation.
func (d *decimal) cmp(e *decimal) int {
	s := d.sign()
	if t := e.sign(); s != t || s == 0 {
		return compareInts(s, t)
	}
	if c := compareInts(d.exp, e.exp); c != 0 {
		return c * s
	}
	for i := range max(d.digits(), e.digits()) {
		if a, b := d.digit(i), e.digit(i); a != b {
			return compareInts(int(a), int(b)) * s
		}
	}
	return 0
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// number is a literal, made ready to be compared with every numeric type.
type number struct {
	dec decimal
	// whole is the value where fits is true.
	whole int64
	fits  bool
	// exact: written as a whole number, without a point or exponent. Any other is rounded to the
	// width of a float before the two are compared, so that a float equals the digits shown.
	exact bool
	// near is the float64 nearest to the literal (of finite ones), side how the
	// literal compares with it: no other float64 lies between the two.
	near float64
	side int
	// wide and narrow are the float64 and float32 that the literal rounds to, or infinities.
	wide, narrow float64
}

func isNumber(s string) bool {
	_, ok := parseDecimal([]byte(s))
	return ok
}

func parseNumber(s string) (number, bool) {
	dec, ok := parseDecimal([]byte(s))
	if !ok {
		return number{}, false
	}
	n := number{dec: dec}
	n.exact = !strings.ContainsAny(s, ".eE")
	n.narrow, _ = strconv.ParseFloat(s, 32)
	n.wide, _ = strconv.ParseFloat(s, 64)
	n.near = max(-math.MaxFloat64, min(n.wide, math.MaxFloat64))
	// With this precision the digits of any float64 are exact.
	exact, _ := parseDecimal(strconv.AppendFloat(nil, n.near, 'e', 800, 64))
	n.side = dec.cmp(&exact)
	if digits := dec.digits(); dec.exp >= digits && dec.exp <= 19 {
		b := []byte{'-'}
		for i := range dec.exp {
			b = append(b, dec.digit(i))
		}
		if !dec.neg {
			b = b[1:]
		}
		whole, err := strconv.ParseInt(string(b), 10, 64)
		n.whole, n.fits = whole, err == nil
	}
	if dec.digits() == 0 {
		n.whole, n.fits = 0, true
	}
	return n, true
}

// The cmp… methods compare a value with the literal.

func (n *number) cmpInt(v int64) int {
	if n.fits {
		switch {
		case v < n.whole:
			return -1
		case v > n.whole:
			return 1
		}
		return 0
	}
	return n.cmpScaled(v, 0)
}

func (n *number) cmpUint(v uint64) int {
	if v <= math.MaxInt64 {
		return n.cmpInt(int64(v))
	}
	var buf [20]byte
	d := decimal{whole: strconv.AppendUint(buf[:0], v, 10)}.normal(0)
	return d.cmp(&n.dec)
}

// cmpScaled compares v × 10^-scale.
func (n *number) cmpScaled(v int64, scale int) int {
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], v, 10)
	d := decimal{whole: digits}
	if digits[0] == '-' {
		d.neg, d.whole = true, digits[1:]
	}
	d = d.normal(-scale)
	return d.cmp(&n.dec)
}

// cmpFloat compares a float, which is a float32 where narrow is set; ok is false for NaN.
func (n *number) cmpFloat(v float64, narrow bool) (sign int, ok bool) {
	if !n.exact {
		return n.cmpRounded(v, narrow)
	}
	switch {
	case v < n.near:
		return -1, true
	case v > n.near:
		return 1, true
	case v == n.near:
		return -n.side, true
	}
	return 0, false
}

func (n *number) cmpRounded(v float64, narrow bool) (sign int, ok bool) {
	to := n.wide
	if narrow {
		to = n.narrow
	}
	switch {
	case v == to && math.IsInf(v, 0): // an infinity is greater than any number that is written
		return int(math.Copysign(1, v)), true
	case v < to:
		return -1, true
	case v > to:
		return 1, true
	}
	return 0, v == to
}

// cmpText has ok false for text that does not read as a number.
func (n *number) cmpText(v []byte) (sign int, ok bool) {
	if len(v) == 0 || v[0] > '9' {
		return 0, false
	}
	d, ok := parseDecimal(v)
	return d.cmp(&n.dec), ok
}
