package query

import (
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
)

// equal writes the condition that the operand, as a filter writes it, has the value that is
// displayed as text: for text text only, for numbers any number, otherwise what is displayed. For
// void it is IS NULL; for tables and arrays, that they are there.
func equal(operand string, kind fieldtable.Kind, text string) string {
	switch kind {
	case fieldtable.KindVoid:
		return operand + " IS NULL"
	case fieldtable.KindTable, fieldtable.KindArray, fieldtable.KindInvalid:
		return operand
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		if strings.ToValidUTF8(text, "") == text && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			return operand + " = " + string(appendText(nil, text))
		}
	case fieldtable.KindInt8,
		fieldtable.KindUint8,
		fieldtable.KindInt16,
		fieldtable.KindUint16,
		fieldtable.KindInt32,
		fieldtable.KindUint32,
		fieldtable.KindInt64,
		fieldtable.KindUint64,
		fieldtable.KindDecimal,
		fieldtable.KindTimestamp:
		return operand + " = " + text
	}
	// In quotes, so that digits do not stand for a number: what is displayed of a
	// float is not exactly its value.
	return operand + " = " + string(appendWord(nil, text))
}

// Conjuncts are the conditions that all have to hold, in the order of the source and
// in canonical form: joined by AND they are the filter again. The empty filter has
// none.
func (q *Filter) Conjuncts() []string {
	if q.MatchesAll() {
		return nil
	}
	j, ok := q.root.(*junction)
	if !ok || j.or {
		return []string{q.text}
	}
	parts := make([]string, len(j.written))
	for i, n := range j.written {
		if inner, ok := n.(*junction); ok && inner.or {
			parts[i] = "(" + string(inner.append(nil)) + ")"
		} else {
			parts[i] = string(n.append(nil))
		}
	}
	return parts
}
