package query

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// The naive evaluator decodes everything into a tree, compares with big.Rat and
// regexp, and works out every condition. It shares the parser with the real one
// and nothing else.

type naiveValue struct {
	tag       byte
	kind      fieldtable.Kind
	displayed string
	raw       string
	fields    []naiveField // of a table
	items     []naiveValue // of an array
	damaged   bool         // a table or array that ends in damage
}

type naiveField struct {
	name string
	naiveValue
}

func naiveTable(t fieldtable.Table) (v naiveValue) {
	for f, err := range t.All() {
		if err != nil {
			v.damaged = true
			break
		}
		v.fields = append(v.fields, naiveField{string(f.Name), naiveOf(f.Value)})
	}
	return v
}

func naiveOf(in fieldtable.Value) naiveValue {
	v := naiveValue{}
	if t, ok := in.Table(); ok {
		v = naiveTable(t)
	}
	if a, ok := in.Array(); ok {
		for item, err := range a.All() {
			if err != nil {
				v.damaged = true
				break
			}
			v.items = append(v.items, naiveOf(item))
		}
	}
	v.tag, v.kind, v.displayed = in.Tag(), in.Kind(), string(in.AppendText(nil))
	v.raw = string(in.Raw())
	return v
}

// naiveEval gives the set of outcomes for a message with this table; decoded is
// nil where it has none.
func naiveEval(n node, table *naiveValue, m archive.Message) truths {
	switch n := n.(type) {
	case everything:
		return isYes
	case negation:
		return pairwise(naiveEval(n.of, table, m), isYes, func(x, _ truths) truths { return isYes / x })
	case *junction:
		result := isYes
		if n.or {
			result = isNo
		}
		for _, of := range n.written {
			result = pairwise(result, naiveEval(of, table, m), func(x, y truths) truths {
				if n.or {
					return max(x, y)
				}
				return min(x, y)
			})
		}
		return result
	case truthValue:
		return truthOf(bool(n))
	case *calculation:
		return naiveCalculation(n, table, m)
	case *calculatedTest:
		return naiveCalculatedTest(n, table, m)
	case *unknownCheck:
		t := pairwise(naiveEval(n.of, table, m), isYes, func(x, _ truths) truths { return truthOf(x == isUnknown) })
		if n.not {
			t = pairwise(t, isYes, func(x, _ truths) truths { return isYes / x })
		}
		return t
	case damageCheck:
		for _, err := range m.Header().All() {
			if err != nil {
				return isYes
			}
		}
		return truthOf(table != nil && naiveDamaged(*table))
	case *duplicateCheck:
		return naiveDuplicate(n, table)
	case *everywhere:
		return naiveAnywhere(n, table, m)
	case *condition:
		if n.prop != nil { // tested by hand in props_test.go
			var s Scratch
			return (&Filter{root: n}).match(m, fieldtable.Lenient(), nil, &s)
		}
		return naiveCondition(n, table, m)
	}
	panic(fmt.Sprintf("%T", n))
}

func naiveDamaged(v naiveValue) bool {
	bad := v.damaged
	for _, f := range v.fields {
		bad = bad || naiveDamaged(f.naiveValue)
	}
	for _, i := range v.items {
		bad = bad || naiveDamaged(i)
	}
	return bad
}

func naiveDuplicate(n *duplicateCheck, table *naiveValue) truths {
	if table == nil {
		return isNo
	}
	seen := map[string]bool{}
	for _, f := range table.fields {
		if seen[f.name] && (n.any || f.name == n.name) {
			return isYes
		}
		seen[f.name] = true
	}
	if table.damaged {
		return isNo | isYes
	}
	return isNo
}

