package query

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
)

// expression is one side of a calculation: a value, a header, a property, or arithmetic on them.
type expression interface {
	// value is what the expression is for the message that s holds; its state says whether there is
	// any.
	value(s *Scratch) result
	// conditions visits the headers and properties in it.
	conditions(visit func(*condition))
	// append writes it; strength is how tightly what stands around it binds.
	append(dst []byte, strength int) []byte
}

// How tightly an expression binds.
const (
	bindsSum = iota + 1
	bindsProduct
	bindsSign
)

// result is the value of an expression.
type result struct {
	// state is isYes where there is a value, isUnknown where there is none, anyTruth where damage
	// hides it.
	state truths
	class resultClass
	exact *big.Rat // of resultWhole and resultDecimal
	float float64
	text  []byte // of resultText, and of resultOther what is displayed
	bool  bool
}

type resultClass uint8

const (
	resultOther resultClass = iota
	resultBool
	resultText
	resultWhole   // an integer, or digits alone
	resultDecimal // rounded to the width of a float that it meets
	resultNarrow  // float32
	resultFloat
)

func unknownResult() result { return result{state: isUnknown} }

// maxDigits bounds the numbers of arithmetic, in decimal digits before and after the point; what
// goes beyond is unknown.
const maxDigits = 1000

// exactResult is whole or decimal.
func exactResult(class resultClass, r *big.Rat) result {
	if r.Num().BitLen() > 4*maxDigits || r.Denom().BitLen() > 4*maxDigits {
		return unknownResult()
	}
	return result{state: isYes, class: class, exact: r}
}

func floatResult(class resultClass, f float64) result {
	if class == resultNarrow {
		f = float64(float32(f))
	}
	return result{state: isYes, class: class, float: f}
}

// constant is a value that is written.
type constant struct {
	result
	text    string // as it is written
	written token  // of one word; the zero token for NOW() and UTC()
}

func (c *constant) value(*Scratch) result                  { return c.result }
func (*constant) conditions(func(*condition))              {}
func (c *constant) append(dst []byte, strength int) []byte { return append(dst, c.text...) }

// operandExpression is a header or property.
type operandExpression struct{ *condition }

func (o *operandExpression) conditions(visit func(*condition)) { visit(o.condition) }
func (o *operandExpression) append(dst []byte, strength int) []byte {
	return append(dst, o.operand()...)
}
func (o *operandExpression) value(s *Scratch) (r result) {
	d := &s.datum
	switch p := o.lookup(s, d); {
	case p == unreadable:
		return result{state: anyTruth}
	case p == absent || d.removed || d.class == classVoid:
		return unknownResult()
	}
	return resultOf(s, d)
}

// resultOf copies what it keeps, but for text.
func resultOf(s *Scratch, d *datum) result {
	switch d.class {
	case classBool:
		return result{state: isYes, class: resultBool, bool: d.bool}
	case classText:
		return result{state: isYes, class: resultText, text: d.bytes}
	case classInt:
		return exactResult(resultWhole, new(big.Rat).SetInt64(d.int))
	case classUint:
		return exactResult(resultWhole, new(big.Rat).SetUint64(d.uint))
	case classDecimal, classTime:
		if d.class == classTime && d.scale == 0 {
			return exactResult(resultWhole, new(big.Rat).SetInt64(d.int))
		}
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.scale)), nil)
		return exactResult(resultDecimal, new(big.Rat).SetFrac(big.NewInt(d.int), unit))
	case classFloat:
		if d.narrow {
			return floatResult(resultNarrow, d.float)
		}
		return floatResult(resultFloat, d.float)
	}
	return result{state: isYes, class: resultOther, text: bytes.Clone(s.displayed(d))}
}

// asNumber reads text as a number, as comparisons do.
func (r result) asNumber() (result, bool) {
	switch r.class {
	case resultWhole, resultDecimal, resultNarrow, resultFloat:
		return r, true
	case resultText:
		if n, ok := writtenNumber(string(r.text)); ok && n.state == isYes {
			return n, true
		}
	}
	return r, false
}

// writtenNumber reads a number that is not longer than arithmetic takes.
func writtenNumber(text string) (result, bool) {
	n, ok := parseDecimal([]byte(text))
	if !ok {
		return result{}, false
	}
	if n.digits() > maxDigits || n.exp > maxDigits || n.exp < -maxDigits {
		return unknownResult(), true
	}
	class := resultDecimal
	if !strings.ContainsAny(text, ".eE") {
		class = resultWhole
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return result{}, false
	}
	return exactResult(class, r), true
}

