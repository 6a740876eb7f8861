package query

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Histogram is the messages that match over the time of their receipt.
type Histogram struct {
	// Start is when the first bar begins, Width what each covers: 1 s or more.
	Start time.Time
	Width time.Duration
	// Counts has all messages of each bar.
	Counts []uint64
	// Series splits Counts by the values of an operand, the most frequent first.
	// Other has the messages with another value, None those without any.
	Series      []Series
	Other, None []uint64
	Matched     uint64
	Complete    bool
	Explain
}

// Series is the bars of one value, as displayed.
type Series struct {
	Text   string
	Counts []uint64
	Total  uint64
}

const (
	// maxBars bounds Histogram.Counts.
	maxBars = 2000
	// maxSeries bounds the values that one worker tells apart.
	maxSeries = 200
)

// Histogram counts all messages that match by the time of their receipt, in at
// most bars bars, over From to To or else over what the snapshot holds. Where split
// is not nil, the bars are also split by its first value, with the given number of
// most frequent values told apart. Where ctx ends first its error comes with what was counted
// so far.
func (q *Filter) Histogram(
	ctx context.Context,
	s archive.Snapshot,
	r PageRequest,
	bars int,
	split *Operand,
	series int,
) (Histogram, error) {
	h := Histogram{}
	from, to := r.bounds(s)
	h.Width = BarWidth(to.Sub(from), max(1, min(bars, maxBars)))
	h.Start = from.Truncate(h.Width).UTC()
	n := 0
	if to.After(from) {
		n = int((to.Sub(h.Start)-1)/h.Width) + 1
	}
	var workers []*histogramCounter
	explain, err := q.scan(ctx, s, r, func(columns archive.Columns) collector {
		c := &histogramCounter{start: h.Start, width: h.Width, counts: make([]uint64, n)}
		c.seconds = newSecondsReader(columns)
		if split != nil {
			c.split(split, &r)
			if columnable(&split.condition) {
				c.column = r.columnReader(s, columns, &split.condition)
			}
		}
		workers = append(workers, c)
		return c
	})
	h.Explain, h.Complete = explain, err == nil
	h.Counts = make([]uint64, n)
	byText := map[string]*Series{}
	if split != nil {
		h.Other, h.None = make([]uint64, n), make([]uint64, n)
	}
	for _, c := range workers {
		addAll(h.Counts, c.counts)
		addAll(h.Other, c.other)
		addAll(h.None, c.none)
		for text, s := range c.series {
			if byText[text] == nil {
				byText[text] = &Series{Text: text, Counts: make([]uint64, n)}
			}
			addAll(byText[text].Counts, s)
		}
	}
	for _, n := range h.Counts {
		h.Matched += n
	}
	for _, s := range byText {
		for _, n := range s.Counts {
			s.Total += n
		}
		h.Series = append(h.Series, *s)
	}
	slices.SortFunc(h.Series, func(a, b Series) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Text, b.Text))
	})
	keep := max(0, min(series, len(h.Series)))
	for _, s := range h.Series[keep:] {
		addAll(h.Other, s.Counts)
	}
	h.Series = h.Series[:keep]
	return h, err
}

func addAll(to, from []uint64) {
	for i, n := range from {
		to[i] += n
	}
}

// bounds is the time range of r within what s holds.
func (r *PageRequest) bounds(s archive.Snapshot) (from, to time.Time) {
	for t := range r.stretches(s) {
		oldest, newest := t.segment.Received()
		if from.IsZero() || oldest.Before(from) {
			from = oldest
		}
		if to.IsZero() || !newest.Before(to) {
			to = newest.Add(1)
		}
	}
	if !r.From.IsZero() {
		from = r.From
	}
	if !r.To.IsZero() {
		to = r.To
	}
	return from, to
}

// BarWidth is the least width of a round number of seconds that needs no more bars
// than given, counting one more for the start on a round time.
func BarWidth(span time.Duration, bars int) time.Duration {
	for _, w := range [...]time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		if span <= w*time.Duration(max(bars-1, 1)) {
			return w
		}
	}
	const day = 24 * time.Hour
	return day * (1 + span/day/time.Duration(max(bars-1, 1)))
}

// histogramCounter is one worker's share.
type histogramCounter struct {
	start       time.Time
	width       time.Duration
	counts      []uint64
	other, none []uint64
	series      map[string][]uint64
	operand     *operandReader
	bar         int

	seconds *secondsReader
	column  *columnReader // of operand; nil: it has none
	// Scratch, by code: the bar of a second, -1 where it has none; the bars of a value, nil until a
	// message has it.
	bars   []int
	values [][]uint64
}

func (c *histogramCounter) split(o *Operand, r *PageRequest) {
	c.other, c.none = make([]uint64, len(c.counts)), make([]uint64, len(c.counts))
	c.series = map[string][]uint64{}
	reader := newOperandReader(o, r, func(s *Scratch, d *datum) bool {
		c.barsOf(s, d)[c.bar]++
		return false
	})
	c.operand = &reader
}

// barsOf is where a value is counted.
func (c *histogramCounter) barsOf(s *Scratch, d *datum) []uint64 {
	text := s.displayed(d)
	text = text[:min(len(text), maxFacetText)]
	if bars, ok := c.series[string(text)]; ok {
		return bars
	}
	if len(c.series) == maxSeries {
		return c.other
	}
	bars := make([]uint64, len(c.counts))
	c.series[string(text)] = bars
	return bars
}

// segment adds up the bars of the seconds in the segment, and looks at a value once.
func (c *histogramCounter) segment(t *stretch, all []truths) {
	seconds := c.seconds.of(t.segment)
	var column *archive.Column
	if c.column != nil {
		column = c.column.of(t.segment)
	}
	if seconds == nil || seconds.Keyed() || c.operand != nil && (column == nil || column.Keyed()) {
		eachYes(c, t, all)
		return
	}
	c.bars = append(c.bars[:0], -1, -1, -1)
	for code := archive.FirstValue; int(code) < len(seconds.Counts()); code++ {
		since := secondOf(seconds.Value(code)).Sub(c.start)
		bar := int(since / c.width)
		if since < 0 || bar >= len(c.counts) {
			bar = -1
		}
		c.bars = append(c.bars, bar)
	}
	var codes []uint16
	if c.operand != nil {
		codes = column.Codes()
		c.values = slices.Grow(c.values[:0], len(column.Counts()))[:len(column.Counts())]
		clear(c.values)
		c.values[archive.NoValue], c.values[archive.Hidden] = c.none, c.none
	}
	for i, second := range seconds.Codes() {
		bar := c.bars[second]
		if all[i]&isYes == 0 || bar < 0 {
			continue
		}
		if codes == nil {
			c.counts[bar]++
			continue
		}
		code := codes[i]
		if code == archive.Unread {
			c.message(t.segment.At(i))
			continue
		}
		if c.values[code] == nil {
			c.values[code] = c.barsOf(&c.operand.scratch, c.column.load(column.Value(code)))
		}
		c.counts[bar]++
		c.values[code][bar]++
	}
}

func (c *histogramCounter) shape(uint16, uint64) bool { return false }

func (c *histogramCounter) message(m archive.Message) {
	since := m.Received().Sub(c.start)
	c.bar = int(since / c.width)
	if since < 0 || c.bar >= len(c.counts) {
		return
	}
	c.counts[c.bar]++
	if c.operand != nil && c.operand.read(m) == 0 {
		c.none[c.bar]++
	}
}