func naiveCondition(c *condition, table *naiveValue, m archive.Message) truths {
	nullary := false // what an absent value leaves unknown
	switch c.test.(type) {
	case existence, nullCheck:
		nullary = true
	}
	if c.also != nil && len(c.path.steps) == 0 {
		seen := table != nil &&
			slices.ContainsFunc(table.fields, func(f naiveField) bool { return f.name == c.path.name })
		if !seen && (table == nil || !table.damaged) {
			if c.also.prop != nil {
				var s Scratch
				return (&Filter{root: c.also}).match(m, fieldtable.Lenient(), nil, &s)
			}
			return naiveCondition(c.also, table, m)
		}
	}
	var values []naiveValue
	unsure, lacking := false, false
	if table != nil {
		values, unsure, lacking = naiveFollow(*table, append(steps{{
			name:  c.path.name,
			index: byName,
		}}, c.path.steps...))
	}
	result := truths(0)
	for _, v := range values {
		of := naiveTest(c.test, v)
		if result == 0 {
			result = of
		} else {
			result = max(result, of)
		}
	}
	if lacking || result == 0 {
		none := isUnknown
		if nullary {
			none = isNo
		}
		result = max(result, none)
	}
	if unsure {
		missed := isNo | isYes
		if !nullary {
			missed |= isUnknown
		}
		if len(values) == 0 && !lacking {
			result = missed
		} else {
			result = pairwise(result, missed, func(x, y truths) truths { return max(x, y) })
		}
	}
	if c.negate {
		result = pairwise(result, isYes, func(x, _ truths) truths { return isYes / x })
	}
	return result
}

// naiveFollow returns the values that the steps lead to, whether damage hides
// others, and whether an element under [*] lacks what follows.
func naiveFollow(v naiveValue, st steps) (values []naiveValue, unsure, lacking bool) {
	if len(st) == 0 {
		return []naiveValue{v}, false, false
	}
	if isArray := v.kind == fieldtable.KindArray; isArray == (st[0].index == byName) {
		return nil, false, false
	}
	if st[0].index == byName {
		for _, f := range v.fields {
			if f.name == st[0].name {
				return naiveFollow(f.naiveValue, st[1:])
			}
		}
		return nil, v.damaged, false
	}
	for i, item := range v.items {
		if st[0].index == each || st[0].index == i {
			more, u, l := naiveFollow(item, st[1:])
			values, unsure = append(values, more...), unsure || u
			lacking = lacking || l || st[0].index == each && len(more) == 0 && !u
		}
	}
	if st[0].index == each || st[0].index >= len(v.items) {
		unsure = unsure || v.damaged
	}
	return values, unsure, lacking
}

func naiveTest(t predicate, v naiveValue) truths {
	opposite := func(is bool, t truths) truths {
		if is {
			return isYes / t
		}
		return t
	}
	void := v.kind == fieldtable.KindVoid
	switch t := t.(type) {
	case existence:
		return truthOf(t.call || v.kind != fieldtable.KindBool || v.displayed == "true")
	case nullCheck:
		return truthOf(!void)
	case *comparison:
		return naiveCompare(t.op, v, t.to)
	case *betweenBounds:
		low, high := naiveCompare(">=", v, t.low), naiveCompare("<=", v, t.high)
		return opposite(t.not, min(low, high))
	case *inList:
		result := isNo
		for _, l := range t.values {
			result = max(result, naiveCompare("=", v, l))
		}
		return opposite(t.not, result)
	case *typeCheck:
		result := isNo
		for _, n := range t.types {
			if n.kind == v.kind || n.kind == fieldtable.KindInvalid && n.tag == v.tag {
				result = isYes
			}
		}
		return opposite(t.not, result)
	case *regularExpression:
		if void {
			return isUnknown
		}
		isText := v.kind == fieldtable.KindLongStr || v.kind == fieldtable.KindShortStr
		result := truthOf((isText || t.pattern.kind != literalText) && t.re.MatchString(v.displayed))
		return opposite(t.not, result)
	case *likePattern:
		if void {
			return isUnknown
		}
		isText := v.kind == fieldtable.KindLongStr || v.kind == fieldtable.KindShortStr
		like := isText || t.pattern.kind != literalText
		result := truthOf(like && naiveLike(v.displayed, string(t.pattern.text), t.escape))
		return opposite(t.not, result)
	}
	panic(fmt.Sprintf("%T", t))
}

