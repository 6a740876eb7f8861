package query

import (
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
)

// Quote writes a header's name as it has to stand in a filter.
func Quote(name string) string { return string(appendName(nil, name)) }

// PathFilter writes a path of fieldtable.ParsePath as a filter writes it: there a
// dot in a bare first name belongs to the name.
func PathFilter(fieldPath []fieldtable.Step) string {
	var p path
	for i, s := range fieldPath {
		switch {
		case i == 0:
			p.name = s.Name
		case s.IsIndex:
			p.steps = append(p.steps, step{index: s.Index})
		default:
			p.steps = append(p.steps, step{name: s.Name, index: byName})
		}
	}
	return p.String()
}

// Equal writes the condition that the operand, as a filter writes it, has the value
// v: for text text only, for numbers any number, otherwise what is displayed. For
// void it is IS NULL; for tables and arrays, that they are there.
func Equal(operand string, v fieldtable.Value) string {
	return equal(operand, v.Kind(), string(v.AppendText(nil)))
}

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
	case fieldtable.KindInt8, fieldtable.KindUint8, fieldtable.KindInt16, fieldtable.KindUint16, fieldtable.KindInt32, fieldtable.KindUint32,
		fieldtable.KindInt64, fieldtable.KindUint64, fieldtable.KindDecimal, fieldtable.KindTimestamp:
		return operand + " = " + text
	}
	// In quotes, so that digits do not stand for a number: what is displayed of a
	// float is not exactly its value.
	return operand + " = " + string(appendWord(nil, text))
}

// Exclude writes the opposite of a condition, which holds also for messages that
// it is unknown for.
func Exclude(operand, condition string) string {
	switch {
	case strings.HasSuffix(condition, " IS NULL"):
		return operand + " IS NOT NULL"
	case condition == operand:
		return "NOT " + operand
	}
	return "(NOT " + condition + " OR " + operand + " IS NULL)"
}

// And adds a condition to a filter, which may be empty.
func And(filter, condition string) string {
	q, err := Compile(filter)
	if err != nil || q.MatchesAll() {
		return condition
	}
	if j, ok := q.root.(*junction); ok && j.or {
		return "(" + q.text + ") AND " + condition
	}
	return q.text + " AND " + condition
}

// Conjuncts are the conditions that all have to hold, in the order of the source and
// in canonical form: joined by AND they are the filter again. The empty filter has
// none.
func (q *Query) Conjuncts() []string {
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
