package opened

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/viewtest"
)

// Every sentence with a count reads well for none, one and two.
func TestCountsRead(t *testing.T) {
	text := func(parts []kit.Part) string { return parts[0].Text }
	alike := func(n, loud int) string {
		in := &Opened{Readings: make([]fieldtable.Reading, n)}
		for i := range loud {
			in.Readings[i].Others = []fieldtable.Other{{Client: "one", Fatal: true}}
		}
		return viewtest.Words(viewtest.Render(t, readings(in)))
	}
	for _, tt := range []struct {
		name string
		draw func(n int) string
		want [3]string
	}{
		{
			"guesses",
			func(n int) string {
				in := &Opened{Headers: Headers{Hints: make([]fieldtable.Hint, n)}}
				return viewtest.Words(viewtest.Render(t, hintList(in)))
			},
			[3]string{"0 guesses about", "1 guess about", "2 guesses about"},
		},
		{
			"deaths", func(n int) string { return deathsSentence(&Deaths{More: n, Counted: n, Total: uint64(n)}) },
			[3]string{"in 0 entries", "Dead-lettered 1 time, in 1 entry", "Dead-lettered 2 times, in 2 entries"},
		},
		{
			"deaths without a count", func(n int) string { return deathsSentence(&Deaths{More: n}) },
			[3]string{"in 0 entries", "one entry has no usable count", "2 entries have no usable count"},
		},
		{
			"bytes of the headers",
			func(n int) string {
				return text(NewProperty(wire.Property{
					Name: "headers",
					Raw:  make([]byte, n),
				}, nil, nil, viewtest.Now).Parts)
			},
			[3]string{"0 bytes", "1 byte", "2 bytes"},
		},
		{
			"hidden fields",
			func(n int) string {
				return viewtest.Words(viewtest.Render(t, node(Node{Kind: NodeMore, Hidden: n}, address.Links{})))
			},
			[3]string{"0 more: show them", "1 more: show it", "2 more: show them"},
		},
		{
			"values read alike", func(n int) string { return alike(n, 0) },
			[3]string{"reads 0 values as shown", "reads 1 value as shown", "reads 2 values as shown"},
		},
		{
			"values read otherwise", func(n int) string { return alike(max(n, 1), max(n, 1)) },
			[3]string{"1 of 1 value is not", "1 of 1 value is not", "2 of 2 values are not"},
		},
	} {
		for n, want := range tt.want {
			t.Run(tt.name, func(t *testing.T) {
				if got := tt.draw(n); !strings.Contains(got, want) {
					t.Errorf("no %q in %s", want, got)
				}
			})
		}
	}
}