// asFloat rounds to the width of the class.
func (r result) asFloat(class resultClass) float64 {
	switch {
	case r.class == resultNarrow && class == resultFloat:
		// A float is the digits that are shown of it.
		f, _ := strconv.ParseFloat(strconv.FormatFloat(r.float, 'g', -1, 32), 64)
		return f
	case r.class == resultNarrow || r.class == resultFloat:
		return r.float
	case class == resultNarrow:
		f, _ := r.exact.Float32()
		return float64(f)
	}
	f, _ := r.exact.Float64()
	return f
}

// common is the class in which two numbers are calculated.
func common(a, b result) resultClass {
	switch {
	case a.class == resultFloat || b.class == resultFloat:
		return resultFloat
	case a.class == resultNarrow || b.class == resultNarrow:
		return resultNarrow
	case a.class == resultWhole && b.class == resultWhole:
		return resultWhole
	}
	return resultDecimal
}

// compare orders two values; ok is false where their types have no order, or one is NaN.
func (r result) compare(with result) (sign int, ok bool) {
	if r.class == resultText && with.class == resultText {
		return bytes.Compare(r.text, with.text), true
	}
	a, okA := r.asNumber()
	b, okB := with.asNumber()
	if !okA || !okB {
		return 0, false
	}
	switch class := common(a, b); {
	case class <= resultDecimal:
		return a.exact.Cmp(b.exact), true
	case a.class == resultWhole || b.class == resultWhole:
		return compareWhole(a, b)
	default:
		x, y := a.asFloat(class), b.asFloat(class)
		switch {
		case x < y:
			return -1, true
		case x > y:
			return 1, true
		}
		return 0, x == y
	}
}

// compareWhole compares a whole number with a float exactly.
func compareWhole(a, b result) (sign int, ok bool) {
	if a.class == resultWhole {
		sign, ok = compareWhole(b, a)
		return -sign, ok
	}
	switch {
	case math.IsNaN(a.float):
		return 0, false
	case math.IsInf(a.float, 0):
		return int(math.Copysign(1, a.float)), true
	}
	return new(big.Rat).SetFloat64(a.float).Cmp(b.exact), true
}

// equal is unknown for nothing: values of different types differ.
func (r result) equal(with result) bool {
	if r.class == with.class {
		switch r.class {
		case resultBool:
			return r.bool == with.bool
		case resultOther:
			return bytes.Equal(r.text, with.text)
		}
	}
	sign, ok := r.compare(with)
	return ok && sign == 0
}

// arithmetic is an operation on two numbers, such as
//
//	price * 2
type arithmetic struct {
	op          byte // + - * / %
	left, right expression
}

func (a *arithmetic) conditions(visit func(*condition)) {
	a.left.conditions(visit)
	a.right.conditions(visit)
}

func (a *arithmetic) append(dst []byte, strength int) []byte {
	own := bindsProduct
	if a.op == '+' || a.op == '-' {
		own = bindsSum
	}
	if own < strength {
		dst = append(dst, '(')
	}
	dst = a.left.append(dst, own)
	dst = append(dst, ' ', a.op, ' ')
	dst = a.right.append(dst, own+1)
	if own < strength {
		dst = append(dst, ')')
	}
	return dst
}

func (a *arithmetic) value(s *Scratch) result {
	x, y := a.left.value(s), a.right.value(s)
	if x.state != isYes || y.state != isYes {
		return result{state: either(x.state, y.state)}
	}
	x, okX := x.asNumber()
	y, okY := y.asNumber()
	if !okX || !okY {
		return unknownResult()
	}
	class := common(x, y)
	if class > resultDecimal {
		return floats(a.op, class, x.asFloat(class), y.asFloat(class))
	}
	return exactly(a.op, class, x.exact, y.exact)
}

// either is the state of a result that needs two values, where at least one is missing.
func either(a, b truths) truths {
	if a == isUnknown || b == isUnknown {
		return isUnknown
	}
	return anyTruth
}

func floats(op byte, class resultClass, x, y float64) result {
	switch op {
	case '+':
		x += y
	case '-':
		x -= y
	case '*':
		x *= y
	default:
		if y == 0 {
			return unknownResult()
		}
		if op == '/' {
			x /= y
		} else {
			x = math.Mod(x, y)
		}
	}
	return floatResult(class, x)
}

