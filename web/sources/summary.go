package sources

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/budget"
)

const (
	bars          = 120 // of a histogram
	mostValues    = 20  // of a facet
	mostOfTheBars = 5   // values that the bars are split by
)

// Summary is what messages that match add up to.
type Summary struct {
	// Histogram is over the time of receipt: of what matches where Filtered, and else of
	// everything. Its Counts are nil where nothing is kept. It is not complete where time ran out.
	Histogram query.Histogram
	Filtered  bool
	// Facet is the values of the operand asked for; nil: none was.
	Facet *query.Facet
	// Total is how many match; nil: nothing filters.
	Total *query.Count
	// Names are the header names of what matches, or of everything.
	Names query.Names
}

// Summarise counts what matches f within r, until ctx is done or limit is over: then the parts say
// that they are not complete. Where split is not nil, its values are counted and split the
// histogram. Without a filter, a range and a split no message is read. It waits its turn as Find
// does.
func (v View) Summarise(
	ctx context.Context, f *query.Filter, r Request, split *query.Operand, limit time.Duration,
) (Summary, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	sum := Summary{Histogram: query.Histogram{Complete: true}, Names: v.AllNames()}
	axis, ok := v.axis(r)
	filtered := !f.MatchesAll()
	ranged := !r.From.IsZero() || !r.To.IsZero()
	if filtered || ranged || split != nil {
		release, err := v.set.Queries.Acquire(ctx)
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				err = budget.ErrBusy
			}
			return sum, err
		}
		defer release()
	}
	scan := Request{PageRequest: query.PageRequest{Dialect: r.Dialect, From: r.From, To: r.To}}
	ended := func(err error) bool { return err != nil && !errors.Is(err, context.DeadlineExceeded) }
	switch {
	case split != nil:
		facet, err := v.facet(ctx, f, scan, split)
		if ended(err) {
			return sum, err
		}
		sum.Facet = &facet
		if filtered || ranged {
			sum.Total = &query.Count{Matched: facet.Matched, Complete: facet.Complete, Explain: facet.Explain}
		}
	case ranged || filtered && f.ByShape(): // which reads next to nothing
		n, err := v.count(ctx, f, scan)
		if ended(err) {
			return sum, err
		}
		sum.Total = &n
	}
	switch {
	case ok && (filtered || split != nil):
		scan.From, scan.To = axis.from, axis.to
		h, err := v.histogram(ctx, f, scan, split)
		if ended(err) {
			return sum, err
		}
		sum.Histogram, sum.Filtered = h, filtered
		if sum.Total == nil && filtered { // the axis covers everything kept
			sum.Total = &query.Count{Matched: h.Matched, Complete: h.Complete, Explain: h.Explain}
		}
	case split == nil:
		sum.Histogram = v.arrivals(axis, ok)
	}
	if filtered || ranged {
		scan.From, scan.To = r.From, r.To
		names, err := v.matchedNames(ctx, f, scan)
		if ended(err) {
			return sum, err
		}
		sum.Names = names
	}
	return sum, nil
}

