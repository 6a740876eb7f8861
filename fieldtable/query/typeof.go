package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
)

// typeCheck is a condition such as
//
//	type(retries) = int32
//
// with = or <> or IN, and a tag letter or the name of a type.
type typeCheck struct {
	not   bool
	many  bool // written with IN
	types []typeName
}

// typeName is one tag where kind is KindInvalid, else every tag of that kind.
type typeName struct {
	tag  byte
	kind fieldtable.Kind
}

// newTypeName has ok false for what is neither one character nor a type's name.
func newTypeName(s string) (typeName, bool) {
	if len(s) == 1 {
		return typeName{tag: s[0]}, true
	}
	for k := fieldtable.KindBool; k <= fieldtable.KindArray; k++ {
		if strings.EqualFold(k.String(), s) {
			return typeName{kind: k}, true
		}
	}
	return typeName{}, false
}

// typeNames lists what newTypeName knows, for messages.
func typeNames() string {
	var names []string
	for k := fieldtable.KindBool; k <= fieldtable.KindArray; k++ {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

func (t *typeCheck) holds(_ *Scratch, d *datum) truths {
	return t.is(d.value.Tag(), d.value.Kind())
}

func (t *typeCheck) is(tag byte, kind fieldtable.Kind) truths {
	for _, n := range t.types {
		if n.kind == kind || n.kind == fieldtable.KindInvalid && n.tag == tag {
			return truthOf(!t.not)
		}
	}
	return truthOf(t.not)
}

func (*typeCheck) absent() truths { return isUnknown }

func (t *typeCheck) tag(tag byte, d *fieldtable.Dialect) truths { return t.is(tag, d.Kind(tag)) }

func (t *typeCheck) append(dst []byte, left string) []byte {
	dst = append(append(append(dst, "type("...), left...), ')')
	switch {
	case !t.many && t.not:
		dst = append(dst, " <> "...)
	case !t.many:
		dst = append(dst, " = "...)
	case t.not:
		dst = append(dst, " NOT IN ("...)
	default:
		dst = append(dst, " IN ("...)
	}
	for i, n := range t.types {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		switch {
		case n.kind != fieldtable.KindInvalid:
			dst = appendText(dst, n.kind.String())
		case n.tag < utf8.RuneSelf && unicode.IsPrint(rune(n.tag)):
			dst = appendText(dst, string(rune(n.tag)))
		default:
			dst = appendQuoted(dst, string([]byte{n.tag}))
		}
	}
	if t.many {
		dst = append(dst, ')')
	}
	return dst
}
