package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

func TestMatchShape(t *testing.T) {
	shape := &archive.Shape{Fields: []archive.ShapeField{
		{Name: "n", Tag: 'I'},
		{Name: "nil", Tag: 'V'},
		{Name: "l", Tag: 'l'},
		{Name: "list", Tag: 'A'},
	}}
	flat := &archive.Shape{Fields: []archive.ShapeField{{Name: "n", Tag: 'I'}, {Name: "n", Tag: 'S'}}, Duplicates: true}
	damaged := &archive.Shape{Fields: []archive.ShapeField{{Name: "n", Tag: 'I'}}, Damaged: true}
	for _, c := range []struct {
		filter  string
		shape   *archive.Shape
		want    Verdict
		decided bool
	}{
		{"", shape, Yes, true},
		{"", nil, Yes, true},
		{"n", nil, Damaged, false},
		{"n", shape, Yes, true},
		{"x", shape, No, true},
		{"n AND NOT x", shape, Yes, true},
		{"nil IS NULL", shape, Yes, true},
		{"n IS NULL", shape, No, true},
		{"type(n) = int32", shape, Yes, true},
		{"type(x) = int32", shape, Unknown, true},
		{"type(l) = uint64", shape, No, true},
		{"n = 5", shape, Damaged, false},
		{"x = 5", shape, Unknown, true},
		{"nil = 5", shape, Unknown, true},
		{"nil = void", shape, Yes, true},
		{"nil IN (void)", shape, Yes, true},
		{"n = 5 AND x", shape, No, true},
		{"n = 5 OR nil", shape, Yes, true},
		{"n = 5 AND x = 5", shape, Unknown, true},
		{"n[0] = 5", shape, Unknown, true},
		{`"list".x`, shape, No, true},
		{"list[0]", shape, Damaged, false},
		{"n[*] IS NULL", shape, Yes, true},
		{"$size > 5", shape, Damaged, false},
		{"$size > 5 AND x", shape, No, true},
		{"malformed()", shape, Damaged, false},
		{"malformed()", flat, No, true},
		{"malformed()", damaged, Yes, true},
		{"duplicate()", shape, No, true},
		{"duplicate()", flat, Yes, true},
		{"duplicate(n)", flat, Yes, true},
		{"duplicate(x)", flat, No, true},
		{"duplicate(n)", damaged, Damaged, true},
		{"n", damaged, Yes, true},
		{"x", damaged, Damaged, true},
		{"x = 5", damaged, Damaged, false},
		{"type(n) = S", flat, No, true},
	} {
		runCase(t, c.filter, func(t *testing.T) {
			of, decided := compile(t, c.filter).matchShape(c.shape, fieldtable.Lenient())
			if v := of.verdict(); v != c.want || decided != c.decided {
				t.Errorf("%s on %+v: %v, %v; want %v, %v", c.filter, c.shape, v, decided, c.want, c.decided)
			}
		})
	}
	l := &archive.Shape{Fields: []archive.ShapeField{{Name: "l", Tag: 'l'}}}
	if of, decided := compile(t, "type(l) = uint64").matchShape(l, fieldtable.Spec091()); of.verdict() != Yes ||
		!decided {
		t.Errorf("l of spec-0-9-1: %v, %v", of.verdict(), decided)
	}
}
