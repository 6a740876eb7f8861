package query

import (
	"strconv"
	"time"
)

// Columns with many values tell them apart by keys alone. Two values that are equal to the same
// literal have the same key: numbers the one of their digits, whatever their types, and so has text
// that reads as a number; other text its octets. Values whose equality is another one have no key:
// floats, which are rounded to, and what is only compared as displayed.

// appendKey appends the key of d.
func (d *datum) appendKey(dst []byte) (key []byte, ok bool) {
	var buf [20]byte
	switch d.class {
	case classText:
		return appendTextKey(dst, d.bytes), true
	case classInt:
		return appendScaledKey(dst, strconv.AppendInt(buf[:0], d.int, 10), 0), true
	case classUint:
		return appendScaledKey(dst, strconv.AppendUint(buf[:0], d.uint, 10), 0), true
	case classDecimal:
		return appendScaledKey(dst, strconv.AppendInt(buf[:0], d.int, 10), d.scale), true
	case classTime:
		if d.scale == 0 { // else the number displayed is not the one compared
			return appendScaledKey(dst, strconv.AppendInt(buf[:0], d.int, 10), 0), true
		}
	}
	return dst, false
}

func appendTextKey(dst, text []byte) []byte {
	if n, ok := parseDecimal(text); ok {
		return n.appendKey(dst)
	}
	return append(dst, text...)
}

// appendScaledKey is of digits × 10^-scale.
func appendScaledKey(dst, digits []byte, scale int) []byte {
	n, _ := parseDecimal(digits)
	if n.digits() > 0 {
		n.exp -= scale
	}
	return n.appendKey(dst)
}

// appendKey writes a number in the one way that all equal to it are written.
func (d *decimal) appendKey(dst []byte) []byte {
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.whole...), d.frac...)
	return strconv.AppendInt(append(dst, 'e'), int64(d.exp), 10)
}

// keys returns the keys of all values that equal l and have one. ok is false where they cannot be
// listed.
func (l *literal) keys() (keys [][]byte, ok bool) {
	if l.kind == literalNumber {
		keys = append(keys, l.num.dec.appendKey(nil))
		if l.asWord {
			keys = append(keys, appendTextKey(nil, l.text))
		}
		return keys, true
	}
	keys = append(keys, appendTextKey(nil, l.text))
	if l.isTime {
		if l.time.Nanosecond() != 0 && l.time.Unix() < 0 {
			return nil, false
		}
		digits := strconv.AppendInt(nil, l.time.Unix(), 10)
		digits = append(digits, strconv.FormatInt(int64(time.Second)+int64(l.time.Nanosecond()), 10)[1:]...)
		keys = append(keys, appendScaledKey(nil, digits, nanoseconds))
	}
	return keys, true
}

// equalities lists the keys that a condition asks for, and what it is where none of them is the
// value's. ok is false where it asks for something else than equality.
func equalities(p predicate) (keys [][]byte, other truths, ok bool) {
	var literals []literal
	not := false
	switch p := p.(type) {
	case *comparison:
		if p.op != "=" && p.op != "<>" {
			return nil, 0, false
		}
		literals, not = []literal{p.to}, p.op == "<>"
	case *inList:
		literals, not = p.values, p.not
	default:
		return nil, 0, false
	}
	for i := range literals {
		of, ok := literals[i].keys()
		if !ok {
			return nil, 0, false
		}
		keys = append(keys, of...)
	}
	return keys, truthOf(not), true
}