// latin gives each byte a character of its own, so that regexp sees bytes that
// are not UTF-8.
func latin(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := decode([]byte(s))
		if r >= byteRune {
			r = 0xF0000 + r - byteRune // private use
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

func naiveLike(text, pattern, escape string) bool {
	var re strings.Builder
	re.WriteString("(?s)^")
	escaped := false
	runes := []rune(latin(pattern))
	for i, r := range runes {
		wild := r == '%' || r == '_'
		escapes := !wild || i+1 < len(runes) && (runes[i+1] == '%' || runes[i+1] == '_')
		switch {
		case !escaped && escapes && string(r) == escape:
			escaped = true
			continue
		case !escaped && r == '%':
			re.WriteString(".*")
		case !escaped && r == '_':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	re.WriteString("$")
	return regexp.MustCompile(re.String()).MatchString(latin(text))
}

var naiveNumber = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,5})?$`)

var errNoNumber = errors.New("no number")

// naiveRat reads v as a number; inf is -1 or 1 for infinities.
func naiveRat(v naiveValue) (r *big.Rat, inf int, err error) {
	switch v.kind {
	case fieldtable.KindVoid,
		fieldtable.KindBool,
		fieldtable.KindBytes,
		fieldtable.KindChar8,
		fieldtable.KindTable,
		fieldtable.KindArray:
		return nil, 0, errNoNumber
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		if !naiveNumber.MatchString(v.displayed) {
			return nil, 0, errNoNumber
		}
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		switch v.displayed {
		case "NaN":
			return nil, 0, errNoNumber
		case "+Inf":
			return nil, 1, nil
		case "-Inf":
			return nil, -1, nil
		}
		// The shortest text that reads back as the same float names it, but is not
		// its exact value.
		if v.kind == fieldtable.KindFloat32 {
			f, _, err := new(big.Float).SetPrec(24).Parse(v.displayed, 10)
			if err != nil {
				return nil, 0, err
			}
			narrow, _ := f.Float32()
			return new(big.Rat).SetFloat64(float64(narrow)), 0, nil
		}
		r, _ := new(big.Rat).SetString(v.displayed)
		f, _ := r.Float64()
		return new(big.Rat).SetFloat64(f), 0, nil
	}
	r, ok := new(big.Rat).SetString(v.displayed)
	if !ok {
		return nil, 0, fmt.Errorf("%s %q", v.kind, v.displayed)
	}
	return r, 0, nil
}

// naiveRounded is the float nearest to x; beyond is how every finite float compares with an x that
// is further away than the greatest.
func naiveRounded(x *big.Rat, bits int, greatest float64) (nearest *big.Rat, beyond int) {
	var f float64
	if bits == 24 {
		narrow, _ := x.Float32()
		f = float64(narrow)
	} else {
		f, _ = x.Float64()
	}
	if math.IsInf(f, 0) || math.Abs(f) > greatest {
		return x, -x.Sign()
	}
	return new(big.Rat).SetFloat64(f), 0
}

func naiveCompare(op string, v naiveValue, l literal) truths {
	if v.kind == fieldtable.KindVoid {
		if l.kind == literalWord && string(l.text) == "void" && (op == "=" || op == "<>") {
			return truthOf(op == "=")
		}
		return isUnknown
	}
	order, ordered := 0, false
	isText := v.kind == fieldtable.KindLongStr || v.kind == fieldtable.KindShortStr
	switch {
	case l.kind == literalNumber:
		digits := naiveDigits(string(l.text))
		inexact := strings.ContainsAny(digits, ".eE")
		want, _ := new(big.Rat).SetString(digits)
		r, inf, err := naiveRat(v)
		switch {
		case err == nil && inf != 0:
			order, ordered = inf, true
		case err == nil:
			if inexact && v.kind == fieldtable.KindFloat64 {
				want, order = naiveRounded(want, 53, math.MaxFloat64)
			} else if inexact && v.kind == fieldtable.KindFloat32 {
				want, order = naiveRounded(want, 24, math.MaxFloat32)
			}
			ordered = true
			if order != 0 {
				break
			}
			order, ordered = r.Cmp(want), true
		}
	case isText:
		order, ordered = strings.Compare(v.displayed, string(l.text)), true
	case v.kind == fieldtable.KindTimestamp && l.isTime:
		r, _, _ := naiveRat(v)
		want := new(big.Rat).SetInt64(l.time.Unix())
		want.Add(want, big.NewRat(int64(l.time.Nanosecond()), 1e9))
		order, ordered = r.Cmp(want), true
	}
	equal := ordered && order == 0
	if l.asWord || l.kind == literalWord {
		equal = equal || v.displayed == string(l.text)
		if hex := naiveHex.FindStringSubmatch(string(l.text)); l.asWord && v.kind == fieldtable.KindBytes {
			equal = hex != nil && strings.EqualFold(v.displayed, hex[1])
		}
	}
	if l.isBool && l.bare {
		ordered = false
	}
	if l.kind == literalWord && v.kind == fieldtable.KindBool {
		equal = strings.EqualFold(v.displayed, string(l.text))
	}
	switch op {
	case "=":
		return truthOf(equal)
	case "<>":
		return truthOf(!equal)
	}
	if !ordered {
		return isUnknown
	}
	return truthOf(map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op])
}
