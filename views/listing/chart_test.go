package listing

import (
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/views/viewtest"
)

func TestBarParts(t *testing.T) {
	h := Histogram{Step: time.Second, Series: []Series{{Text: []byte("a")}, {Text: []byte("b")}}}
	h.Buckets = []Bucket{
		{Count: 40, Parts: []uint64{20, 10}},
		{Count: 3, Parts: []uint64{0, 1}},
		{Count: 0, Parts: []uint64{0, 0}},
	}
	for i, want := range [][]barPart{
		{{"s1", 20, 20}, {"s2", 10, 10}, {"s0", 0, 10}},
		{{"s2", 38, 2}, {"s0", 37, 1}},
		nil,
	} {
		got := barParts(h.Buckets[i], h)
		if len(got) != len(want) {
			t.Errorf("bar %d: %v, want %v", i, got, want)
			continue
		}
		for j := range want {
			if got[j] != want[j] {
				t.Errorf("bar %d: %v, want %v", i, got, want)
			}
		}
	}
	if got := barTitle(h.Buckets[0], h, time.UTC); !strings.HasSuffix(got, "UTC\n20 a\n10 b\n10 another or none") {
		t.Errorf("in words: %q", got)
	}
}

func TestChartBand(t *testing.T) {
	h := Histogram{Step: time.Second}
	for i := range 10 {
		h.Buckets = append(h.Buckets, Bucket{Start: viewtest.Now.Add(time.Duration(i) * time.Second)})
	}
	at := func(seconds int) time.Time { return viewtest.Now.Add(time.Duration(seconds) * time.Second) }
	for _, tt := range []struct {
		from, to time.Time
		x, width int
	}{
		{time.Time{}, time.Time{}, 0, 0},
		{at(2), at(4), 16, 16},
		{at(7), time.Time{}, 56, 24},
		{time.Time{}, at(1), 0, 8},
		{at(-9), at(99), 0, 0},
		{at(3), at(3), 24, 1},
	} {
		h.From, h.To = tt.from, tt.to
		if x, width := chartBand(h); x != tt.x || width != tt.width {
			t.Errorf("%v to %v: %d, %d, want %d, %d", tt.from, tt.to, x, width, tt.x, tt.width)
		}
	}
}
