package listing

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/viewtest"
)

// Every sentence with a count reads well for none, one and two.
func TestCountsRead(t *testing.T) {
	links := address.Links{State: address.State{Q: "x"}}
	facet := func(f query.Facet, kept uint64) string {
		return viewtest.Render(t, FacetPanel(&Facet{Facet: f, Kept: kept}, Histogram{}, links))
	}
	total := func(c query.Count) string { return viewtest.Render(t, TotalLine(c, links)) }
	for _, tt := range []struct {
		name string
		draw func(n uint64) string
		want [3]string
	}{
		{
			"matches", func(n uint64) string { return total(query.Count{Matched: n, Complete: true}) },
			[3]string{"0 matches", "1 match", "2 matches"},
		},
		{
			"at least", func(n uint64) string { return total(query.Count{Matched: n}) },
			[3]string{"at least 0 matches", "at least 1 match", "at least 2 matches"},
		},
		{
			"undecided", func(n uint64) string { return total(query.Count{Explain: query.Explain{Damaged: n}}) },
			[3]string{"", "1 damaged could not be decided: show it", "2 damaged could not be decided: show them"},
		},
		{
			"with a value", func(n uint64) string { return facet(query.Facet{With: n, Matched: 2, Complete: true}, 2) },
			[3]string{"0 of 2 matching have it", "1 of 2 matching has it", "2 of 2 matching have it"},
		},
		{
			"other values", func(n uint64) string { return facet(query.Facet{Other: n, Complete: true}, 2) },
			[3]string{"", "1 other value", "2 other values"},
		},
		{
			"looked at", func(n uint64) string { return facet(query.Facet{}, n) },
			[3]string{"In 0 of 0 messages,", "In 0 of 1 message,", "In 0 of 2 messages,"},
		},
		{
			"rarer names", func(n uint64) string {
				return viewtest.Render(t, KeyPanel(KeyList{More: int(n)}, nil, Histogram{}, links))
			},
			[3]string{"", "and 1 rarer name", "and 2 rarer names"},
		},
		{
			"nothing matches",
			func(n uint64) string {
				return viewtest.Render(t, Messages(Page{List: List{Empty: EmptyNoMatch, Total: n}}))
			},
			[3]string{"Of 0 messages kept none", "Of 1 message kept none", "Of 2 messages kept none"},
		},
	} {
		for n, want := range tt.want {
			t.Run(tt.name, func(t *testing.T) {
				got := viewtest.Words(tt.draw(uint64(n)))
				if !strings.Contains(got+" ", want+" ") {
					t.Errorf("no %q in %s", want, got)
				}
			})
		}
	}
}
