package query

import "github.com/headerglass/headerglass/fieldtable"

// condition tests the value of one header path or property, such as
//
//	x-death[*].reason = expired
type condition struct {
	// path is empty where prop is set.
	path path
	prop *property
	// slot is the place of the path's first name among the query's keys.
	slot int
	test predicate
	// also is what the name means where no header has it; nil: nothing. It has the same predicate.
	also *condition
	// negate turns the whole outcome round, not that of each element: IS NULL is
	// the opposite of IS NOT NULL also under [*].
	negate bool
}

// predicate is the part of a condition that looks at a value.
type predicate interface {
	// holds is called with a value that is there; it may be void.
	holds(s *Scratch, d *datum) truths
	// absent is the outcome where there is no value.
	absent() truths
	// tag is the outcome as far as a value's type settles it.
	tag(tag byte, d *fieldtable.Dialect) truths
	// append writes the condition; left is its operand.
	append(dst []byte, left string) []byte
}

// undecided is what a condition may be while its value cannot be read.
func undecided(t predicate) truths {
	if t.absent() == isUnknown {
		return anyTruth
	}
	return noOrYes
}

// outcome is that of a predicate that has no value to look at.
func outcome(p presence, t predicate) truths {
	if p == absent {
		return t.absent()
	}
	return undecided(t)
}

func (c *condition) eval(s *Scratch) truths {
	var t truths
	if c.prop != nil {
		if p := c.prop.load(s, &s.datum); p == present {
			t = s.holds(c.test)
		} else {
			t = outcome(p, c.test)
		}
	} else if v, p := s.header(c.slot); p != present {
		if p == absent && c.also != nil {
			return c.also.eval(s)
		}
		t = outcome(p, c.test)
	} else if len(c.path.steps) > 0 {
		t = c.path.steps.eval(s, *v, c.test)
	} else {
		s.load(v)
		t = s.holds(c.test)
	}
	if c.negate {
		t = t.not()
	}
	return t
}

// lookup sets d to the value, which must not be under [*].
func (c *condition) lookup(s *Scratch, d *datum) presence {
	if c.prop != nil {
		return c.prop.load(s, d)
	}
	found, p := s.header(c.slot)
	if p == absent && c.also != nil {
		return c.also.lookup(s, d)
	}
	if p != present {
		return p
	}
	v := *found
	for _, step := range c.path.steps {
		if v, p = step.from(v); p != present {
			return p
		}
	}
	s.inner = v
	s.load(&s.inner)
	return present
}

// finish hands the predicate on to what the name also means.
func (c *condition) finish() *condition {
	if c.also != nil {
		c.also.test, c.also.negate = c.test, c.negate
	}
	return c
}

func (c *condition) shape(v *shapeView) truths {
	if c.prop != nil {
		return undecided(c.test)
	}
	t := undecided(c.test)
	tag, found := v.shape.Tag(c.path.name)
	switch {
	case found && len(c.path.steps) == 0:
		t = c.test.tag(tag, v.dialect)
		v.values = v.values || t&(t-1) != 0
	case found:
		if k := v.dialect.Kind(tag); c.path.steps[0].wants() != k {
			t = c.test.absent()
		}
	case c.also != nil && v.shape.Damaged:
		t = anyTruth
	case c.also != nil:
		return c.also.shape(v)
	case !v.shape.Damaged:
		t = c.test.absent()
	}
	if c.negate {
		t = t.not()
	}
	return t
}

func (c *condition) cost() cost {
	switch {
	case c.prop == nil:
		return costTable
	case c.prop.name == bodyProperty:
		return costWalk
	}
	return costFacts
}

// operand is the path or property as it is written.
func (c *condition) operand() string {
	if c.prop != nil {
		return "$" + c.prop.name
	}
	if c.also != nil {
		return c.path.name
	}
	return c.path.String()
}

func (c *condition) append(dst []byte) []byte { return c.test.append(dst, c.operand()) }
