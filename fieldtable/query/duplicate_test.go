package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestDuplicate(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Int32("a", 1)
		e.Int32("b", 1)
		e.Str("a", "x")
	}))
	checkVerdicts(t, m, []verdictCase{
		{"duplicate()", Yes},
		{"duplicate(a)", Yes},
		{"duplicate(b)", No},
		{"duplicate(c)", No},
		{`NOT duplicate("a")`, No},
		{"type(a) = I", Yes},
		{"a = x", No},
	})
	m = one(t, encode.Table(func(e *encode.Encoder) { e.Int32("a", 1) }))
	checkVerdicts(t, m, []verdictCase{{"duplicate()", No}, {"duplicate(a)", No}})
}
