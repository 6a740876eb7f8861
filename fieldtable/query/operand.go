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

// Cell is one value of an operand.
type Cell struct {
	// Value is a header's value, the zero Value for a property.
	Value fieldtable.Value
	// Text is what is displayed of it, valid until the Scratch is used again.
	Text []byte
	// Removed: the archive holds it without some of its payload.
	Removed bool
}

// Get returns the operand's value in message m; under [*] the first. damaged: the
// table is damaged before it, so there may be one.
func (o *Operand) Get(m archive.Message, d *fieldtable.Dialect, s *Scratch) (c Cell, ok, damaged bool) {
	s.message = m
	s.start(orLenient(d), nil, o.keys)
	s.marked = false
	visit := visitor{func(s *Scratch, d *datum) bool {
		c.Text, c.Removed, ok = s.displayed(d), d.removed, true
		if d.value != nil {
			c.Value = *d.value
		}
		return false
	}}
	t := o.condition.with(visit).eval(s)
	return c, ok, !ok && t&isYes != 0
}

// visitor is a test that shows each value to a function until it returns false.
type visitor struct {
	visit func(s *Scratch, d *datum) (more bool)
}

func (v visitor) holds(s *Scratch, d *datum) truth  { return truthOf(!v.visit(s, d)) }
func (visitor) absent() truth                       { return isNo }
func (visitor) tag(byte, *fieldtable.Dialect) truth { return noOrYes }
func (visitor) append(dst []byte, _ string) []byte  { return dst }
func (c condition) with(t test) *condition          { c.test = t; return &c }
