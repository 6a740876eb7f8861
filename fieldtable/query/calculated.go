package query

import "strconv"

// calculatedTest asks LIKE, MATCHES or IS NULL of a value that is written or calculated, such as
//
//	price * 2 IS NULL
type calculatedTest struct {
	of   expression
	test predicate
	// negate turns the outcome round, as in a condition.
	negate bool
}

func (c *calculatedTest) eval(s *Scratch) truths {
	var t truths
	switch r := c.of.value(s); r.state {
	case isYes:
		s.datum = r.datum()
		t = c.test.holds(s, &s.datum)
	case isUnknown:
		t = c.test.absent()
	default:
		t = undecided(c.test)
	}
	if c.negate {
		t = t.not()
	}
	return t
}

// datum is the value as predicates that look at its text take it.
func (r result) datum() datum {
	switch r.class {
	case resultText:
		return datum{class: classText, bytes: r.text}
	case resultBool:
		return datum{class: classBool, bool: r.bool}
	}
	return datum{class: classOther, bytes: r.displayed()}
}

// displayed is a number as it is shown; of a fraction without end, the first 20 digits.
func (r result) displayed() []byte {
	const most = 20
	switch r.class {
	case resultNarrow:
		return strconv.AppendFloat(nil, r.float, 'f', -1, 32)
	case resultFloat:
		return strconv.AppendFloat(nil, r.float, 'f', -1, 64)
	case resultWhole, resultDecimal:
		digits, ends := r.exact.FloatPrec()
		if !ends {
			digits = most
		}
		return []byte(r.exact.FloatString(digits))
	}
	return r.text
}

func (c *calculatedTest) shape(v *shapeView) truths {
	t := undecided(c.test)
	if v.lacks(c.of) {
		t = c.test.absent()
	}
	if c.negate {
		t = t.not()
	}
	return t
}

func (c *calculatedTest) cost() cost { return costOf(c.of) }

func (c *calculatedTest) append(dst []byte) []byte {
	return c.test.append(dst, string(c.of.append(nil, bindsSum)))
}

// unknownCheck asks whether a condition is neither yes nor no, such as
//
//	(retries > 5) IS NULL
type unknownCheck struct {
	of  node
	not bool
}

func (c *unknownCheck) eval(s *Scratch) truths    { return c.of.eval(s).isUnknown(c.not) }
func (c *unknownCheck) shape(v *shapeView) truths { return c.of.shape(v).isUnknown(c.not) }
func (c *unknownCheck) cost() cost                { return c.of.cost() }
func (c *unknownCheck) append(dst []byte) []byte {
	dst = append(c.of.append(append(dst, '(')), ')')
	return nullCheck{c.not}.append(dst, "")
}

// isUnknown is yes for unknown and no for the others, or the opposite.
func (a truths) isUnknown(not bool) (t truths) {
	if a&isUnknown != 0 {
		t = isYes
	}
	if a&noOrYes != 0 {
		t |= isNo
	}
	if not {
		t = t.not()
	}
	return t
}