func exactly(op byte, class resultClass, x, y *big.Rat) result {
	r := new(big.Rat)
	switch op {
	case '+':
		return exactResult(class, r.Add(x, y))
	case '-':
		return exactResult(class, r.Sub(x, y))
	case '*':
		return exactResult(class, r.Mul(x, y))
	}
	if y.Sign() == 0 {
		return unknownResult()
	}
	r.Quo(x, y)
	if op == '/' {
		if !r.IsInt() {
			class = resultDecimal
		}
		return exactResult(class, r)
	}
	r.SetInt(new(big.Int).Quo(r.Num(), r.Denom())) // towards zero
	return exactResult(class, r.Sub(x, r.Mul(r, y)))
}

// signedExpression is a sign before an expression, such as
//
//	-(a + b)
//
// With a plus it is the number that the expression is, and unknown where that is none.
type signedExpression struct {
	minus bool
	of    expression
}

func (e *signedExpression) conditions(visit func(*condition)) { e.of.conditions(visit) }

func (e *signedExpression) append(dst []byte, strength int) []byte {
	sign := "+ "
	if e.minus {
		sign = "- "
	}
	return e.of.append(append(dst, sign...), bindsSign)
}

func (e *signedExpression) value(s *Scratch) result {
	x := e.of.value(s)
	if x.state != isYes {
		return x
	}
	x, ok := x.asNumber()
	switch {
	case !ok:
		return unknownResult()
	case !e.minus:
	case x.class > resultDecimal:
		x.float = -x.float
	default:
		x.exact = new(big.Rat).Neg(x.exact)
	}
	return x
}

// nowConstant is NOW(), in seconds since 1970 as times are compared with numbers, or UTC(), in
// milliseconds as RabbitMQ's SQL filters have it.
func nowConstant(text string, now time.Time) *constant {
	if text == "UTC()" {
		return &constant{result: exactResult(resultWhole, big.NewRat(now.UnixMilli(), 1)), text: text}
	}
	return &constant{result: exactResult(resultDecimal, big.NewRat(now.UnixMilli(), 1000)), text: text}
}

// calculation compares two expressions, such as
//
//	price * 2 >= total
type calculation struct {
	op          string
	left, right expression
}

func (c *calculation) eval(s *Scratch) truths {
	a := c.left.value(s)
	b := c.right.value(s)
	if a.state != isYes || b.state != isYes {
		return either(a.state, b.state)
	}
	if c.op == "=" || c.op == "<>" {
		return truthOf(a.equal(b) == (c.op == "="))
	}
	sign, ok := a.compare(b)
	if !ok {
		return isUnknown
	}
	return truthOf(holdsOrder(c.op, sign))
}

// shape rules a message out that has no value for one of the operands.
func (c *calculation) shape(v *shapeView) truths {
	if v.lacks(c.left) || v.lacks(c.right) {
		return isUnknown
	}
	return anyTruth
}

// lacks reports whether the expression is unknown for every message of the shape.
func (v *shapeView) lacks(e expression) (lacks bool) {
	e.conditions(func(of *condition) {
		if of.prop != nil || of.also != nil || v.shape.Damaged {
			return
		}
		tag, found := v.shape.Tag(of.path.name)
		lacks = lacks || !found || v.dialect.Kind(tag) == fieldtable.KindVoid
	})
	return lacks
}

func (c *calculation) cost() cost { return max(costOf(c.left), costOf(c.right)) }

func costOf(e expression) cost {
	most := costFacts
	e.conditions(func(of *condition) { most = max(most, of.cost()) })
	return most
}

func (c *calculation) append(dst []byte) []byte {
	dst = c.left.append(dst, bindsSum)
	dst = append(append(append(dst, ' '), c.op...), ' ')
	// A word alone on the right would be text.
	if _, alone := c.right.(*operandExpression); alone {
		return append(c.right.append(append(dst, '('), bindsSum), ')')
	}
	return c.right.append(dst, bindsSum)
}

// truthValue is TRUE or FALSE where a condition can stand, such as
//
//	TRUE AND tenant = acme
type truthValue bool

func (t truthValue) eval(*Scratch) truths    { return truthOf(bool(t)) }
func (t truthValue) shape(*shapeView) truths { return truthOf(bool(t)) }
func (truthValue) cost() cost                { return costFacts }

func (t truthValue) append(dst []byte) []byte {
	if t {
		return append(dst, "TRUE"...)
	}
	return append(dst, "FALSE"...)
}
