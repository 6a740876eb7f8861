package query

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxSource bounds the text of a filter, in bytes, as written and in canonical
	// form.
	MaxSource = 10 << 10
	// MaxNesting bounds parentheses and NOTs inside each other.
	MaxNesting = 100
	// MaxConditions bounds the comparisons and tests of one filter.
	MaxConditions = 256
	// maxSteps bounds a path: nothing deeper than that is ever decoded.
	maxSteps = 32
)

// parser is a recursive descent over the grammar in the package documentation.
type parser struct {
	lex lexer
	// tok is the token to look at, last the one before.
	tok, last  token
	depth      int
	conditions int
	keys       []string
	// rename may be nil; it gives the name to read for one that is written.
	rename func(string) string
	// headerWord is a bare word that is read as a header's name also on the right; "": none.
	headerWord string
	// now is what NOW() and UTC() are, patterns counts the regular expressions.
	now      time.Time
	patterns int
}

func parse(src string) (node, []string, *Error) {
	if len(src) > MaxSource {
		return nil, nil, tooLong(src)
	}
	p := &parser{lex: lexer{src: src}}
	n, err := p.parse()
	return n, p.keys, err
}

func (p *parser) parse() (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokEnd {
		return everything{}, nil
	}
	n, err := p.or()
	if err == nil && p.tok.kind != tokEnd {
		err = p.leftover()
	}
	return n, err
}

// parseOperand reads a path or property by itself.
func parseOperand(src string) (*condition, []string, *Error) {
	if len(src) > MaxSource {
		return nil, nil, tooLong(src)
	}
	p := &parser{lex: lexer{src: src}}
	if err := p.advance(); err != nil {
		return nil, nil, err
	}
	c, err := p.operand()
	if err == nil && p.tok.kind != tokEnd {
		err = p.expected("Expected the end after %s", c.operand())
	}
	return c, p.keys, err
}

func tooLong(src string) *Error {
	return &Error{
		min(MaxSource, len(src)),
		len(src),
		"A filter may have at most " + strconv.Itoa(MaxSource) + " bytes.",
	}
}

func (p *parser) advance() *Error {
	t, err := p.lex.next()
	if err != nil {
		return err
	}
	p.last, p.tok = p.tok, t
	return nil
}

