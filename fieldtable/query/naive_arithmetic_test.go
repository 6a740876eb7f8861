package query

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// naiveAmount is the value of an expression: a number of a width (0 whole, 1 decimal, 32, 64), or
// else text or a boolean.
type naiveAmount struct {
	state truths
	width int
	exact *big.Rat
	float float64
	kind  string // "number", "text", "bool", or of what cannot be calculated with, its kind
	text  string
}

func naiveCalculation(n *calculation, table *naiveValue, m archive.Message) truths {
	a, b := naiveExpression(n.left, table, m), naiveExpression(n.right, table, m)
	if a.state == isUnknown || b.state == isUnknown {
		return isUnknown
	}
	if a.state != isYes || b.state != isYes {
		return isNo | isUnknown | isYes
	}
	order, ordered := 0, false
	equal := a.kind == b.kind && a.kind != "number" && a.text == b.text
	if a.kind == "text" && b.kind == "text" {
		order, ordered = strings.Compare(a.text, b.text), true
	} else if x, ok := naiveNumeric(a); ok {
		if y, ok := naiveNumeric(b); ok {
			order, ordered = naiveOrder(x, y)
		}
	}
	equal = equal || ordered && order == 0
	switch n.op {
	case "=":
		return truthOf(equal)
	case "<>":
		return truthOf(!equal)
	}
	if !ordered {
		return isUnknown
	}
	return truthOf(map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[n.op])
}

func naiveCalculatedTest(n *calculatedTest, table *naiveValue, m archive.Message) truths {
	a := naiveExpression(n.of, table, m)
	_, nullary := n.test.(nullCheck)
	t := isNo
	switch {
	case a.state == isYes:
		v := naiveValue{kind: fieldtable.KindDecimal, displayed: a.text}
		if a.kind == "text" {
			v.kind = fieldtable.KindLongStr
		} else if a.kind == "number" {
			v.displayed = naiveShown(a)
		}
		t = naiveTest(n.test, v)
	case a.state == isUnknown && !nullary:
		t = isUnknown
	case a.state != isUnknown && nullary:
		t = isNo | isYes
	case a.state != isUnknown:
		t = isNo | isUnknown | isYes
	}
	if n.negate {
		t = pairwise(t, isYes, func(x, _ truths) truths { return isYes / x })
	}
	return t
}

func naiveShown(a naiveAmount) string {
	if a.width >= 32 {
		return strconv.FormatFloat(a.float, 'f', -1, a.width)
	}
	below := new(big.Int).Set(a.exact.Denom())
	for _, prime := range []int64{2, 5} {
		for rest := new(big.Int); ; below.Quo(below, big.NewInt(prime)) {
			if rest.Rem(below, big.NewInt(prime)).Sign() != 0 {
				break
			}
		}
	}
	if !below.IsInt64() || below.Int64() != 1 { // a fraction without end
		return a.exact.FloatString(20)
	}
	for digits := 0; ; digits++ {
		shown := a.exact.FloatString(digits)
		if back, _ := new(big.Rat).SetString(shown); back.Cmp(a.exact) == 0 {
			return shown
		}
	}
}

func naiveOrder(x, y naiveAmount) (order int, ordered bool) {
	rat := func(a naiveAmount, width int) *big.Rat {
		switch {
		case a.width < 32 && (width < 32 || a.width == 0):
			return a.exact
		case a.width < 32 && width == 32:
			f, _ := a.exact.Float32()
			a.float = float64(f)
		case a.width < 32:
			a.float, _ = a.exact.Float64()
		case a.width == 32 && width == 64:
			a.float = naiveWider(a.float)
		}
		return new(big.Rat).SetFloat64(a.float) // nil where it is not finite
	}
	for _, a := range []naiveAmount{x, y} {
		if a.width >= 32 && math.IsNaN(a.float) {
			return 0, false
		}
	}
	width := max(x.width, y.width)
	if x.width == 0 || y.width == 0 { // whole numbers are exact
		width = 1
		if x.width >= 32 || y.width >= 32 {
			width = max(x.width, y.width)
		}
	}
	a, b := rat(x, width), rat(y, width)
	infinite := func(r *big.Rat, a naiveAmount) float64 {
		switch {
		case r != nil:
			return 0
		case a.width < 32: // too great for the float
			return float64(a.exact.Sign()) * math.Inf(1)
		}
		return a.float
	}
	if a == nil || b == nil {
		p, q := infinite(a, x), infinite(b, y)
		switch {
		case p < q:
			return -1, true
		case p > q:
			return 1, true
		}
		return 0, true
	}
	return a.Cmp(b), true
}

