package views

import (
	"strconv"

	"github.com/headerglass/headerglass/fieldtable"
)

// tagLetter is a type tag as its badge shows it.
func tagLetter(tag byte) string {
	if tag > ' ' && tag < 0x7f {
		return string(rune(tag))
	}
	return "0x" + strconv.FormatUint(uint64(tag), 16)
}

// tagClass is the colour of a tag where only the tag is known. A tag of no default meaning has
// class V.
func tagClass(tag byte) string { return valueClass(fieldtable.Lenient().Kind(tag)) }

// tagName is the type that a tag stands for where only the tag is known.
func tagName(tag byte) string {
	k := fieldtable.Lenient().Kind(tag)
	if k == fieldtable.KindInvalid {
		return "tag " + tagLetter(tag)
	}
	return k.String()
}
