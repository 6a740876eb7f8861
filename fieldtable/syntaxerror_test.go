package fieldtable_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

func TestErrorMessages(t *testing.T) {
	for name, want := range map[string]string{
		"no-octets":         "the table's length octets are incomplete, at byte 0 (0x0)",
		"length-cut":        "the table's length octets are incomplete, at byte 0 (0x0)",
		"length-overrun":    "the table's length is greater than what follows, at byte 0 (0x0)",
		"trailing":          "octets follow the table, at byte 22 (0x16)",
		"name-cut":          "the name is longer than what is left of the table, at byte 22 (0x16)",
		"tag-missing":       "the table ends before the type tag, at byte 26 (0x1a), in key",
		"unknown-tag":       "unknown type tag 'Z', at byte 26 (0x1a), in bad",
		"unknown-tag-ff":    "unknown type tag 0xff, at byte 8 (0x8), in bad",
		"value-cut":         "the value is incomplete, tag 'l', at byte 27 (0x1b), in key",
		"string-length-cut": "the value's length octets are incomplete, tag 'S', at byte 27 (0x1b), in key",
		"string-overrun":    "the value's length is greater than what is left, tag 'S', at byte 27 (0x1b), in key",
		"nested-overrun":    "the value's length is greater than what is left, tag 'F', at byte 25 (0x19), in t",
		"damage-in-array":   "unknown type tag 'n', at byte 34 (0x22), in a[1]",
		"damage-in-x-death": "the value is incomplete, tag 'l', at byte 46 (0x2e), in x-death[0].count",
		"too-deep":          "nested more than 32 levels deep, tag 'F', at byte 230 (0xe6), in d" + strings.Repeat(".d", 32),
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range specimens.Specimens() {
				if s.Name != name {
					continue
				}
				err := fieldtable.View(s.Encoded, nil).Valid()
				if err == nil || err.Error() != want {
					t.Errorf("%s: %v, want %s", name, err, want)
				}
				e, ok := errors.AsType[*fieldtable.SyntaxError](err)
				if !ok || e.Reason() != s.Damage || !errors.Is(err, e.Err) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// A reader that stops at a level still reports it when it goes there by itself.
func TestDepth(t *testing.T) {
	table := fieldtable.View(specimens.Deep(40), nil)
	for level := 1; level <= fieldtable.MaxDepth; level++ {
		v, err := table.Lookup("d")
		if err != nil {
			t.Fatalf("level %d: %v", level, err)
		}
		table, _ = v.Table()
	}
	_, err := table.Lookup("d")
	if !errors.Is(err, fieldtable.ErrDepthExceeded) {
		t.Fatalf("level 33: %v", err)
	}
	if r := readAll(table); len(r.fields) != 0 || !sameError(r.err, err) {
		t.Errorf("All: %v", r)
	}
	s := table.Scan()
	if s.Next() || !sameError(s.Err(), err) {
		t.Errorf("Scan: %v", s.Err())
	}
	if err := fieldtable.View(specimens.Deep(32), nil).Valid(); err != nil {
		t.Errorf("32 levels: %v", err)
	}
}

// Long names in many errors must not add up: a path keeps its end.
func TestLongPathsAreCut(t *testing.T) {
	var write func(e *encode.Encoder, levels int)
	write = func(e *encode.Encoder, levels int) {
		if levels == 0 {
			e.Value("bad", 'Z', nil)
			return
		}
		e.Nested(strings.Repeat("é", 120), func(e *encode.Encoder) { write(e, levels-1) })
	}
	err := fieldtable.View(encode.Table(func(e *encode.Encoder) { write(e, 20) }), nil).Valid()
	e, ok := errors.AsType[*fieldtable.SyntaxError](err)
	if !ok || len(e.Path) > 1100 || !utf8.ValidString(e.Path) || !strings.HasPrefix(e.Path, "…") ||
		!strings.HasSuffix(e.Path, `é".bad`) {
		t.Errorf("%v", err)
	}
}
