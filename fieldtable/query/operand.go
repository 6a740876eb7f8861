package query

import (
	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Operand is what a column or a facet shows of each message: a header's path, or
// a property with $, written as on the left side of a comparison.
type Operand struct {
	condition condition
	keys      []string
	text      string
}

// CompileOperand reads an operand; its error is an *Error.
func CompileOperand(src string) (*Operand, error) {
	c, keys, err := parseOperand(src)
	if err != nil {
		return nil, err
	}
	return &Operand{condition: *c, keys: keys, text: c.operand()}, nil
}

// String is the operand in canonical form.
func (o *Operand) String() string { return o.text }

// Cell is what a message has under an operand: one value, or nothing.
type Cell struct {
	// Set: there is a value, which may be void.
	Set bool
	// Damaged: there is none to be seen, because the table cannot be read as far.
	Damaged bool
	// Removed: the archive holds the value without some of its payload.
	Removed bool
	// Value is a header's value, the zero Value for a property.
	Value fieldtable.Value
	// Number: it is displayed as a number, with or without a sign.
	Number bool
	// Text is what is displayed of it, valid until the Scratch is used again.
	Text []byte
}

// IsHeader reports whether the value is a header's, not a property's.
func (c *Cell) IsHeader() bool { return !c.Value.IsZero() }

// Cell returns the operand's value in message m; under [*] the first.
func (o *Operand) Cell(m archive.Message, d *fieldtable.Dialect, s *Scratch) (c Cell) {
	c.Damaged = o.first(m, d, s, func(s *Scratch, d *datum) {
		c.Set, c.Text, c.Removed, c.Number = true, s.displayed(d), d.removed, d.number()
		if d.value != nil {
			c.Value = *d.value
		}
	})
	return c
}

// first shows the operand's first value in message m to a function. damaged: there is none, and the
// table is damaged before it, so there may be one.
func (o *Operand) first(
	m archive.Message,
	d *fieldtable.Dialect,
	s *Scratch,
	show func(*Scratch, *datum),
) (damaged bool) {
	s.message = m
	s.start(orLenient(d), nil, o.keys)
	s.marked = false
	shown := false
	t := o.condition.with(visitor{func(s *Scratch, d *datum) bool {
		shown = true
		show(s, d)
		return false
	}}).eval(s)
	return !shown && t&isYes != 0
}

// visitor is a test that shows each value to a function until it returns false.
type visitor struct {
	visit func(s *Scratch, d *datum) (more bool)
}

func (v visitor) holds(s *Scratch, d *datum) truths  { return truthOf(!v.visit(s, d)) }
func (visitor) absent() truths                       { return isNo }
func (visitor) tag(byte, *fieldtable.Dialect) truths { return noOrYes }
func (visitor) append(dst []byte, _ string) []byte   { return dst }

// with is the condition with another predicate.
func (c condition) with(t predicate) *condition {
	c.test = t
	if c.also != nil {
		also := *c.also
		c.also = &also
	}
	return c.finish()
}
