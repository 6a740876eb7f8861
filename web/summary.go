package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
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
	total *listing.Total // nil where nothing filters
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
			Operand: req.Facet,
			Error:   &listing.QueryError{Offset: operandErr.Offset, End: operandErr.End, Msg: operandErr.Msg},
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
		sum.facet = facet(f, snap)
		if filtered || ranged {
			sum.total = &listing.Total{Matched: f.Matched, Damaged: f.Damaged, Complete: f.Complete}
		}
	case ranged || filtered && req.filter.ByShape(): // which reads next to nothing
		n, err := req.filter.Count(ctx, snap, scan)
		if ended(err) {
			return sum, err
		}
		sum.total = &listing.Total{Matched: n.Matched, Damaged: n.Damaged, Complete: n.Complete}
	}
	if ok && (filtered || split != nil) {
		scan.From, scan.To = axis.from, axis.to
		h, err := req.filter.Histogram(ctx, snap, scan, maxBuckets+2, split, maxSeries)
		if ended(err) {
			return sum, err
		}
		sum.chart = bars(h)
		sum.chart.Filtered = filtered
		if sum.total == nil && filtered { // the axis covers everything kept
			sum.total = &listing.Total{Matched: h.Matched, Damaged: h.Damaged, Complete: h.Complete}
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
		chart: listing.Histogram{Step: axis.step, Filtered: true},
		total: &listing.Total{Matched: found.Matched, Damaged: found.Damaged, Complete: true},
	}
	for i := range maxBuckets {
		sum.chart.Buckets = append(sum.chart.Buckets, listing.Bucket{Start: axis.from.Add(time.Duration(i) * axis.step)})
	}
	for _, m := range found.Messages {
		if i := m.Received().Sub(axis.from) / axis.step; i >= 0 && i < maxBuckets {
			sum.chart.Buckets[i].Count++
		}
	}
	return sum, true
}

// facet draws what was counted.
func facet(f query.Facet, snap archive.Snapshot) *listing.Facet {
	v := &listing.Facet{
		Operand: f.Operand,
		Matched: f.Matched,
		With:    f.With,
		Other:   f.Other,
		Bounded: f.Bounded,
		Partial: !f.Complete,
		Looked:  f.Scanned + f.Skipped,
		Kept:    snap.Last() - min(snap.First()-1, snap.Last()),
	}
	for _, value := range f.Values {
		v.Values = append(v.Values, listing.FacetValue{
			Text:   []byte(value.Text),
			Cut:    value.Cut,
			Tag:    value.Tag,
			Count:  value.Count,
			Filter: value.Filter(f.Operand),
		})
	}
	for tag, n := range f.Tags {
		v.Types = append(v.Types, listing.TagCount{Tag: tag, Count: n})
	}
	slices.SortFunc(v.Types, func(a, b listing.TagCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tag, b.Tag))
	})
	return v
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
		return listing.Histogram{}
	}
	h := snap.Histogram(a.from, a.to, maxBuckets)
	c := listing.Histogram{Step: h.Step}
	for i, n := range h.Counts {
		c.Buckets = append(c.Buckets, listing.Bucket{Start: h.From.Add(time.Duration(i) * h.Step), Count: n})
	}
	return c
}

// bars draws a histogram of what matches.
func bars(h query.Histogram) listing.Histogram {
	c := listing.Histogram{Step: h.Width, Partial: !h.Complete}
	for _, s := range h.Series {
		c.Series = append(c.Series, listing.Series{Text: []byte(s.Text), Total: s.Total})
	}
	for i, n := range h.Counts {
		b := listing.Bucket{Start: h.Start.Add(time.Duration(i) * h.Width), Count: n}
		for _, s := range h.Series {
			b.Parts = append(b.Parts, s.Counts[i])
		}
		c.Buckets = append(c.Buckets, b)
	}
	return c
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
