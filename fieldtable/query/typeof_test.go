package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestTypeOf(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Str("s", "x")
		e.Int16("i16", 1)
		e.Int16U("u", 1)
		e.Void("nil")
		e.Array("a", func(e *encode.Encoder) { e.Int32("", 1); e.Str("", "x") })
	}))
	checkVerdicts(t, m, []verdictCase{
		{"type(s) = 'S'", Yes},
		{"type(s) = S", Yes},
		{"type(s) = 's'", No},
		{"type(s) = longstr", Yes},
		{"type(s) <> longstr", No},
		{"type(s) = shortstr", No},
		{"type(i16) = int16 AND type(u) = int16", Yes},
		{"type(u) = 's'", No},
		{"type(u) = U", Yes},
		{"type(nil) = V", Yes},
		{"type(nil) = void", Yes},
		{"type(missing) = S", Unknown},
		{"type(missing) <> S", Unknown},
		{"type(s) IN (I, S)", Yes},
		{"type(s) NOT IN (I, longstr)", No},
		{"type(s) NOT IN (I, void)", Yes},
		{"type(a) = array", Yes},
		{"type(a[1]) = S", Yes},
		{"type(a[*]) = S", Yes},
		{"type(a[*]) <> S", Yes},
		{"type(a[*]) = void", No},
	})
	m = one(t, encode.Table(func(e *encode.Encoder) { e.Int64("l", 1) }))
	var s Scratch
	if got := compile(t, "type(l) = uint64").Match(m, fieldtable.Spec091(), &s); got != Yes {
		t.Errorf("l under spec-0-9-1: %v", got)
	}
}
