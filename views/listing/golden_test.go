package listing

import (
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/views/viewtest"
)

// goldenPage has a row of each kind, with a column, a filter and the values of a header.
func goldenPage() Page {
	at := func(i int) time.Time { return viewtest.Now.Add(-time.Duration(i) * time.Second) }
	state := address.State{Q: "tenant = 'acme' AND retries > 3", Columns: []string{"tenant"}, Facet: "tenant"}
	acme := query.Cell{Set: true, Value: viewtest.Value("acme"), Text: []byte("acme")}
	return Page{
		Frame: shell.Frame{
			Links:  address.Links{Base: "/explore", State: state},
			Now:    viewtest.Now,
			Broker: source.Status{Name: "orders", Kept: source.Kept{Messages: 12340}},
		},
		Bar: QueryBar{
			Query: state.Q,
			Chips: []Chip{
				{Text: "tenant = 'acme'", Without: "retries > 3"},
				{Text: "retries > 3", Without: "tenant = 'acme'"},
			},
			Explain: &query.Explain{
				Keys:          []string{"tenant", "retries"},
				Shapes:        41,
				ShapesMatched: 6,
				Scanned:       10,
				Skipped:       2,
			},
		},
		Keys: KeyList{
			Keys: []archive.KeyCount{
				{Key: "tenant", Count: 9000, Tags: map[byte]uint64{'S': 8000, 'I': 1000}},
				{Key: "<b>", Count: 1, Tags: map[byte]uint64{'t': 1}},
			},
			Active: map[string]bool{"tenant": true}, Messages: 12340, More: 1,
		},
		Chart: Histogram{Filtered: true, Histogram: query.Histogram{
			Start: at(3), Width: time.Second, Counts: []uint64{4, 0, 1}, Complete: true,
		}},
		Facet: &Facet{Kept: 12340, Facet: query.Facet{
			Operand: "tenant", Matched: 312, With: 300, Other: 7, Tags: map[byte]uint64{'S': 300}, Complete: true,
			Values: []query.FacetValue{{Text: "acme", Kind: fieldtable.KindLongStr, Tag: 'S', Count: 293}},
		}},
		List: List{
			Rows: []Row{
				{
					Seq:         9,
					Received:    at(0),
					Exchange:    []byte("amq.topic"),
					RoutingKey:  []byte("acme.orders"),
					HeaderCount: 2,
					HeaderBytes: 41,
					BodyBytes:   12000,
					Keys:        []string{"tenant", "retries"},
					Cells:       []query.Cell{acme},
					New:         true,
				},
				{Seq: 8, Received: at(1), RoutingKey: []byte("orders"), Damaged: true, Undecided: true,
					Cells: []query.Cell{{Damaged: true}}},
				{Seq: 7, Received: at(2), NoHeaders: true, Redelivered: true, Cells: []query.Cell{{}}},
				{Seq: 6, Received: at(3), Duplicates: true, Redacted: true, HeaderCount: 1, Keys: []string{"a\u202eb"},
					Cells: []query.Cell{{Removed: true, Value: viewtest.Value("******")}}},
			},
			Columns:  []Column{{Path: "tenant", Tags: []byte("S")}},
			Older:    "6",
			Total:    12340,
			Selected: address.Key{Seq: 7},
			Count:    &query.Count{Matched: 312, Explain: query.Explain{Damaged: 2}},
			Last:     "9",
		},
	}
}

func TestGoldens(t *testing.T) {
	p := goldenPage()
	none := p
	none.List = List{
		Empty: EmptyNoMatch,
		Notes: []query.Note{{
			Text:     "No message that is kept has a header tenant.",
			Readings: []string{"tenant-id = 'acme'"},
		}},
		Total: 1,
	}
	none.Bar.Chips = nil
	broken := p
	broken.Bar.Error = &query.Error{Offset: 9, End: 15, Msg: "Expected something else here."}
	for _, tt := range []struct {
		name string
		html string
	}{
		{"rows", viewtest.Render(t, LiveRows(p.List, p.Links))},
		{"list", viewtest.Render(t, Messages(p))},
		{"nothing", viewtest.Render(t, Messages(none))},
		{"bar", viewtest.Render(t, FilterBar(p))},
		{"error", viewtest.Render(t, FilterBar(broken))},
		{"chart", viewtest.Render(t, Chart(p.Chart, p.Links))},
		{"names", viewtest.Render(t, KeyPanel(p.Keys, p.Facet, p.Chart, p.Links))},
		{"values", viewtest.Render(t, FacetPanel(p.Facet, p.Chart, p.Links))},
	} {
		t.Run(tt.name, func(t *testing.T) { viewtest.GoldenHTML(t, tt.name+".html", tt.html) })
	}
}
