package query

import (
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
)

// path names a header, and optionally a place inside its table or array.
type path struct {
	name  string
	steps steps
}

type steps []step

// step goes one level down: by name, by index, or into every element.
type step struct {
	name  string
	index int // of an array's element; byName, or each for [*]
}

const (
	byName = -1
	each   = -2
)

// wants is the only kind of value that the step can enter.
func (s step) wants() fieldtable.Kind {
	if s.index == byName {
		return fieldtable.KindTable
	}
	return fieldtable.KindArray
}

func (p path) String() string {
	// A dot in a bare first name is part of the name.
	var b []byte
	if len(p.steps) > 0 && p.steps[0].index == byName {
		b = appendQuoted(b, p.name)
	} else {
		b = appendName(b, p.name)
	}
	for _, s := range p.steps {
		switch {
		case s.index == each:
			b = append(b, "[*]"...)
		case s.index >= 0:
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.index), 10)
			b = append(b, ']')
		case isWord(s.name) && !strings.Contains(s.name, "."):
			b = append(append(b, '.'), s.name...)
		default:
			b = appendQuoted(append(b, '.'), s.name)
		}
	}
	return string(b)
}

// Name writes a header's name as a path: bare where the filter language and fieldtable's Table.At
// both take it for a name, in double quotes otherwise.
func Name(name []byte) string { return string(appendStep(nil, string(name))) }

// FieldPath is the path of a field of the table at parent; "" is the outermost table. Filters and
// fieldtable's Table.At read it.
func FieldPath(parent string, name []byte) string {
	if parent == "" {
		return Name(name)
	}
	if bareStep(parent) {
		parent = `"` + parent + `"` // in a filter, a dot after a bare first name belongs to the name
	}
	return string(appendStep([]byte(parent+"."), string(name)))
}

// ElementPath is the path of an element of the array at parent.
func ElementPath(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

func appendStep(dst []byte, name string) []byte {
	if bareStep(name) {
		return append(dst, name...)
	}
	return appendQuoted(dst, name)
}

// bareStep: a letter, then letters, digits, _ and -, which is no keyword.
func bareStep(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '_' || c == '-')) {
			return false
		}
	}
	return name != "" && !isKeyword(name) && !hasAlias(name)
}

// presence says what came of looking for a value.
type presence uint8

const (
	absent presence = iota
	present
	// unreadable: damage came before it.
	unreadable
)

// eval tests what the steps lead to from v: any of the values for [*].
func (st steps) eval(s *Scratch, v fieldtable.Value, t predicate) truths {
	for i := range st {
		if st[i].index == each {
			return st[i+1:].evalEach(s, v, t)
		}
		var p presence
		if v, p = st[i].from(v); p != present {
			return outcome(p, t)
		}
	}
	s.inner = v
	s.load(&s.inner)
	return s.holds(t)
}

func (st steps) evalEach(s *Scratch, v fieldtable.Value, t predicate) truths {
	a, ok := v.Array()
	if !ok {
		return t.absent()
	}
	scan := a.Scan()
	result, elements := isNo, 0
	for ; scan.Next(); elements++ {
		if result = result.or(st.eval(s, scan.Value(), t)); result == isYes {
			return isYes
		}
	}
	switch {
	case scan.Err() != nil: // there is one more element at least
		return result.or(undecided(t))
	case elements == 0:
		return t.absent()
	}
	return result
}

// from takes a step that is not [*].
func (s step) from(v fieldtable.Value) (fieldtable.Value, presence) {
	if s.index == byName {
		t, ok := v.Table()
		if !ok {
			return fieldtable.Value{}, absent
		}
		v, err := t.Lookup(s.name)
		return v, presenceOf(err)
	}
	a, ok := v.Array()
	if !ok {
		return fieldtable.Value{}, absent
	}
	next, err := a.Index(s.index)
	return next, presenceOf(err)
}

func presenceOf(err error) presence {
	switch {
	case err == nil:
		return present
	case err == fieldtable.ErrAbsent:
		return absent
	}
	return unreadable
}
