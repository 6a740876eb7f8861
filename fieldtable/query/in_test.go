package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestIn(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Str("tenant", "acme")
		e.Str("num", "5.0")
		e.Int32("n", 5)
		e.Bool("on", true)
		e.Timestamp("t", 1700000000)
		e.Void("nil")
	}))
	checkVerdicts(t, m, []verdictCase{
		{"tenant IN (acme)", Yes},
		{"tenant IN ('bob', 'acme')", Yes},
		{"tenant IN (bob, 5)", No},
		{"tenant NOT IN (bob)", Yes},
		{"tenant NOT IN (bob, acme)", No},
		{"n IN (4, 5.0)", Yes},
		{"n IN ('5')", No},
		{`n IN ("5")`, Yes},
		{"n NOT IN (4)", Yes},
		{"num IN (5)", Yes},
		{"num IN ('5')", No},
		{"num IN (6, '5.0')", Yes},
		{"on IN (TRUE)", Yes},
		{"on IN ('true')", No},
		{"t IN ('2023-11-14T22:13:20Z')", Yes},
		{"t IN (1700000000)", Yes},
		{"t IN (x)", No},
		{"nil IN (a)", Unknown},
		{"nil IN (a, void)", Yes},
		{"nil NOT IN (a, void)", No},
		{"nil NOT IN (a)", Unknown},
		{"missing IN (a)", Unknown},
		{"missing NOT IN (a)", Unknown},
	})
}
