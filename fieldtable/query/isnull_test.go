package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestExistsAndNull(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Int32("n", 5)
		e.Void("nil")
		e.Void("twice")
		e.Int32("twice", 1)
		e.Str("", "no name")
		e.Array("voids", func(e *encode.Encoder) { e.Void(""); e.Void("") })
		e.Array("some", func(e *encode.Encoder) { e.Void(""); e.Int32("", 1) })
		e.Array("none", func(e *encode.Encoder) {})
	}))
	checkVerdicts(t, m, []verdictCase{
		{"n", Yes},
		{"EXISTS(n)", Yes},
		{"nil", Yes},
		{"missing", No},
		{"NOT missing", Yes},
		{`""`, Yes},
		{"N", No},
		{"n IS NULL", No},
		{"n IS NOT NULL", Yes},
		{"nil IS NULL", Yes},
		{"nil IS NOT NULL", No},
		{"missing IS NULL", Yes},
		{"missing IS NOT NULL", No},
		{"twice IS NULL", Yes},
		{"voids[*]", Yes},
		{"voids[*] IS NULL", Yes},
		{"voids[*] IS NOT NULL", No},
		{"some[*] IS NULL", No},
		{"some[*] IS NOT NULL", Yes},
		{"some[0] IS NULL", Yes},
		{"some[1]", Yes},
		{"some[2]", No},
		{"none[*]", No},
		{"none[*] IS NULL", Yes},
		{"none", Yes},
		{"n[*]", No},
		{"n[*] IS NULL", Yes},
		{`"n".x`, No},
	})
}
