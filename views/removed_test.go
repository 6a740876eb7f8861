package views

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/opened"
	"github.com/headerglass/headerglass/views/viewtest"
)

// A message without what redaction named says so where it would have stood, and offers no filter
// for what stands there instead.
func TestRemovedValues(t *testing.T) {
	table := encode.Table(func(e *encode.Encoder) {
		e.Str("kept", "shown")
		e.Str("token", "******")
		e.Nested("auth", func(e *encode.Encoder) { e.Int32("*", 0) })
		e.Nested("part", func(e *encode.Encoder) {
			e.Str("secret", "***")
			e.Str("plain", "seen")
		})
		e.Value("odd", 'Z', []byte("****"))
	})
	const first = 20 // where the table begins in the content header
	span := func(text string, offset, size int) archive.Span {
		at := strings.Index(string(table), text) + offset + first
		return archive.Span{From: at, To: at + size}
	}
	m := facts.Message{
		Seq:           1,
		Headers:       table,
		HasHeaders:    true,
		HeadersOffset: first,
		ContentHeader: append(make([]byte, first), table...),
		Removed: []archive.Span{
			{From: 14, To: 17},
			span("token", 10, 6),
			span("authF", 9, 7),
			span("secretS", 11, 3),
			span("oddZ", 4, 4),
		},
		Properties: []wire.Property{
			{Name: "user_id", Raw: []byte("***"), Offset: 13, End: 17},
			{Name: "app_id", Raw: []byte("app"), Offset: 17, End: 20},
			{Name: "headers", Raw: table, Offset: first, End: first + len(table)},
		},
	}
	in := opened.Build(m, opened.Options{Dialect: fieldtable.Lenient()})
	removed := map[string]bool{}
	for _, n := range in.Headers.Tree.Nodes {
		name := n.Path
		if n.Kind == opened.NodeDamage {
			name = "damage"
		}
		removed[name] = n.Value.Removed
		if n.Value.Removed && (n.Is != "" || n.Not != "" || len(n.Value.Parts) > 0 || len(n.Rest) > 0) {
			t.Errorf("%s offers what is not there: %+v", name, n)
		}
	}
	want := map[string]bool{
		"kept":          false,
		"token":         true,
		"auth":          true,
		`"auth"."*"`:    true,
		"part":          false,
		`"part".secret`: true,
		`"part".plain`:  false,
		"damage":        true,
	}
	for name, w := range want {
		if got, ok := removed[name]; !ok || got != w {
			t.Errorf("%s: removed is %v (there: %v), want %v", name, got, ok, w)
		}
	}
	if !in.Properties[0].Removed || in.Properties[1].Removed || in.Properties[2].Removed {
		t.Errorf("properties %+v", in.Properties)
	}
	html := viewtest.Render(t, InspectorPane(address.Links{}, &in, nil))
	if n := strings.Count(html, kit.RemovedText); n != 6 {
		t.Errorf("%q stands %d times, want 6", kit.RemovedText, n)
	}
	if !strings.Contains(html, "as delivered but for what redaction removed") ||
		strings.Contains(html, "nothing was changed") {
		t.Error("the page says that everything is as delivered")
	}
}
