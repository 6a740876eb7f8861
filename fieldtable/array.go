package fieldtable

import "iter"

// Array is a view of an array: values without names. Its length on the wire counts octets, not
// elements. Like a Table it holds no state. The zero Array is empty.
type Array struct{ container }

// Encoded returns the array with its length octets, as on the wire.
func (a Array) Encoded() []byte { return a.encoded() }

// Offset returns where the array's length octets are, in octets from those of the outermost table.
func (a Array) Offset() int { return a.at }

// All returns the elements in wire order, then the error, once and last with a zero Value, if there
// is damage.
func (a Array) All() iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		s := a.Scan()
		for s.Next() {
			if !yield(s.Value(), nil) {
				return
			}
		}
		if err := s.Err(); err != nil {
			yield(Value{}, err)
		}
	}
}

// Scan returns a Scanner before the first element.
func (a Array) Scan() Scanner { return newScanner(a.container, false) }

// Valid returns nil if every element and everything nested in them can be read, otherwise the first
// damage in depth-first wire order, a *SyntaxError.
func (a Array) Valid() error { return a.valid(false) }

// Index returns the element with that index, counted from 0, passing over those before it. The
// error is ErrAbsent if there are fewer, or a *SyntaxError if there is damage before it.
func (a Array) Index(i int) (Value, error) {
	if i < 0 {
		return Value{}, ErrAbsent
	}
	s := a.Scan()
	for ; i > 0 && s.Skip(); i-- {
	}
	if s.Next() {
		return s.Value(), nil
	}
	if err := s.Err(); err != nil {
		return Value{}, err
	}
	return Value{}, ErrAbsent
}
