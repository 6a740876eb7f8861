package viewtest

import (
	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

// Value is a text as a header has it.
func Value(text string) fieldtable.Value {
	table := encode.Table(func(e *encode.Encoder) { e.Str("", text) })
	s := fieldtable.View(table, fieldtable.Lenient()).Scan()
	s.Next()
	return s.Field().Value
}
