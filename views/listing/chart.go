package listing

import (
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/kit"
)

// maxBarLink is how long the links of bars may be, in bytes: there are up to a hundred on a page.
const maxBarLink = 1024

// Histogram is arrivals, or what matches, over time. Nil Counts hides it.
type Histogram struct {
	query.Histogram
	// Filtered: only what matches the filter is counted.
	Filtered bool
	// From and To are the time range asked for, drawn as a band; zero = open.
	From, To time.Time
}

// start is when bar i begins.
func (h Histogram) start(i int) time.Time { return h.Start.Add(time.Duration(i) * h.Width) }

// InPart reports whether the time limit ended the count, so that bars are too low.
func (h Histogram) InPart() bool { return len(h.Counts) > 0 && !h.Complete }

// chartHeight is the height of the tallest bar, in the chart's own units.
const chartHeight = 40

// maxSeries is how many values have a colour of their own.
const maxSeries = 5

func peak(h Histogram) uint64 {
	var top uint64
	for _, n := range h.Counts {
		top = max(top, n)
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
func barParts(bar int, h Histogram) []barPart {
	top := peak(h)
	if len(h.Series) == 0 {
		l := barLength(h.Counts[bar], top)
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
	for i, s := range h.Series {
		add(s.Counts[bar], seriesClass(i))
	}
	add(h.Counts[bar]-min(sum, h.Counts[bar]), "s0")
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
	for _, n := range h.Counts {
		all += n
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
	whole := len(h.Counts) * 8
	place := func(t time.Time) int {
		return min(max(int(8*float64(t.Sub(h.Start))/float64(h.Width)), 0), whole)
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
func barTitle(bar int, h Histogram, loc *time.Location) string {
	var w strings.Builder
	w.WriteString(kit.Num(h.Counts[bar]) + " in " + stepWords(h.Width))
	w.WriteString(" from " + h.start(bar).In(loc).Format("15:04:05") + " " + kit.ZoneName(loc))
	var told uint64
	for _, s := range h.Series {
		if n := s.Counts[bar]; n > 0 {
			w.WriteString("\n" + kit.Num(n) + " " + kit.VisibleText(kit.Clip([]byte(s.Text), 80)))
			told += n
		}
	}
	if rest := h.Counts[bar] - min(told, h.Counts[bar]); len(h.Series) > 0 && rest > 0 {
		w.WriteString("\n" + kit.Num(rest) + " another or none")
	}
	return w.String()
}

func chartLabel(h Histogram, loc *time.Location) string {
	var all uint64
	for _, n := range h.Counts {
		all += n
	}
	what := " arrivals from "
	if h.Filtered {
		what = " matching messages from "
	}
	clock := func(t time.Time) string { return t.In(loc).Format("15:04:05") }
	end := h.start(len(h.Counts))
	return kit.Num(all) + what + clock(h.Start) + " to " + clock(end) + " " + kit.ZoneName(loc)
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
