package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/web/budget"
)

// What a page says about everything that its filter matches: how many there
// are, when they arrived, and the values of one header. A page gets as much of
// it as fits into pageTime; /summary counts to the end.
const (
	pageTime    = 100 * time.Millisecond
	summaryTime = 20 * time.Second
	liveTime    = 100 * time.Millisecond
)

const (
	maxBuckets     = 120 // bars of the histogram
	maxFacetValues = 20
	maxSeries      = 5 // values that the bars are split by
)

// summary is what was counted.
type summary struct {
	chart listing.Histogram
	facet *listing.Facet
	total *query.Count // nil where nothing filters
}

// summarise counts until ctx is done or limit is over; then the parts say that
// they are not whole. Without a filter and a facet no message is read.
func (s *Server) summarise(
	ctx context.Context,
	snap archive.Snapshot,
	req request,
	limit time.Duration,
) (summary, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var sum summary
	var split *query.Operand
	var operandErr *query.Error
	if req.Facet != "" {
		var err error
		if split, err = query.CompileOperand(req.Facet); err != nil && !errors.As(err, &operandErr) {
			return sum, err
		}
	}
	axis, ok := s.axis(snap, req.State)
	filtered := !req.filter.MatchesAll()
	ranged := !req.From.IsZero() || !req.To.IsZero()
	scan := query.PageRequest{Dialect: req.dialect, ArchiveDialect: s.archive.Dialect()}

	if operandErr != nil {
		sum.facet = &listing.Facet{
			Facet: query.Facet{Operand: req.Facet}, Error: operandErr,
		}
	}
	if filtered || ranged || split != nil {
		release, err := s.queries.Acquire(ctx)
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				err = budget.ErrBusy
			}
			return sum, err
		}
		defer release()
	}
	ended := func(err error) bool { return err != nil && !errors.Is(err, context.DeadlineExceeded) }
	scan.From, scan.To = req.From, req.To
	switch {
	case split != nil:
		f, err := req.filter.Facet(ctx, snap, scan, split, maxFacetValues)
		if ended(err) {
			return sum, err
		}
		sum.facet = &listing.Facet{Facet: f, Kept: snap.Last() - min(snap.First()-1, snap.Last())}
		if filtered || ranged {
			sum.total = &query.Count{Matched: f.Matched, Complete: f.Complete, Explain: f.Explain}
		}
	case ranged || filtered && req.filter.ByShape(): // which reads next to nothing
		n, err := req.filter.Count(ctx, snap, scan)
		if ended(err) {
			return sum, err
		}
		sum.total = &n
	}
	if ok && (filtered || split != nil) {
		scan.From, scan.To = axis.from, axis.to
		h, err := req.filter.Histogram(ctx, snap, scan, maxBuckets+2, split, maxSeries)
		if ended(err) {
			return sum, err
		}
		sum.chart = listing.Histogram{Histogram: h, Filtered: filtered}
		if sum.total == nil && filtered { // the axis covers everything kept
			sum.total = &query.Count{Matched: h.Matched, Complete: h.Complete, Explain: h.Explain}
		}
	} else if split == nil {
		sum.chart = arrivals(snap, axis, ok)
	}
	sum.chart.From, sum.chart.To = req.From, req.To
	return sum, nil
}

// wholly is the summary of a filter whose matches are all on one page, which
// therefore need not be looked for again.
func (s *Server) wholly(snap archive.Snapshot, req request, found query.Page) (summary, bool) {
	axis, ok := s.axis(snap, req.State)
	if !ok || !found.Complete || req.filter.MatchesAll() || req.Damaged || req.Facet != "" ||
		req.Before != 0 || req.After != 0 || !req.From.IsZero() || !req.To.IsZero() {
		return summary{}, false
	}
	sum := summary{
		chart: listing.Histogram{Filtered: true, Histogram: query.Histogram{
			Start: axis.from, Width: axis.step, Counts: make([]uint64, maxBuckets), Complete: true,
		}},
		total: &query.Count{Matched: found.Matched, Complete: true, Explain: found.Explain},
	}
	for _, m := range found.Messages {
		if i := m.Received().Sub(axis.from) / axis.step; i >= 0 && i < maxBuckets {
			sum.chart.Counts[i]++
		}
	}
	return sum, true
}

// axis is the time that the histogram covers, whole steps of it.
type axis struct {
	from, to time.Time
	step     time.Duration
}

// axis covers the time range asked for or everything kept. It has the same
// number of steps however little there is, so that a bar is as wide at first as
// later, and a short range is seen among what surrounds it.
func (s *Server) axis(snap archive.Snapshot, q address.State) (axis, bool) {
	oldest, err := snap.Get(snap.First())
	if err != nil {
		return axis{}, false
	}
	newest, err := snap.Get(snap.Last())
	if err != nil {
		return axis{}, false
	}
	now := s.cfg.Now()
	// What was captured long ago would be a line at the edge of the time since.
	if s.cfg.Broker().State == source.Replayed {
		now = newest.Received().Add(1)
	}
	// Outside of what is kept there is nothing to see.
	from, to := q.From, q.To
	if from.Before(oldest.Received()) {
		from = oldest.Received()
	}
	if to.IsZero() || to.After(now) {
		to = now
	}
	if !from.Before(to) {
		from = to.Add(-time.Second)
	}
	a := axis{step: query.BarWidth(to.Sub(from), maxBuckets)}
	// A range that was asked for stands in the middle of a longer axis.
	if spare := maxBuckets*a.step - to.Sub(from); to.Before(now) && spare > 0 {
		to = to.Add(spare / 2)
		if to.After(now) {
			to = now
		}
	}
	a.to = to.Truncate(a.step)
	if a.to.Before(to) {
		a.to = a.to.Add(a.step)
	}
	a.from = a.to.Add(-maxBuckets * a.step)
	return a, true
}

// arrivals counts everything that has arrived, from the archive's counters.
func arrivals(snap archive.Snapshot, a axis, ok bool) listing.Histogram {
	if !ok {
		return listing.Histogram{Histogram: query.Histogram{Complete: true}}
	}
	h := snap.Histogram(a.from, a.to, maxBuckets)
	return listing.Histogram{Histogram: query.Histogram{Start: h.From, Width: h.Step, Counts: h.Counts, Complete: true}}
}

// parts are the components of a page that a summary is drawn in.
type parts struct {
	Chart string `json:"chart"`
	Facet string `json:"facet"`
	Total string `json:"total"`
}

func (sum summary) draw(ctx context.Context, links address.Links) (parts, error) {
	var p parts
	var buf bytes.Buffer
	err := listing.Chart(sum.chart, links).Render(ctx, &buf)
	p.Chart = buf.String()
	buf.Reset()
	err = errors.Join(err, listing.FacetPanel(sum.facet, sum.chart, links).Render(ctx, &buf))
	p.Facet = buf.String()
	buf.Reset()
	if sum.total != nil {
		err = errors.Join(err, listing.TotalLine(*sum.total, links).Render(ctx, &buf))
		p.Total = buf.String()
	}
	return p, err
}

// serveSummary answers a page that was drawn before everything was counted.
func (s *Server) serveSummary(w http.ResponseWriter, r *http.Request) error {
	req, filterErr, err := s.parse(r)
	if err == nil {
		err = filterErr
	}
	if err != nil {
		return err
	}
	sum, err := s.summarise(r.Context(), s.archive.Snapshot(), req, summaryTime)
	if err != nil {
		return err
	}
	p, err := sum.draw(r.Context(), address.Links{Base: s.base, State: req.State})
	if err != nil {
		return err
	}
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return writeJSON(w, b)
}