// count counts in one source after the other: each of them is read on all cores.
func (v View) count(ctx context.Context, f *query.Filter, r Request) (sum query.Count, err error) {
	sum.Complete = true
	for i, snap := range v.snaps {
		n, err := f.Count(ctx, snap, v.scan(i, r))
		sum.Matched += n.Matched
		sum.Complete = sum.Complete && n.Complete
		sum.Filter, sum.Keys = n.Filter, n.Keys
		addScan(&sum.Explain, n.Explain)
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func addScan(to *query.Explain, of query.Explain) {
	add(to, of, true)
	to.Elapsed += of.Elapsed
}

// told is how many values of each source are told apart before they are put together.
const told = 10_000

// facet counts the values of an operand in all sources.
func (v View) facet(ctx context.Context, f *query.Filter, r Request, split *query.Operand) (query.Facet, error) {
	if len(v.snaps) == 1 {
		return f.Facet(ctx, v.snaps[0], v.scan(0, r), split, mostValues)
	}
	sum := query.Facet{Operand: split.String(), Tags: map[byte]uint64{}, Complete: true}
	counts := map[query.FacetValue]uint64{} // by the value with no count
	for i, snap := range v.snaps {
		one, err := f.Facet(ctx, snap, v.scan(i, r), split, told)
		sum.Operand = one.Operand
		sum.Matched += one.Matched
		sum.With += one.With
		sum.Other += one.Other
		sum.Bounded = sum.Bounded || one.Bounded
		sum.Complete = sum.Complete && one.Complete
		sum.Filter, sum.Keys = one.Filter, one.Keys
		addScan(&sum.Explain, one.Explain)
		for tag, n := range one.Tags {
			sum.Tags[tag] += n
		}
		for _, value := range one.Values {
			n := value.Count
			value.Count = 0
			counts[value] += n
		}
		if err != nil {
			return sum, err
		}
	}
	for value, n := range counts {
		value.Count = n
		sum.Values = append(sum.Values, value)
	}
	slices.SortFunc(sum.Values, func(a, b query.FacetValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text), cmp.Compare(a.Tag, b.Tag))
	})
	most := min(mostValues, len(sum.Values))
	for _, value := range sum.Values[most:] {
		sum.Other += value.Count
	}
	sum.Values = sum.Values[:most]
	return sum, nil
}

// histogram is the bars of all sources over the time of r.
func (v View) histogram(
	ctx context.Context, f *query.Filter, r Request, split *query.Operand,
) (sum query.Histogram, err error) {
	if len(v.snaps) == 1 {
		return f.Histogram(ctx, v.snaps[0], v.scan(0, r), bars+2, split, mostOfTheBars)
	}
	sum.Complete = true
	series := map[string]*query.Series{}
	for i, snap := range v.snaps {
		one, err := f.Histogram(ctx, snap, v.scan(i, r), bars+2, split, told)
		if i == 0 {
			sum.Start, sum.Width = one.Start, one.Width
			sum.Counts, sum.Other, sum.None = one.Counts, one.Other, one.None
		} else {
			addBars(sum.Counts, one.Counts)
			addBars(sum.Other, one.Other)
			addBars(sum.None, one.None)
		}
		sum.Matched += one.Matched
		sum.Complete = sum.Complete && one.Complete
		sum.Filter, sum.Keys = one.Filter, one.Keys
		addScan(&sum.Explain, one.Explain)
		for _, s := range one.Series {
			if have := series[s.Text]; have != nil {
				addBars(have.Counts, s.Counts)
				have.Total += s.Total
			} else {
				series[s.Text] = &s
			}
		}
		if err != nil {
			return sum, err
		}
	}
	for _, s := range slices.SortedFunc(maps.Values(series), func(a, b *query.Series) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Text, b.Text))
	}) {
		if len(sum.Series) < mostOfTheBars {
			sum.Series = append(sum.Series, *s)
		} else {
			addBars(sum.Other, s.Counts)
		}
	}
	return sum, nil
}

func addBars(to, from []uint64) {
	for i, n := range from[:min(len(from), len(to))] {
		to[i] += n
	}
}

// Whereabouts counts where what matches has a text, until ctx is done or limit is over; then it is
// empty. It waits its turn as Find does.
func (v View) Whereabouts(
	ctx context.Context, f *query.Filter, r Request, text string, limit time.Duration,
) ([]query.Whereabouts, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	release, err := v.set.Queries.Acquire(ctx)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, budget.ErrBusy) {
			return nil, nil
		}
		return nil, err
	}
	defer release()
	counts := map[string]uint64{}
	for i, snap := range v.snaps {
		within := Request{PageRequest: query.PageRequest{Dialect: r.Dialect, From: r.From, To: r.To}}
		found, err := f.Whereabouts(ctx, snap, v.scan(i, within), text, told)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, w := range found {
			counts[w.Operand] += w.Count
		}
	}
	var all []query.Whereabouts
	for operand, n := range counts {
		all = append(all, query.Whereabouts{Operand: operand, Count: n})
	}
	slices.SortFunc(all, func(a, b query.Whereabouts) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Operand, b.Operand))
	})
	return all[:min(len(all), mostOfTheBars)], nil
}