// accept takes the keyword if it stands here.
func (p *parser) accept(keyword string) (bool, *Error) {
	if !p.tok.keyword(keyword) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(punct, where string) *Error {
	if !p.tok.is(punct) {
		return p.expected("Expected %s %s", punct, where)
	}
	return p.advance()
}

// expected completes a message with what stands here instead.
func (p *parser) expected(format string, args ...any) *Error {
	e := errorAt(p.tok, format, args...)
	if p.tok.kind == tokEnd {
		e.Msg += "."
	} else {
		e.Msg += ", not " + p.found() + "."
	}
	return e
}

func (p *parser) found() string {
	const most = 40
	s := p.lex.src[p.tok.off:p.tok.end]
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// leftover explains what stands after a complete filter.
func (p *parser) leftover() *Error {
	switch {
	case p.tok.is(")"):
		return errorAt(p.tok, "This closing parenthesis has no opening one.")
	case p.tok.kind == tokOp:
		return errorAt(p.tok, "A comparison has one operator: put AND between two conditions.")
	case p.last.keyword("XPATH"), p.last.keyword("XQUERY"):
		return unknownFunction(p.last)
	}
	return errorAt(
		p.tok,
		"Write AND or OR before %s: two conditions need one between them, and a value with spaces needs quotes.",
		p.found(),
	)
}

func (p *parser) enter(by token) *Error {
	if p.depth++; p.depth > MaxNesting {
		return errorAt(by, "Parentheses and NOT may be nested at most %d deep.", MaxNesting)
	}
	return nil
}

func (p *parser) or() (node, *Error)  { return p.list("OR", p.and) }
func (p *parser) and() (node, *Error) { return p.list("AND", p.not) }

func (p *parser) list(keyword string, operand func() (node, *Error)) (node, *Error) {
	var nodes []node
	for {
		n, err := operand()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
		if more, err := p.accept(keyword); err != nil {
			return nil, err
		} else if !more {
			return join(keyword == "OR", nodes), nil
		}
	}
}

func (p *parser) not() (node, *Error) {
	negated, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	if !negated {
		return p.primary()
	}
	if err := p.enter(p.last); err != nil {
		return nil, err
	}
	n, err := p.not()
	p.depth--
	return negation{n}, err
}

func (p *parser) primary() (node, *Error) {
	t := p.tok
	if !t.is("(") {
		if p.conditions++; p.conditions > MaxConditions {
			return nil, errorAt(t, "A filter may have at most %d conditions: IN takes a list of values.", MaxConditions)
		}
	}
	switch {
	case t.is("(") && p.isValueGroup(), p.isSign(), p.isMoment():
		before := *p
		left, err := p.sum(nil)
		if err != nil && t.is("(") && before.closedBy("IS") {
			*p = before
			return p.unknown(err)
		}
		if err != nil {
			return nil, err
		}
		return p.comparisonOf(left)
	case t.is("("):
		return p.group()
	case t.kind == tokWord && isBoolWord(t.text) && p.peek().kind != tokOp:
		return truthValue(strings.EqualFold(t.text, "true")), p.advance()
	case t.kind == tokText, t.kind == tokWord && (isBoolWord(t.text) || isNumeric(t.text)):
		left, err := p.sum(nil)
		if err != nil {
			return nil, err
		}
		return p.comparisonOf(left)
	case t.keyword("EXISTS"):
		return p.exists()
	case t.kind == tokWord && isKeyword(t.text):
		return nil, errorAt(t, "%s is part of the language: put it in double quotes if it is a header's name.", t.text)
	case t.kind == tokWord && t.text[0] == '$':
		return p.property()
	case t.kind == tokWord || t.kind == tokName || t.is("["):
		t, err := p.headerName()
		if err != nil {
			return nil, err
		}
		if t.kind == tokWord && p.tok.is("(") {
			return p.function(t)
		}
		c, err := p.path(t)
		if err != nil {
			return nil, err
		}
		return p.asked(c)
	}
	return nil, p.expected("Expected a condition, such as tenant or tenant = acme")
}

// group reads conditions in parentheses.
func (p *parser) group() (node, *Error) {
	t := p.tok
	if err := p.enter(t); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	p.depth--
	if !p.tok.is(")") && p.tok.kind != tokEnd {
		return nil, p.leftover()
	}
	return n, p.expect(")", "to close the parenthesis at byte "+strconv.Itoa(t.off))
}

// unknown reads (a = 1) IS NULL; wrong is why it is no value.
func (p *parser) unknown(wrong *Error) (node, *Error) {
	n, err := p.group()
	if err != nil {
		return nil, wrong
	}
	not, err := p.isNull()
	return &unknownCheck{n, not}, err
}

// isNull reads IS NULL or IS NOT NULL.
func (p *parser) isNull() (not bool, err *Error) {
	if err := p.advance(); err != nil {
		return false, err
	}
	if not, err = p.accept("NOT"); err != nil {
		return false, err
	}
	if !p.tok.keyword("NULL") {
		return false, p.expected("Expected NULL or NOT NULL after IS")
	}
	return not, p.advance()
}

// path reads the steps after a header's name.
func (p *parser) path(name token) (*condition, *Error) {
	name = p.withoutColon(name)
	c := &condition{path: path{name: name.text}}
	if p.rename != nil {
		c.path.name = p.rename(name.text)
	}
	for {
		switch {
		case p.tok.is("["):
			if err := p.index(c); err != nil {
				return nil, err
			}
		case p.tok.kind == tokWord && p.tok.off == p.last.end && p.tok.text[0] == '.' &&
			(p.last.kind == tokName || p.last.is("]")):
			if err := p.names(c); err != nil {
				return nil, err
			}
		default:
			c.slot = p.slot(c.path.name)
			if name.kind == tokWord && len(c.path.steps) == 0 && c.path.name == name.text {
				return c, p.alias(c, name)
			}
			return c, nil
		}
		if len(c.path.steps) > maxSteps {
			return nil, &Error{
				name.off,
				p.last.end,
				"A path may go at most " + strconv.Itoa(maxSteps) + " levels down.",
			}
		}
	}
}

// withoutColon is for tenant: acme, whose colon becomes the token to look at.
func (p *parser) withoutColon(word token) token {
	if word.kind != tokWord || len(word.text) < 2 || word.text[len(word.text)-1] != ':' || !p.beginsValue() {
		return word
	}
	p.lex.pos = p.tok.off
	word.text, word.end = word.text[:len(word.text)-1], word.end-1
	p.tok = token{kind: tokWord, off: word.end, end: word.end + 1, text: ":"}
	return word
}

// beginsValue reports whether a value stands here, which no operator is.
func (p *parser) beginsValue() bool {
	_, operator := operatorOf(p.tok)
	switch {
	case operator, p.tok.keyword("MATCHES"), p.tok.keyword("REGEXP"), p.tok.keyword("CONTAINS"):
		return false
	case p.tok.kind == tokWord:
		return beginsOperand(p.tok)
	}
	return p.tok.kind == tokName || p.tok.kind == tokText
}

// slot is the place of a name among the keys.
func (p *parser) slot(name string) int {
	at := slices.Index(p.keys, name)
	if at < 0 {
		at = len(p.keys)
		p.keys = append(p.keys, name)
	}
	return at
}

// asked reads what is asked of a header or property, or of the arithmetic that begins with it.
func (p *parser) asked(c *condition) (node, *Error) {
	if _, more := operatorOf(p.tok); !more {
		return p.condition(c)
	}
	left, err := p.sum(&operandExpression{c})
	if err != nil {
		return nil, err
	}
	return p.comparisonOf(left)
}

func (p *parser) index(c *condition) *Error {
	if err := p.advance(); err != nil {
		return err
	}
	s := step{index: each}
	if !p.tok.is("*") {
		n, err := strconv.ParseUint(p.tok.text, 10, 31)
		if p.tok.kind != tokWord || err != nil {
			return p.expected("Expected an index from 0, or * for any element")
		}
		s.index = int(n)
	}
	c.path.steps = append(c.path.steps, s)
	if err := p.advance(); err != nil {
		return err
	}
	return p.expect("]", "after the index")
}

// names reads .a.b, where the last may be in double quotes.
func (p *parser) names(c *condition) *Error {
	word := p.tok
	if err := p.advance(); err != nil {
		return err
	}
	word = p.withoutColon(word)
	parts := strings.Split(word.text, ".")[1:]
	if last := len(parts) - 1; parts[last] == "" && p.tok.kind == tokName && p.tok.off == word.end {
		parts[last] = p.tok.text
		for _, name := range parts[:last] {
			if name == "" {
				return errorAt(word, "A name is missing between two dots.")
			}
		}
		if err := p.advance(); err != nil {
			return err
		}
	} else if slices.Contains(parts, "") {
		return errorAt(word, "A name is missing after a dot.")
	}
	for _, name := range parts {
		c.path.steps = append(c.path.steps, step{name: name, index: byName})
	}
	return nil
}

func (p *parser) property() (node, *Error) {
	c, err := p.propertyName()
	if err != nil {
		return nil, err
	}
	n, err := p.asked(c)
	if err != nil {
		return nil, err
	}
	if _, bare := c.test.(existence); bare && c.prop.kind == propertyBool {
		c.test = &comparison{op: "=", to: newLiteral(token{kind: tokWord, text: "true"})}
	}
	return n, nil
}

func (p *parser) propertyName() (*condition, *Error) {
	t := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	t = p.withoutColon(t)
	prop, ok := propertyByName(t.text[1:])
	if !ok {
		return nil, errorAt(
			t,
			"There is no %s: put it in double quotes if it is a header's name; the properties are %s.",
			t.text,
			propertyNames(),
		)
	}
	return &condition{prop: prop}, nil
}

func (p *parser) function(name token) (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch strings.ToLower(name.text) {
	case "malformed":
		return damageCheck{}, p.expect(")", "after malformed(")
	case "duplicate":
		return p.duplicate()
	case "type":
		return p.typeOf()
	case "anywhere":
		return p.anywhere()
	case "contains":
		return p.contains()
	}
	return nil, unknownFunction(name)
}

func (p *parser) anywhere() (node, *Error) {
	t := p.tok
	if t.kind != tokWord && t.kind != tokName && t.kind != tokText || t.text == "" {
		return nil, p.expected("Expected the text to look for, as in anywhere('acme')")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return newEverywhere(t.text), p.expect(")", "after the text")
}

// contains reads contains(tenant, 'acme').
func (p *parser) contains() (node, *Error) {
	c, err := p.operand()
	if err != nil {
		return nil, err
	}
	if !p.tok.is(",") {
		return nil, p.expected("Expected , and a text after the name, as in contains(tenant, 'acme')")
	}
	n, err := p.containing(c, false)
	if err != nil {
		return nil, err
	}
	return n, p.expect(")", "after the text")
}

// argument reads the path of a function.
func (p *parser) argument() (*condition, *Error) {
	t := p.tok
	if t.kind != tokName && (t.kind != tokWord || isKeyword(t.text) || t.text[0] == '$') {
		return nil, p.expected("Expected a header's name, if need be in double quotes")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.path(t)
}

// operand reads the path of a header or the name of a property.
func (p *parser) operand() (*condition, *Error) {
	if p.tok.kind == tokWord && p.tok.text[0] == '$' {
		return p.propertyName()
	}
	return p.argument()
}

func (p *parser) exists() (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("(", "after EXISTS"); err != nil {
		return nil, err
	}
	c, err := p.operand()
	if err != nil {
		return nil, err
	}
	c.test = existence{call: c.prop == nil || c.prop.kind == propertyBool}
	return c.finish(), p.expect(")", "after the name")
}

func (p *parser) duplicate() (node, *Error) {
	if p.tok.is(")") {
		return &duplicateCheck{any: true}, p.advance()
	}
	t := p.tok
	if t.kind != tokName && (t.kind != tokWord || isKeyword(t.text) || t.text[0] == '$') {
		return nil, p.expected("Expected a header's name, or ) for any header")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return &duplicateCheck{
			name: t.text,
		}, p.expect(
			")",
			"after the name, since only headers at top level can be asked for",
		)
}

func (p *parser) typeOf() (node, *Error) {
	c, err := p.argument()
	if err != nil {
		return nil, err
	}
	if err := p.expect(")", "after the name"); err != nil {
		return nil, err
	}
	t := &typeCheck{}
	c.test, c.also = t, nil
	if p.tok.kind == tokOp && (p.tok.text == "=" || p.tok.text == "<>") {
		t.not = p.tok.text == "<>"
		if err := p.advance(); err != nil {
			return nil, err
		}
		return c, p.typeName(t)
	}
	if t.not, err = p.accept("NOT"); err != nil {
		return nil, err
	}
	if t.many, err = p.accept("IN"); err != nil {
		return nil, err
	}
	if !t.many {
		return nil, p.expected("Expected = <> or IN after type(…), as in type(retries) = int32")
	}
	return c, p.inList(func() *Error { return p.typeName(t) })
}

func (p *parser) typeName(t *typeCheck) *Error {
	if p.tok.kind != tokWord && p.tok.kind != tokName && p.tok.kind != tokText {
		return p.expected("Expected a tag letter or a type's name")
	}
	n, ok := newTypeName(p.tok.text)
	if !ok {
		return errorAt(p.tok, "%s is neither a tag letter nor a type: the types are %s.", p.found(), typeNames())
	}
	t.types = append(t.types, n)
	return p.advance()
}

// condition reads what is asked of the operand c.
func (p *parser) condition(c *condition) (node, *Error) {
	if p.tok.kind == tokWord && p.tok.text == ":" && beginsOperand(p.peek()) {
		p.tok = token{kind: tokOp, off: p.tok.off, end: p.tok.end, text: "="} // tenant: acme
	}
	start := p.tok
	if p.tok.kind == tokOp {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.beginsExpression() {
			right, err := p.sum(nil)
			if err != nil {
				return nil, err
			}
			return p.compare(&operandExpression{c}, start.text, right)
		}
		l, err := p.literal(c, "after "+start.text, start.text == "=" || start.text == "<>")
		c.test = &comparison{op: start.text, to: l}
		return c.finish(), err
	}
	if p.tok.keyword("IS") {
		not, err := p.isNull()
		c.test, c.negate = nullCheck{not}, !not
		return c.finish(), err
	}
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	switch {
	case p.tok.keyword("LIKE"):
		return p.like(c, not)
	case p.tok.keyword("IN"):
		return p.in(c, not)
	case p.tok.keyword("BETWEEN"):
		return p.between(c, not)
	case p.tok.keyword("MATCHES"), p.tok.keyword("REGEXP"):
		return p.matches(c, not)
	case p.tok.keyword("CONTAINS"):
		return p.containing(c, not)
	case not:
		return nil, p.expected("Expected LIKE, IN, BETWEEN, CONTAINS or MATCHES after NOT")
	}
	c.test = existence{}
	return c.finish(), nil
}

// literal reads a value to compare c with; equality: for = and IN.
func (p *parser) literal(c *condition, where string, equality bool) (literal, *Error) {
	t := p.tok
	switch {
	case t.kind == tokWord && isKeyword(t.text) && !isBoolWord(t.text):
		if t.keyword("NULL") {
			return literal{}, errorAt(
				t,
				"Nothing equals NULL: write IS NULL, or put it in double quotes if it is the value.",
			)
		}
		return literal{}, p.expected("Expected a value %s (in double quotes if it is spelled like that)", where)
	case t.kind != tokWord && t.kind != tokName && t.kind != tokText:
		return literal{}, p.expected("Expected a value %s: a word, a number or text in single quotes", where)
	}
	if err := refuseOctal(t); err != nil {
		return literal{}, err
	}
	if t.kind == tokWord && p.peek().is("(") {
		return literal{}, unknownFunction(t)
	}
	l := newLiteral(t)
	if c.prop != nil {
		if problem := c.prop.accepts(&l, equality); problem != "" {
			return literal{}, errorAt(t, "$%s %s.", c.prop.name, problem)
		}
	}
	return l, p.advance()
}

func (p *parser) like(c *condition, not bool) (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if c.prop != nil && c.prop.kind != propertyText {
		return nil, errorAt(p.last, "$%s is no text: LIKE cannot be asked of it.", c.prop.name)
	}
	at := p.tok
	pattern, err := p.literal(c, "after LIKE", false)
	if err != nil {
		return nil, err
	}
	escape := ""
	if given, err := p.accept("ESCAPE"); err != nil {
		return nil, err
	} else if given {
		escape = p.tok.text
		if p.tok.kind != tokText && p.tok.kind != tokName || len([]rune(escape)) != 1 {
			return nil, p.expected(`Expected one character in quotes after ESCAPE, as in ESCAPE '\'`)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	l, problem := newLike(pattern, escape, not)
	if problem != "" {
		return nil, errorAt(at, "%s", problem)
	}
	c.test = l
	return c.finish(), nil
}

// containing reads the text that a value is to contain, and asks for it with LIKE.
func (p *parser) containing(c *condition, not bool) (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if c.prop != nil && c.prop.kind != propertyText {
		return nil, errorAt(p.last, "$%s is no text: CONTAINS cannot be asked of it.", c.prop.name)
	}
	at := p.tok
	text, err := p.literal(c, "to look for", false)
	if err != nil {
		return nil, err
	}
	pattern, escape := containingPattern(text.text)
	l, problem := newLike(literal{kind: text.kind, text: pattern}, escape, not)
	if text.kind == literalNumber {
		l.pattern.kind = literalWord
	}
	if problem != "" {
		return nil, errorAt(at, "%s", problem)
	}
	c.test = l
	return c.finish(), nil
}

func (p *parser) in(c *condition, not bool) (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var values []literal
	var sums []expression // nil where the value of that place is a literal
	calculated := false
	err := p.inList(func() *Error {
		l, e, err := p.bound(c, "in the list", true)
		values, sums, calculated = append(values, l), append(sums, e), calculated || e != nil
		return err
	})
	if err != nil {
		return nil, err
	}
	if !calculated {
		c.test = newIn(values, not)
		return c.finish(), nil
	}
	var nodes []node
	for i, e := range sums {
		if p.conditions++; p.conditions > MaxConditions {
			return nil, errorAt(p.last, "A filter may have at most %d conditions and operations.", MaxConditions)
		}
		if e == nil {
			if e, err = values[i].constant(); err != nil {
				return nil, err
			}
		}
		n, err := p.compare(&operandExpression{c}, "=", e)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return negatedIf(not, join(true, nodes)), nil
}

// inList reads ( item, item … ).
func (p *parser) inList(item func() *Error) *Error {
	if err := p.expect("(", "after IN"); err != nil {
		return err
	}
	for n := 1; ; n++ {
		if n > maxList {
			return errorAt(p.tok, "A list may have at most %d values.", maxList)
		}
		if err := item(); err != nil {
			return err
		}
		if !p.tok.is(",") {
			return p.expect(")", "or a comma after a value in the list")
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
}

func (p *parser) between(c *condition, not bool) (node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	low, lowExpression, err := p.bound(c, "after BETWEEN", false)
	if err != nil {
		return nil, err
	}
	if and, err := p.accept("AND"); err != nil {
		return nil, err
	} else if !and {
		return nil, p.expected("Expected AND and the upper bound after BETWEEN")
	}
	high, highExpression, err := p.bound(c, "after AND", false)
	switch {
	case err != nil:
		return nil, err
	case lowExpression == nil && highExpression == nil:
		c.test = &betweenBounds{not: not, low: low, high: high}
		return c.finish(), nil
	case lowExpression == nil:
		lowExpression, err = low.constant()
	case highExpression == nil:
		highExpression, err = high.constant()
	}
	if err != nil {
		return nil, err
	}
	return p.within(&operandExpression{c}, lowExpression, highExpression, not)
}

// bound reads a value, or an expression where there is more.
func (p *parser) bound(c *condition, where string, equality bool) (l literal, e expression, err *Error) {
	if p.beginsExpression() {
		e, err = p.sum(nil)
		return literal{}, e, err
	}
	l, err = p.literal(c, where, equality)
	return l, nil, err
}
