package views

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
)

// appendName appends a header's name as a step of a path: bare where every reader of paths takes it
// for a name, in double quotes otherwise. The filter language and fieldtable's Table.At both read
// it back.
func appendName(dst, name []byte) []byte {
	if bareName(name) {
		return append(dst, name...)
	}
	return appendQuoted(dst, name)
}

func appendQuoted(dst, name []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRune(name[i:])
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == utf8.RuneError && n == 1, r < utf8.RuneSelf && !unicode.IsPrint(r):
			dst = append(dst, '\\', 'x', hex[name[i]>>4], hex[name[i]&15])
		default:
			dst = append(dst, name[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}

func bareName(name []byte) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '_' || c == '-')) {
			return false
		}
	}
	switch strings.ToUpper(string(name)) {
	case "", "AND", "OR", "NOT", "LIKE", "ESCAPE", "IN", "BETWEEN", "IS", "NULL", "EXISTS", "TRUE", "FALSE":
		return false
	}
	return true
}

// childPath is the path of a field of the table at parent; "" is the outermost table.
func childPath(parent string, name []byte) string {
	if parent == "" {
		return string(appendName(nil, name))
	}
	if bareName([]byte(parent)) {
		// in a filter, a dot after a bare first name belongs to the name
		parent = `"` + parent + `"`
	}
	return string(appendName(append([]byte(parent), '.'), name))
}

func elementPath(parent string, i int) string {
	return parent + "[" + strconv.Itoa(i) + "]"
}

// filterValueBytes is the longest value that is put into a filter.
const filterValueBytes = 256

// conditions writes the filters "has this value" and "does not have it" for the value at a path.
// Both are empty for values that a filter does not name: tables, arrays, and what is too long to
// read in one.
func conditions(path string, v fieldtable.Value) (is, not string) {
	text := v.AppendText(nil)
	if len(text) > filterValueBytes {
		return "", ""
	}
	switch v.Kind() {
	case fieldtable.KindTable, fieldtable.KindArray, fieldtable.KindInvalid:
		return "", ""
	case fieldtable.KindVoid:
		return path + " IS NULL", path + " IS NOT NULL"
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		if utf8.Valid(text) && !bytes.ContainsFunc(text, unicode.IsControl) {
			is = path + " = '" + strings.ReplaceAll(string(text), "'", "''") + "'"
			break
		}
		is = path + " = " + string(appendQuoted(nil, text))
	case fieldtable.KindFloat32,
		fieldtable.KindFloat64,
		fieldtable.KindBool,
		fieldtable.KindBytes,
		fieldtable.KindChar8:
		// In quotes it is compared as displayed: the shortest digits of a float are not its exact
		// value.
		is = path + " = " + string(appendQuoted(nil, text))
	default:
		is = path + " = " + string(text)
	}
	return is, "(NOT " + is + " OR " + path + " IS NULL)"
}
