package query

import (
	"strings"
	"time"
)

// The parser's part for values and arithmetic, on either side of a comparison.

// operatorOf says which arithmetic operator begins with a token that stands after a value. Names
// may hold - and /, so these two need a space before them.
func operatorOf(t token) (op byte, ok bool) {
	switch {
	case t.kind == tokPunct && (t.text == "+" || t.text == "*" || t.text == "%"):
		return t.text[0], true
	case t.kind == tokWord && strings.IndexByte("+-/", t.text[0]) >= 0:
		return t.text[0], true
	}
	return 0, false
}

// takeOperator makes what stands after the operator the token to look at.
func (p *parser) takeOperator() *Error {
	if t := p.tok; t.kind == tokWord && len(t.text) > 1 {
		p.last = token{kind: tokPunct, off: t.off, end: t.off + 1, text: t.text[:1]}
		p.tok = token{kind: tokWord, off: t.off + 1, end: t.end, text: t.text[1:]}
		return nil
	}
	return p.advance()
}

// peek is the token after the one to look at; tokEnd where none can be read.
func (p *parser) peek() token {
	l := p.lex
	t, err := l.next()
	if err != nil {
		return token{}
	}
	return t
}

// beginsOperand reports whether t can be the first of a value or name.
func beginsOperand(t token) bool {
	switch t.kind {
	case tokWord:
		return !isKeyword(t.text) || isBoolWord(t.text)
	case tokName, tokText:
		return true
	}
	return t.is("(") || t.is("[")
}

// isSign reports whether a sign stands here that belongs to what comes after it.
func (p *parser) isSign() bool {
	return p.isLoneSign() || p.tok.kind == tokWord && beginsWithMinus(p.tok.text)
}

func (p *parser) isLoneSign() bool {
	return (p.tok.is("+") || p.tok.kind == tokWord && p.tok.text == "-") && beginsOperand(p.peek())
}

// beginsWithMinus reports whether a word is a minus and the name after it, except where it is a
// value on the right. A header whose name begins so is written in double quotes.
func beginsWithMinus(word string) bool { return len(word) > 1 && word[0] == '-' && !isNumeric(word) }

// isMoment reports whether NOW() or UTC() stands here.
func (p *parser) isMoment() bool {
	return (p.tok.keyword("NOW") || p.tok.keyword("UTC")) && p.peek().is("(")
}

// beginsExpression reports whether what stands on the right of a header is more than a value.
func (p *parser) beginsExpression() bool {
	if p.tok.is("(") || p.tok.is("[") || p.isLoneSign() || p.isMoment() {
		return true
	}
	if p.headerWord != "" && p.tok.kind == tokWord && p.tok.text == p.headerWord {
		return true
	}
	if !beginsOperand(p.tok) {
		return false
	}
	next := p.peek()
	if next.off == p.tok.end && (next.is("[") || p.tok.kind == tokName && next.kind == tokWord && next.text[0] == '.') {
		return true // a path
	}
	_, more := operatorOf(next)
	return more
}

// isValueGroup reports whether the parenthesis here holds a value, by what stands after its end.
func (p *parser) isValueGroup() bool {
	t := p.afterGroup()
	if _, ok := operatorOf(t); ok || t.kind == tokOp {
		return true
	}
	for _, keyword := range []string{"LIKE", "IN", "BETWEEN", "IS", "NOT", "MATCHES", "REGEXP", "CONTAINS"} {
		if t.keyword(keyword) {
			return true
		}
	}
	return false
}

// closedBy reports whether the keyword stands after the parenthesis here.
func (p *parser) closedBy(keyword string) bool { return p.afterGroup().keyword(keyword) }

// afterGroup is the token after the parenthesis that opens here; tokEnd where none can be read.
func (p *parser) afterGroup() token {
	l := p.lex
	for depth := 1; depth > 0; {
		t, err := l.next()
		switch {
		case err != nil || t.kind == tokEnd:
			return token{}
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		}
	}
	t, err := l.next()
	if err != nil {
		return token{}
	}
	return t
}

// sum reads an expression; first is its first operand if that has been read.
func (p *parser) sum(first expression) (expression, *Error) {
	return p.operations("+-", first, func(first expression) (expression, *Error) {
		return p.operations("*/%", first, func(first expression) (expression, *Error) {
			if first != nil {
				return first, nil
			}
			return p.signed()
		})
	})
}

