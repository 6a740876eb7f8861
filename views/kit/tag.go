package kit

import (
	"html"
	"strconv"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable"
)

// TagLetter is a type tag as its badge shows it.
func TagLetter(tag byte) string {
	if tag > ' ' && tag < 0x7f {
		return string(rune(tag))
	}
	return "0x" + strconv.FormatUint(uint64(tag), 16)
}

// TagClass is the colour of a tag where only the tag is known. A tag of no default meaning has
// class V.
func TagClass(tag byte) string { return ValueClass(fieldtable.Lenient().Kind(tag)) }

// TagBadge is the letter of a tag in the colour of its type.
func TagBadge(tag byte) templ.Component {
	return templ.Raw(`<b class="tag tag-` + TagClass(tag) + `">` + html.EscapeString(TagLetter(tag)) + `</b>`)
}

// TagName is the type that a tag stands for where only the tag is known.
func TagName(tag byte) string {
	k := fieldtable.Lenient().Kind(tag)
	if k == fieldtable.KindInvalid {
		return "tag " + TagLetter(tag)
	}
	return k.String()
}

// ValueClass is the colour of a value.
func ValueClass(k fieldtable.Kind) string {
	switch k {
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		return "S"
	case fieldtable.KindInt8, fieldtable.KindUint8, fieldtable.KindInt16, fieldtable.KindUint16,
		fieldtable.KindInt32, fieldtable.KindUint32, fieldtable.KindInt64, fieldtable.KindUint64:
		return "I"
	case fieldtable.KindFloat32, fieldtable.KindFloat64, fieldtable.KindDecimal:
		return "D"
	case fieldtable.KindBool:
		return "t"
	case fieldtable.KindTimestamp:
		return "T"
	case fieldtable.KindBytes, fieldtable.KindChar8:
		return "x"
	case fieldtable.KindTable:
		return "F"
	case fieldtable.KindArray:
		return "A"
	default:
		return "V"
	}
}