func naiveWider(f float64) float64 {
	wide, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	return wide
}

func naiveNumeric(a naiveAmount) (naiveAmount, bool) {
	if a.kind == "text" && naiveNumber.MatchString(a.text) {
		n := naiveWritten(a.text)
		if naiveTooLong(a.text) || naiveTooGreat(n.exact) {
			return a, false
		}
		return n, true
	}
	return a, a.kind == "number"
}

// naiveWritten is the number that plain digits say.
func naiveWritten(digits string) naiveAmount {
	n := naiveAmount{state: isYes, kind: "number"}
	n.exact, _ = new(big.Rat).SetString(digits)
	if strings.ContainsAny(digits, ".eE") {
		n.width = 1
	}
	return n
}

// naiveTooLong reports whether more than maxDigits stand before or after the point, or in all.
func naiveTooLong(digits string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.Trim(digits, "+-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	significant := strings.Trim(all, "0")
	if significant == "" {
		return false
	}
	before, _ := strconv.Atoi(exponent)
	before += len(whole) - (len(all) - len(strings.TrimLeft(all, "0")))
	return len(significant) > maxDigits || before > maxDigits || before < -maxDigits
}

func naiveTooGreat(r *big.Rat) bool { return max(r.Num().BitLen(), r.Denom().BitLen()) > 4*maxDigits }

func naiveExpression(e expression, table *naiveValue, m archive.Message) naiveAmount {
	switch e := e.(type) {
	case *constant:
		return naiveConstant(e)
	case *signedExpression:
		a, ok := naiveNumeric(naiveExpression(e.of, table, m))
		if a.state != isYes {
			return a
		}
		if !ok {
			return naiveAmount{state: isUnknown}
		}
		if !e.minus {
			return a
		}
		a.float = -a.float
		if a.exact != nil {
			a.exact = new(big.Rat).Neg(a.exact)
		}
		return a
	case *arithmetic:
		return naiveArithmetic(e, naiveExpression(e.left, table, m), naiveExpression(e.right, table, m))
	}
	c := e.(*operandExpression).condition
	if c.prop != nil {
		return naivePropertyAmount(c.prop, m)
	}
	if c.also != nil && (table == nil || !table.damaged) {
		if table == nil || len(naiveValues(*table, c.path)) == 0 {
			return naiveExpression(&operandExpression{c.also}, table, m)
		}
	}
	if table == nil {
		return naiveAmount{state: isUnknown}
	}
	values, unsure, _ := naiveFollow(*table, append(steps{{name: c.path.name, index: byName}}, c.path.steps...))
	switch {
	case unsure:
		return naiveAmount{state: isNo | isUnknown | isYes}
	case len(values) == 0 || values[0].kind == fieldtable.KindVoid:
		return naiveAmount{state: isUnknown}
	}
	return naiveAmountOf(values[0])
}

func naiveValues(table naiveValue, p path) []naiveValue {
	values, _, _ := naiveFollow(table, append(steps{{name: p.name, index: byName}}, p.steps...))
	return values
}

func naivePropertyAmount(p *property, m archive.Message) naiveAmount {
	var s Scratch
	s.message = m
	s.start(fieldtable.Lenient(), nil, nil)
	var d datum
	switch p.load(&s, &d) {
	case absent:
		return naiveAmount{state: isUnknown}
	case unreadable:
		return naiveAmount{state: isNo | isUnknown | isYes}
	}
	switch d.class {
	case classText:
		return naiveAmount{state: isYes, kind: "text", text: string(d.bytes)}
	case classBool:
		return naiveAmount{state: isYes, kind: "bool", text: strconv.FormatBool(d.bool)}
	}
	a := naiveAmount{state: isYes, kind: "number", exact: new(big.Rat).SetInt64(d.int)}
	if d.scale > 0 {
		a.width = 1
		a.exact.Quo(a.exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.scale)), nil)))
	}
	return a
}

func naiveConstant(c *constant) naiveAmount {
	switch {
	case c.class == resultText:
		return naiveAmount{state: isYes, kind: "text", text: string(c.result.text)}
	case c.class == resultBool:
		return naiveAmount{state: isYes, kind: "bool", text: strings.ToLower(c.text)}
	case c.text == "NOW()":
		return naiveAmount{state: isYes, kind: "number", exact: c.exact, width: 1}
	case c.text == "UTC()":
		return naiveAmount{state: isYes, kind: "number", exact: c.exact}
	}
	return naiveWritten(naiveDigits(c.text))
}

