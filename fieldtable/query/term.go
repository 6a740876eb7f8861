package query

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// The functions of this file write the conditions that the page offers. What they write matches
// what it was written for, under the dialect that read it.

// maxTerm is the longest displayed value that ValueConditions puts into a filter, in bytes.
const maxTerm = 256

// ValueConditions writes the filters "has this value" and "does not have it" for the value at a
// path. Both are empty for values that a filter does not name: tables, arrays, and what is too long
// to read in one.
func ValueConditions(path string, v fieldtable.Value) (is, not string) {
	text := v.AppendText(nil)
	if len(text) > maxTerm {
		return "", ""
	}
	switch v.Kind() {
	case fieldtable.KindTable, fieldtable.KindArray, fieldtable.KindInvalid:
		return "", ""
	case fieldtable.KindVoid:
		return path + " IS NULL", path + " IS NOT NULL"
	}
	is = equal(path, v.Kind(), v.Dialect().TimestampUnit(), string(text))
	return is, excluding(path, is)
}

// PropertyConditions writes the filters "has this value" and "does not have it" for a basic
// property under the dialect, nil for Lenient. Both are empty for the headers and for what is too
// long to read in one.
func PropertyConditions(p wire.Property, d *fieldtable.Dialect) (is, not string) {
	if prop, ok := propertyByName(p.Name); ok && len(p.Raw) <= maxTerm {
		path := "$" + prop.name
		text := string(p.Raw)
		if n, ok := p.Uint8(); ok {
			text = strconv.Itoa(int(n))
		} else if n, ok := p.Timestamp(); ok {
			text = strconv.FormatInt(n, 10)
		}
		if is = prop.equal(text, orLenient(d).TimestampUnit()); is != "" {
			not = excluding(path, is)
		}
	}
	return is, not
}

// equal writes the condition that the property has the value that is displayed as text. unit is of
// the timestamp.
func (p *property) equal(text string, unit fieldtable.Unit) string {
	switch {
	case p.kind == propertyPresence:
		return ""
	case p.kind == propertyText, p.kind == propertyTime && !isNumber(text):
		text = string(appendWord(nil, text))
	case p.kind == propertyTime && unit == fieldtable.Milliseconds:
		text = thousandths(text) // a number is compared in seconds
	}
	return "$" + p.name + " = " + text
}

// PresenceCondition writes the filter "has it" for a header's path, whose values have these kinds:
// the name alone, unless one may be a boolean, which a name alone takes at its word.
func PresenceCondition(path string, kinds ...fieldtable.Kind) string {
	if slices.Contains(kinds, fieldtable.KindBool) {
		return "EXISTS(" + path + ")"
	}
	return path
}

// TypeConditions writes the filters "has this type tag" and "has another" for a header's path.
func TypeConditions(path string, tag byte) (is, not string) {
	t := &typeCheck{types: []typeName{{tag: tag}}}
	is = string(t.append(nil, path))
	t.not = true
	return is, string(t.append(nil, path))
}

// thousandths divides digits, which may have a sign, by 1,000.
func thousandths(digits string) string {
	digits, negative := strings.CutPrefix(digits, "-")
	digits = strings.Repeat("0", max(0, 4-len(digits))) + digits
	point := len(digits) - 3
	digits = digits[:point] + "." + digits[point:]
	if negative {
		return "-" + digits
	}
	return digits
}

// excluding is the filter for the messages that do not meet a condition on path, those included
// that have nothing there.
func excluding(path, condition string) string {
	return "(NOT " + condition + " OR " + path + " IS NULL)"
}

// equal writes the condition that the operand, as a filter writes it, has the value that is
// displayed as text: for text text only, for numbers any number, otherwise what is displayed. For
// void it is IS NULL; for tables and arrays, that they are there. unit is of timestamps.
func equal(operand string, kind fieldtable.Kind, unit fieldtable.Unit, text string) string {
	switch kind {
	case fieldtable.KindVoid:
		return operand + " IS NULL"
	case fieldtable.KindTable, fieldtable.KindArray, fieldtable.KindInvalid:
		return operand
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		if utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) {
			return operand + " = " + string(appendText(nil, text))
		}
	case fieldtable.KindTimestamp:
		if unit == fieldtable.Milliseconds { // a number is compared in seconds
			text = thousandths(text)
		}
		return operand + " = " + text
	case fieldtable.KindInt8,
		fieldtable.KindUint8,
		fieldtable.KindInt16,
		fieldtable.KindUint16,
		fieldtable.KindInt32,
		fieldtable.KindUint32,
		fieldtable.KindInt64,
		fieldtable.KindUint64,
		fieldtable.KindDecimal:
		return operand + " = " + text
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		if isNumber(text) {
			if !strings.ContainsAny(text, ".e") {
				// digits alone are compared exactly, and those shown of a float are rounded
				text += ".0"
			}
			return operand + " = " + text
		}
	}
	return operand + " = " + string(appendWord(nil, text))
}
