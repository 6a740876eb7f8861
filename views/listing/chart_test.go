package listing

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/viewtest"
)

func TestBarParts(t *testing.T) {
	h := Histogram{Histogram: query.Histogram{
		Width:  time.Second,
		Counts: []uint64{40, 3, 0},
		Series: []query.Series{
			{Text: "a", Counts: []uint64{20, 0, 0}},
			{Text: "b", Counts: []uint64{10, 1, 0}},
		},
	}}
	for i, tt := range []struct {
		name string
		want []barPart
	}{
		{"two and a rest", []barPart{{"s1", 20, 20}, {"s2", 10, 10}, {"s0", 0, 10}}},
		{"the second and a rest", []barPart{{"s2", 38, 2}, {"s0", 37, 1}}},
		{"none", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := barParts(i, h); !slices.Equal(got, tt.want) {
				t.Errorf("bar %d: %v, want %v", i, got, tt.want)
			}
		})
	}
	if got := barTitle(0, h, time.UTC); !strings.HasSuffix(got, "UTC\n20 a\n10 b\n10 another or none") {
		t.Errorf("in words: %q", got)
	}
}

func TestChartBand(t *testing.T) {
	h := Histogram{Histogram: query.Histogram{Start: viewtest.Now, Width: time.Second, Counts: make([]uint64, 10)}}
	at := func(seconds int) time.Time { return viewtest.Now.Add(time.Duration(seconds) * time.Second) }
	for _, tt := range []struct {
		name     string
		from, to time.Time
		x, width int
	}{
		{"open", time.Time{}, time.Time{}, 0, 0},
		{"inside", at(2), at(4), 16, 16},
		{"to the end", at(7), time.Time{}, 56, 24},
		{"from the beginning", time.Time{}, at(1), 0, 8},
		{"wider", at(-9), at(99), 0, 0},
		{"empty", at(3), at(3), 24, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.From, h.To = tt.from, tt.to
			if x, width := chartBand(h); x != tt.x || width != tt.width {
				t.Errorf("%d, %d, want %d, %d", x, width, tt.x, tt.width)
			}
		})
	}
}
