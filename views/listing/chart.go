package listing

import (
	"strings"
	"time"

	"github.com/headerglass/headerglass/views/kit"
)

// chartHeight is the height of the tallest bar, in the chart's own units.
const chartHeight = 40

// maxSeries is how many values have a colour of their own.
const maxSeries = 5

func peak(h Histogram) uint64 {
	var top uint64
	for _, b := range h.Buckets {
		top = max(top, b.Count)
	}
	return top
}

// barLength is how high a count stands. What is there is seen, however little it is.
func barLength(n, top uint64) int {
	if n == 0 || top == 0 {
		return 0
	}
	return max(int(chartHeight*float64(n)/float64(top)+0.5), 2)
}

type barPart struct {
	class       string
	top, height int
}

// barParts stacks the parts of one bar, the first series at the bottom and what is left of the
// count on top.
func barParts(b Bucket, h Histogram) []barPart {
	top := peak(h)
	if len(h.Series) == 0 {
		l := barLength(b.Count, top)
		return []barPart{{"whole", chartHeight - l, l}}
	}
	var parts []barPart
	var sum uint64
	at := 0
	add := func(n uint64, class string) {
		sum += n
		if l := barLength(sum, top); n > 0 && l > at {
			parts = append(parts, barPart{class, chartHeight - l, l - at})
			at = l
		}
	}
	for i, n := range b.Parts {
		add(n, seriesClass(i))
	}
	add(b.Count-min(sum, b.Count), "s0")
	return parts
}

func seriesClass(i int) string {
	if i >= maxSeries {
		return "s0"
	}
	return "s" + kit.Itoa(i+1)
}

// restTotal counts what no series has.
func restTotal(h Histogram) uint64 {
	var all, told uint64
	for _, b := range h.Buckets {
		all += b.Count
	}
	for _, s := range h.Series {
		told += s.Total
	}
	return all - min(told, all)
}

// chartBand is the stretch that the time range covers; width 0 where it covers everything or
// nothing.
func chartBand(h Histogram) (x, width int) {
	if h.From.IsZero() && h.To.IsZero() {
		return 0, 0
	}
	start, whole := h.Buckets[0].Start, len(h.Buckets)*8
	place := func(t time.Time) int {
		return min(max(int(8*float64(t.Sub(start))/float64(h.Step)), 0), whole)
	}
	from, to := 0, whole
	if !h.From.IsZero() {
		from = place(h.From)
	}
	if !h.To.IsZero() {
		to = place(h.To)
	}
	if from == 0 && to == whole {
		return 0, 0
	}
	return from, max(to-from, 1)
}

// barTitle says in words what one bar shows.
func barTitle(b Bucket, h Histogram, loc *time.Location) string {
	var w strings.Builder
	w.WriteString(
		kit.Num(b.Count) + " in " + stepWords(h.Step) + " from " + b.Start.In(loc).Format("15:04:05") + " " + kit.ZoneName(loc),
	)
	var told uint64
	for i, n := range b.Parts {
		if n > 0 && i < len(h.Series) {
			w.WriteString("\n" + kit.Num(n) + " " + kit.VisibleText(kit.Clip(h.Series[i].Text, 80)))
			told += n
		}
	}
	if rest := b.Count - min(told, b.Count); len(h.Series) > 0 && rest > 0 {
		w.WriteString("\n" + kit.Num(rest) + " another or none")
	}
	return w.String()
}

func chartLabel(h Histogram, loc *time.Location) string {
	var all uint64
	for _, b := range h.Buckets {
		all += b.Count
	}
	what := " arrivals from "
	if h.Filtered {
		what = " matching messages from "
	}
	last := h.Buckets[len(h.Buckets)-1].Start.Add(h.Step)
	return kit.Num(
		all,
	) + what + h.Buckets[0].Start.In(loc).
		Format("15:04:05") +
		" to " + last.In(loc).
		Format("15:04:05") +
		" " + kit.ZoneName(
		loc,
	)
}

func stepWords(d time.Duration) string {
	switch {
	case d >= 24*time.Hour && d%(24*time.Hour) == 0:
		return kit.Plural(int64(d/(24*time.Hour)), "day")
	case d >= time.Hour && d%time.Hour == 0:
		return kit.Num(int64(d/time.Hour)) + " h"
	case d >= time.Minute && d%time.Minute == 0:
		return kit.Num(int64(d/time.Minute)) + " min"
	}
	return kit.Num(int64(d/time.Second)) + " s"
}

// Histogram is arrivals over time. Nil Buckets hides it.
type Histogram struct {
	Buckets []Bucket
	Step    time.Duration // how long each bucket is
	// Series are the values that the buckets are split by, the lowest part of a bar first. Nil: not
	// split.
	Series []Series
	// Filtered: only what matches the filter is counted.
	Filtered bool
	// Partial: the time limit ended the count, so that bars are too low.
	Partial bool
	// From and To are the time range asked for, drawn as a band; zero = open.
	From, To time.Time
}

// Bucket counts the arrivals of one step.
type Bucket struct {
	Start time.Time
	Count uint64
	// Parts has the share of each of Series; what is left of Count has another value or none.
	Parts []uint64
}

// Series is a value that bars are split by.
type Series struct {
	Text  []byte
	Total uint64
}