var (
	naiveHex      = regexp.MustCompile(`^0[xX]([0-9a-fA-F]+)$`)
	naiveSuffixed = regexp.MustCompile(`^(.*[0-9.])([lLfFdD])$`)
)

// naiveDigits writes a number in plain digits, whatever its notation.
func naiveDigits(written string) string {
	if m := naiveHex.FindStringSubmatch(written); m != nil {
		n, _ := new(big.Int).SetString(m[1], 16)
		return n.String()
	}
	m := naiveSuffixed.FindStringSubmatch(written)
	switch {
	case m == nil:
		return written
	case strings.ContainsAny(m[2], "lL") || strings.ContainsAny(m[1], ".eE"):
		return m[1]
	}
	return m[1] + ".0"
}

func naiveAmountOf(v naiveValue) naiveAmount {
	a := naiveAmount{state: isYes, kind: "number"}
	switch v.kind {
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		return naiveAmount{state: isYes, kind: "text", text: v.displayed}
	case fieldtable.KindBool:
		return naiveAmount{state: isYes, kind: "bool", text: v.displayed}
	case fieldtable.KindBytes, fieldtable.KindChar8, fieldtable.KindTable, fieldtable.KindArray:
		return naiveAmount{state: isYes, kind: "other", text: v.displayed}
	case fieldtable.KindFloat32:
		a.width = 32
		a.float, _ = strconv.ParseFloat(v.displayed, 32)
		return a
	case fieldtable.KindFloat64:
		a.width = 64
		a.float, _ = strconv.ParseFloat(v.displayed, 64)
		return a
	case fieldtable.KindDecimal:
		a.width = 1
	}
	a.exact, _ = new(big.Rat).SetString(v.displayed)
	return a
}

func naiveArithmetic(e *arithmetic, x, y naiveAmount) naiveAmount {
	unknown := naiveAmount{state: isUnknown}
	if x.state == isUnknown || y.state == isUnknown {
		return unknown
	}
	if x.state != isYes || y.state != isYes {
		return naiveAmount{state: isNo | isUnknown | isYes}
	}
	x, okX := naiveNumeric(x)
	y, okY := naiveNumeric(y)
	if !okX || !okY {
		return unknown
	}
	if width := max(x.width, y.width); width >= 32 {
		return naiveFloats(e.op, width, x, y)
	}
	a := naiveAmount{state: isYes, kind: "number", width: max(x.width, y.width), exact: new(big.Rat)}
	switch {
	case e.op == '+':
		a.exact.Add(x.exact, y.exact)
	case e.op == '-':
		a.exact.Sub(x.exact, y.exact)
	case e.op == '*':
		a.exact.Mul(x.exact, y.exact)
	case y.exact.Sign() == 0:
		return unknown
	default:
		quotient := new(big.Rat).Quo(x.exact, y.exact)
		whole := new(big.Rat).SetInt(new(big.Int).Quo(quotient.Num(), quotient.Denom()))
		switch {
		case e.op == '%':
			a.exact.Sub(x.exact, whole.Mul(whole, y.exact))
		default:
			a.exact = quotient
			if quotient.Denom().Cmp(big.NewInt(1)) != 0 {
				a.width = 1
			}
		}
	}
	if naiveTooGreat(a.exact) {
		return unknown
	}
	return a
}

func naiveFloats(op byte, width int, x, y naiveAmount) naiveAmount {
	float := func(a naiveAmount) float64 {
		switch {
		case a.width == 32 && width == 64:
			return naiveWider(a.float)
		case a.width >= 32:
			return a.float
		case width == 32:
			f, _ := a.exact.Float32()
			return float64(f)
		}
		f, _ := a.exact.Float64()
		return f
	}
	p, q := float(x), float(y)
	if (op == '/' || op == '%') && q == 0 {
		return naiveAmount{state: isUnknown}
	}
	f := map[byte]func() float64{
		'+': func() float64 { return p + q },
		'-': func() float64 { return p - q },
		'*': func() float64 { return p * q },
		'/': func() float64 { return p / q },
		'%': func() float64 { return math.Mod(p, q) },
	}[op]()
	if width == 32 {
		f = float64(float32(f))
	}
	return naiveAmount{state: isYes, kind: "number", width: width, float: f}
}
