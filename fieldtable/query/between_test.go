package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestBetween(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Int32("n", 5)
		e.Str("s", "m")
		e.Void("nil")
	}))
	checkVerdicts(t, m, []verdictCase{
		{"n BETWEEN 5 AND 5", Yes},
		{"n BETWEEN 4.9 AND 5.1", Yes},
		{"n BETWEEN 6 AND 4", No},
		{"n BETWEEN 1 AND 4", No},
		{"n NOT BETWEEN 1 AND 4", Yes},
		{"s BETWEEN 'a' AND 'm'", Yes},
		{"s BETWEEN n AND z", No},
		{"s BETWEEN 1 AND 2", Unknown},
		{"n BETWEEN 'a' AND 'b'", Unknown},
		{"n BETWEEN 6 AND x", No},
		{"n BETWEEN 1 AND x", Unknown},
		{"nil BETWEEN 1 AND 2", Unknown},
		{"nil NOT BETWEEN 1 AND 2", Unknown},
		{"missing BETWEEN 1 AND 2", Unknown},
	})
}
