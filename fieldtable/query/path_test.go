package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestPaths(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Array("x-death", func(e *encode.Encoder) {
			e.Nested("", func(e *encode.Encoder) {
				e.Str("reason", "rejected")
				e.Int64("count", 3)
				e.Array("routing-keys", func(e *encode.Encoder) { e.Str("", "a.b"); e.Str("", "c") })
			})
			e.Nested("", func(e *encode.Encoder) { e.Str("reason", "expired") })
			e.Str("", "no table")
		})
		e.Nested("stamps", func(e *encode.Encoder) {
			e.Str("a.b", "dotted")
			e.Nested("a", func(e *encode.Encoder) { e.Int32("b", 1); e.Int32("b", 2) })
		})
		e.Str("stamps.a", "flat")
	}))
	checkVerdicts(t, m, []verdictCase{
		{"x-death[0].reason = rejected", Yes},
		{`"x-death"[1].reason = 'expired'`, Yes},
		{"x-death[2].reason", No},
		{"x-death[3]", No},
		{"x-death[2] = 'no table'", Yes},
		{"x-death[*].reason = expired", Yes},
		{"x-death[*].reason = maxlen", Unknown},
		{"x-death[*].routing-keys[*] = d", Unknown},
		{"x-death[0].routing-keys[*] = d", No},
		{"x-death[*].reason <> rejected", Yes},
		{"NOT x-death[*].reason = rejected", No},
		{"x-death[*] = other", No},
		{"x-death[*].count > 2", Yes},
		{"x-death[*].count > 3", Unknown},
		{"x-death[*].nothing = 1", Unknown},
		{"x-death[*].nothing", No},
		{"x-death[*].routing-keys[*] = c", Yes},
		{"x-death[0].routing-keys[1] = c", Yes},
		{"x-death[*].routing-keys[*] LIKE 'a.%'", Yes},
		{"x-death[1].routing-keys[*] = c", Unknown},
		{`"stamps".a.b = 1`, Yes},
		{`"stamps".a.b = 2`, No},
		{`"stamps"."a.b" = dotted`, Yes},
		{"stamps.a = flat", Yes},
		{`"stamps".a`, Yes},
		{`"stamps".b`, No},
		{"stamps[0]", No},
		{"stamps[*] = 1", Unknown},
		{`"stamps.a".b`, No},
		{"missing[0].x = 1", Unknown},
	})
}

func TestDamageInsidePaths(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Array("list", func(e *encode.Encoder) {
			e.Int32("", 1)
			e.Value("", 'Z', nil) // an unknown tag
		})
		e.Nested("map", func(e *encode.Encoder) {
			e.Str("good", "x")
			e.Value("bad", 'Z', nil)
		})
		e.Str("after", "y")
	}))
	checkVerdicts(t, m, []verdictCase{
		{"list[0] = 1", Yes},
		{"list[1]", Damaged},
		{"list[1] = 1", Damaged},
		{"list[*] = 1", Yes},
		{"list[*] = 2", Damaged},
		{"list[*]", Yes},
		{"list[*] IS NULL", No},
		{`"map".good = x`, Yes},
		{`"map".bad`, Damaged},
		{`"map".other IS NULL`, Damaged},
		{"after = y", Yes},
		{"missing", No},
		{"list[1] AND after = y", Damaged},
		{"list[1] AND after = z", No},
		{"list[1] OR after = y", Yes},
		{"list[1] = 1 AND missing = 1", Unknown},
		{"NOT (list[1] = 1 AND missing = 1)", Damaged},
		{"malformed()", Yes},
		{"NOT malformed()", No},
	})
}