// Whole is the summary of a filter without a range whose matches are all on one page, found, which
// therefore need not be looked for again. ok is false where there is nothing to draw it over.
func (v View) Whole(found Page) (sum Summary, ok bool) {
	axis, ok := v.axis(Request{})
	if !ok || !found.Complete {
		return Summary{}, false
	}
	h := query.Histogram{Start: axis.from, Width: axis.step, Counts: make([]uint64, bars), Complete: true}
	for _, m := range found.Messages {
		if i := m.Received().Sub(axis.from) / axis.step; i >= 0 && i < bars {
			h.Counts[i]++
		}
	}
	total := &query.Count{Matched: found.Matched, Complete: true, Explain: found.Explain}
	return Summary{Histogram: h, Filtered: true, Total: total, Names: v.namesOf(found.Messages)}, true
}

// Arrivals is the histogram of everything within r, which costs next to nothing.
func (v View) Arrivals(r Request) query.Histogram {
	axis, ok := v.axis(r)
	return v.arrivals(axis, ok)
}

func (v View) arrivals(a axis, ok bool) query.Histogram {
	if !ok {
		return query.Histogram{Complete: true}
	}
	sum := query.Histogram{Complete: true}
	for i, snap := range v.snaps {
		h := snap.Histogram(a.from, a.to, bars)
		if i == 0 {
			sum.Start, sum.Width, sum.Counts = h.From, h.Step, h.Counts
			continue
		}
		// Sources count by the second or by the minute, whichever they still can.
		for j, n := range h.Counts {
			at := h.From.Add(time.Duration(j) * h.Step).Sub(sum.Start)
			if bar := int(at / sum.Width); n > 0 && at >= 0 && bar < len(sum.Counts) {
				sum.Counts[bar] += n
			}
		}
	}
	return sum
}

// axis is the time that a histogram covers, whole steps of it.
type axis struct {
	from, to time.Time
	step     time.Duration
}

// axis covers the time range asked for or everything kept. It has the same number of steps however
// little there is, so that a bar is as wide at first as later, and a short range is seen among what
// surrounds it. ok is false where nothing is kept.
func (v View) axis(r Request) (_ axis, ok bool) {
	var oldest, newest time.Time
	replayed := true
	for i, snap := range v.snaps {
		first, err := snap.Get(snap.First())
		if err != nil {
			continue
		}
		last, err := snap.Get(snap.Last())
		if err != nil {
			continue
		}
		if at := first.Received(); oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
		if at := last.Received(); newest.IsZero() || at.After(newest) {
			newest = at
		}
		replayed = replayed && v.members[i].Status().State == source.Replayed
	}
	if oldest.IsZero() {
		return axis{}, false
	}
	now := v.set.Now()
	// What was captured long ago would be a line at the edge of the time since.
	if replayed {
		now = newest.Add(1)
	}
	// Outside of what is kept there is nothing to see.
	from, to := r.From, r.To
	if from.Before(oldest) {
		from = oldest
	}
	if to.IsZero() || to.After(now) {
		to = now
	}
	if !from.Before(to) {
		from = to.Add(-time.Second)
	}
	a := axis{step: query.BarWidth(to.Sub(from), bars)}
	// A range that was asked for stands in the middle of a longer axis.
	if spare := bars*a.step - to.Sub(from); to.Before(now) && spare > 0 {
		to = to.Add(spare / 2)
		if to.After(now) {
			to = now
		}
	}
	a.to = to.Truncate(a.step)
	if a.to.Before(to) {
		a.to = a.to.Add(a.step)
	}
	a.from = a.to.Add(-bars * a.step)
	return a, true
}
