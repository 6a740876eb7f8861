package sources

import (
	"context"
	"errors"
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
	ctx context.Context, f *query.Filter, r query.PageRequest, split *query.Operand, limit time.Duration,
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
	scan := v.scan(query.PageRequest{Dialect: r.Dialect, From: r.From, To: r.To})
	ended := func(err error) bool { return err != nil && !errors.Is(err, context.DeadlineExceeded) }
	switch {
	case split != nil:
		facet, err := f.Facet(ctx, v.snap, scan, split, mostValues)
		if ended(err) {
			return sum, err
		}
		sum.Facet = &facet
		if filtered || ranged {
			sum.Total = &query.Count{Matched: facet.Matched, Complete: facet.Complete, Explain: facet.Explain}
		}
	case ranged || filtered && f.ByShape(): // which reads next to nothing
		n, err := f.Count(ctx, v.snap, scan)
		if ended(err) {
			return sum, err
		}
		sum.Total = &n
	}
	switch {
	case ok && (filtered || split != nil):
		scan.From, scan.To = axis.from, axis.to
		h, err := f.Histogram(ctx, v.snap, scan, bars+2, split, mostOfTheBars)
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
		names, err := f.Names(ctx, v.snap, scan)
		if ended(err) {
			return sum, err
		}
		sum.Names = names
	}
	return sum, nil
}

// Whole is the summary of a filter without a range whose matches are all on one page, found, which
// therefore need not be looked for again. ok is false where there is nothing to draw it over.
func (v View) Whole(found query.Page) (sum Summary, ok bool) {
	axis, ok := v.axis(query.PageRequest{})
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
	return Summary{Histogram: h, Filtered: true, Total: total, Names: query.NamesOf(v.snap, found.Messages)}, true
}

// Arrivals is the histogram of everything within r, which costs next to nothing.
func (v View) Arrivals(r query.PageRequest) query.Histogram {
	axis, ok := v.axis(r)
	return v.arrivals(axis, ok)
}

func (v View) arrivals(a axis, ok bool) query.Histogram {
	if !ok {
		return query.Histogram{Complete: true}
	}
	h := v.snap.Histogram(a.from, a.to, bars)
	return query.Histogram{Start: h.From, Width: h.Step, Counts: h.Counts, Complete: true}
}

// axis is the time that a histogram covers, whole steps of it.
type axis struct {
	from, to time.Time
	step     time.Duration
}

// axis covers the time range asked for or everything kept. It has the same number of steps however
// little there is, so that a bar is as wide at first as later, and a short range is seen among what
// surrounds it. ok is false where nothing is kept.
func (v View) axis(r query.PageRequest) (_ axis, ok bool) {
	oldest, err := v.snap.Get(v.First())
	if err != nil {
		return axis{}, false
	}
	newest, err := v.snap.Get(v.Last())
	if err != nil {
		return axis{}, false
	}
	now := v.set.Now()
	// What was captured long ago would be a line at the edge of the time since.
	if v.set.Source.Status().State == source.Replayed {
		now = newest.Received().Add(1)
	}
	// Outside of what is kept there is nothing to see.
	from, to := r.From, r.To
	if from.Before(oldest.Received()) {
		from = oldest.Received()
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