// operations reads operands with operators of one strength between them.
func (p *parser) operations(
	ops string,
	first expression,
	operand func(expression) (expression, *Error),
) (expression, *Error) {
	left, err := operand(first)
	for err == nil {
		op, ok := operatorOf(p.tok)
		if !ok || strings.IndexByte(ops, op) < 0 {
			break
		}
		if p.conditions++; p.conditions > MaxConditions {
			return nil, errorAt(p.tok, "A filter may have at most %d conditions and operations.", MaxConditions)
		}
		if err = p.takeOperator(); err != nil {
			break
		}
		var right expression
		if right, err = operand(nil); err == nil {
			left = &arithmetic{op, left, right}
		}
	}
	return left, err
}

func (p *parser) signed() (expression, *Error) {
	if !p.isSign() {
		return p.atom()
	}
	minus := p.tok.kind == tokWord
	if err := p.enter(p.tok); err != nil {
		return nil, err
	}
	if err := p.takeOperator(); err != nil {
		return nil, err
	}
	e, err := p.signed()
	p.depth--
	if err != nil {
		return nil, err
	}
	if c, ok := e.(*constant); ok && !minus && c.class != resultText && c.class != resultBool {
		return c, nil
	}
	return &signedExpression{minus, e}, nil
}

// atom reads a value, a name or an expression in parentheses.
func (p *parser) atom() (expression, *Error) {
	t := p.tok
	switch {
	case t.is("("):
		if err := p.enter(t); err != nil {
			return nil, err
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.sum(nil)
		if err != nil {
			return nil, err
		}
		p.depth--
		return e, p.expect(")", "to close the parenthesis")
	case p.isMoment():
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.now.IsZero() {
			p.now = time.Now()
		}
		return nowConstant(strings.ToUpper(t.text)+"()", p.now), p.expect(")", "after "+t.text+"(")
	case t.kind == tokText, t.kind == tokWord && (isBoolWord(t.text) || isNumeric(t.text)):
		c, err := newConstant(t)
		if err != nil {
			return nil, err
		}
		return c, p.advance()
	case t.kind == tokWord && isKeyword(t.text):
		return nil, p.expected("Expected a value or a header's name (in double quotes if it is spelled like that)")
	case t.kind == tokWord && t.text[0] == '$':
		c, err := p.propertyName()
		return &operandExpression{c}, err
	}
	name, err := p.headerName()
	if err != nil {
		return nil, err
	}
	if name.kind == tokWord && p.tok.is("(") {
		return nil, unknownFunction(name)
	}
	c, err := p.path(name)
	return &operandExpression{c}, err
}

// headerName reads a bare or quoted name, or one in brackets.
func (p *parser) headerName() (token, *Error) {
	t := p.tok
	if t.is("[") {
		var err *Error
		if t, err = p.lex.bracketed(t); err != nil {
			return t, err
		}
		p.tok = t
	} else if t.kind != tokWord && t.kind != tokName {
		if p.last.is("%") {
			return t, p.expected("Expected a value after %%, which belongs in quotes after LIKE, as in tenant LIKE 'a%%'")
		}
		return t, p.expected("Expected a value: a word, a number or text in single quotes")
	}
	return t, p.advance()
}

// isNumeric reports whether a word is a number in any notation.
func isNumeric(word string) bool {
	if isNumber(word) {
		return true
	}
	_, ok := suffixedNumber(word)
	return ok
}

func newConstant(t token) (*constant, *Error) {
	c := &constant{text: t.text, written: t, result: result{state: isYes}}
	switch {
	case t.kind != tokWord:
		c.class, c.result.text = resultText, []byte(t.text)
		c.text = string(appendText(nil, t.text))
	case isBoolWord(t.text):
		c.class, c.bool = resultBool, strings.EqualFold(t.text, "true")
	default:
		if err := refuseOctal(t); err != nil {
			return nil, err
		}
		digits := t.text
		if n, ok := suffixedNumber(digits); ok {
			digits = plainDigits(n, digits)
		}
		c.result, _ = writtenNumber(digits)
		if c.state != isYes {
			return nil, errorAt(t, "Arithmetic takes numbers with at most %d digits.", maxDigits)
		}
	}
	return c, nil
}

func refuseOctal(t token) *Error {
	if t.kind != tokWord || !octal(t.text) {
		return nil
	}
	digits := strings.TrimRight(t.text, "lL")
	digits = strings.TrimLeft(digits[:len(digits)-1], "0") + digits[len(digits)-1:]
	return errorAt(
		t,
		"%s is octal in Java, and decimal elsewhere: write %s for the number, '%s' for the text.",
		t.text,
		digits,
		t.text,
	)
}

// comparisonOf reads what is asked of an expression.
func (p *parser) comparisonOf(left expression) (node, *Error) {
	if o, alone := left.(*operandExpression); alone {
		return p.condition(o.condition)
	}
	if p.tok.kind == tokOp {
		op := p.tok.text
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.sum(nil)
		if err != nil {
			return nil, err
		}
		return p.compare(left, op, right)
	}
	if err := p.calculable(left); err != nil {
		return nil, err
	}
	if p.tok.keyword("IS") {
		not, err := p.isNull()
		return &calculatedTest{of: left, test: nullCheck{not}, negate: !not}, err
	}
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	var asked func(*condition, bool) (node, *Error)
	switch {
	case p.tok.keyword("BETWEEN"):
		return p.betweenExpressions(left, not)
	case p.tok.keyword("IN"):
		return p.inExpressions(left, not)
	case p.tok.keyword("LIKE"):
		asked = p.like
	case p.tok.keyword("MATCHES"), p.tok.keyword("REGEXP"):
		asked = p.matches
	case p.tok.keyword("CONTAINS"):
		asked = p.containing
	default:
		return nil, p.expected("Expected a comparison after a value, as in 5 < retries or price * 2 >= total")
	}
	c := &condition{}
	if _, err := asked(c, not); err != nil {
		return nil, err
	}
	return &calculatedTest{of: left, test: c.test}, nil
}

// compare makes a plain condition of a header or property and a value, whichever comes first, and a
// calculation of anything else.
func (p *parser) compare(left expression, op string, right expression) (node, *Error) {
	c, plain := left.(*operandExpression)
	value, isValue := right.(*constant)
	plain = plain && isValue && value.written.kind != tokEnd
	if o, ok := right.(*operandExpression); ok && !plain {
		if v, ok := left.(*constant); ok && v.written.kind != tokEnd {
			c, value, plain = o, v, true
			op = mirrored(op)
		}
	}
	if plain {
		l := newLiteral(value.written)
		if prop := c.prop; prop != nil {
			if problem := prop.accepts(&l, op == "=" || op == "<>"); problem != "" {
				return nil, errorAt(value.written, "$%s %s.", prop.name, problem)
			}
		}
		of := *c.condition
		of.test = &comparison{op: op, to: l}
		if of.also != nil {
			also := *of.also
			of.also = &also
		}
		return of.finish(), nil
	}
	return &calculation{op, left, right}, p.calculable(left, right)
}

// calculable says which header or property in the expressions has no value to calculate with.
func (p *parser) calculable(expressions ...expression) (err *Error) {
	for _, e := range expressions {
		e.conditions(func(c *condition) {
			for _, s := range c.path.steps {
				if s.index == each {
					err = errorAt(p.last, "[*] stands for several values, which arithmetic cannot be done with.")
				}
			}
			if c.prop != nil && c.prop.kind == propertyPresence {
				err = errorAt(p.last, "$%s can only be there or not; ask for the headers by their names.", c.prop.name)
			}
		})
	}
	return err
}

// mirrored is the operator with its sides swapped.
func mirrored(op string) string {
	switch op {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	}
	return op
}

func (p *parser) betweenExpressions(left expression, not bool) (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	low, err := p.sum(nil)
	if err != nil {
		return nil, err
	}
	if and, err := p.accept("AND"); err != nil {
		return nil, err
	} else if !and {
		return nil, p.expected("Expected AND and the upper bound after BETWEEN")
	}
	high, err := p.sum(nil)
	if err != nil {
		return nil, err
	}
	return p.within(left, low, high, not)
}

// within is BETWEEN, written as two comparisons.
func (p *parser) within(left, low, high expression, not bool) (node, *Error) {
	above, err := p.compare(left, ">=", low)
	if err != nil {
		return nil, err
	}
	below, err := p.compare(left, "<=", high)
	if err != nil {
		return nil, err
	}
	return negatedIf(not, join(false, []node{above, below})), nil
}

func negatedIf(not bool, n node) node {
	if not {
		return negation{n}
	}
	return n
}

// inExpressions is IN, written as comparisons.
func (p *parser) inExpressions(left expression, not bool) (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var nodes []node
	err := p.inList(func() *Error {
		if p.conditions++; p.conditions > MaxConditions {
			return errorAt(p.tok, "A filter may have at most %d conditions and operations.", MaxConditions)
		}
		right, err := p.sum(nil)
		if err != nil {
			return err
		}
		n, err := p.compare(left, "=", right)
		nodes = append(nodes, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return negatedIf(not, join(true, nodes)), nil
}
