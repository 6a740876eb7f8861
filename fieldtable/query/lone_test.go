package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

func TestLone(t *testing.T) {
	seen := []archive.KeyCount{{Key: "tenant"}, {Key: "x-death"}, {Key: "order.id"}}
	for _, c := range []struct {
		src, word string
	}{
		{"", ""},
		{" acme ", "acme"},
		{"x-deth", "x-deth"},
		{"tenant", ""},
		{"x-death", ""},
		{"order.id", ""},
		{"550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"},
		{"e50e8400-e29b-41d4-a716-446655440000", "e50e8400-e29b-41d4-a716-446655440000"},
		{"4711", "4711"},
		{"me@example.com", "me@example.com"},
		{"tenant = acme", ""},
		{"tenant=acme", ""},
		{"$app_id", ""},
		{"malformed()", ""},
		{"two words", ""},
		{"-", ""},
	} {
		runCase(t, c.src, func(t *testing.T) {
			if word, ok := Lone(c.src, seen); word != c.word || ok != (c.word != "") {
				t.Errorf("%q, %v, want %q", word, ok, c.word)
			}
		})
	}
	if text, ok := compile(t, Anywhere("it's")).Anywhere(); text != "it's" || !ok {
		t.Errorf("%q, %v", text, ok)
	}
	if text, ok := compile(t, "tenant AND anywhere('x')").Anywhere(); ok {
		t.Errorf("%q", text)
	}
}
