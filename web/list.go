package web

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/sources"
)

// serveList serves the list of messages. A filter that does not compile is shown
// in its place with status 400, to who reads pages.
func (s *Server) serveList(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAround(r)
	if err != nil {
		return err
	}
	if word, ok := query.Lone(req.Q, req.view.Names()); ok && req.view.Kept() > 0 && !address.IsLong(req.Q) {
		// No header has this name: it is looked for everywhere.
		links := address.Links{Base: s.base, State: req.State}
		http.Redirect(w, r, links.Filter(query.Anywhere(word)), http.StatusSeeOther)
		return nil
	}
	page := func() (templ.Component, error) {
		p, err := s.listPage(r.Context(), req, archive.Message{})
		return views.Document(views.Page{Page: p}), err
	}
	if req.filterErr != nil {
		return &shownError{req.filterErr, func(failure) (templ.Component, error) { return page() }}
	}
	p, err := page()
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, p)
}

// listPage builds the page of the list that req asks for, with selected as
// the opened message; the zero Message opens none.
func (s *Server) listPage(ctx context.Context, req request, selected archive.Message) (listing.Page, error) {
	p := listing.Page{Frame: s.frame(&req)}
	v := req.view
	opened, last := address.Key{}, s.after(&req, v.End())
	if !selected.IsZero() {
		opened = address.Key(v.Key(selected))
	}
	p.Sources = s.overview()
	p.Bar = listing.QueryBar{
		Query: req.Q,
		Live:  req.filterErr == nil && req.Before == "" && !req.ascending() && growing(req.State),
		Run:   s.run,
	}
	if !s.cfg.NoExports {
		p.Bar.Exports, p.Bar.ExportLimit = exportForms(), s.cfg.ExportLimit
	}
	all := sources.Summary{Names: v.AllNames()}
	var err error
	if req.filterErr != nil {
		// What is clicked on replaces a filter that cannot be added to.
		p.Links.State.Q, p.Links.State.Facet = "", ""
		p.Chart = chart(sources.Summary{Histogram: v.Arrivals(req.within())}, req)
		p.Bar.Error, _ = errors.AsType[*query.Error](req.filterErr)
		p.List = listing.List{
			Total:    p.Broker.Kept.Messages,
			Empty:    listing.EmptyNoMatch,
			Selected: opened,
			Last:     last,
			Sourced:  s.together(&req),
		}
		return p, nil
	}
	if req.by != nil { // of everything that matches
		req.Before, req.After, req.Oldest, req.under, req.over = "", "", false, nil, nil
	}
	found, err := req.find(ctx)
	if err != nil {
		return p, err
	}
	page := fitting{
		view: v, gaps: p.Broker.Gaps, links: p.Links,
		list: listing.List{Selected: opened, Sourced: s.together(&req)},
	}
	shown, rows, err := page.fit(ctx, found.Messages, req)
	if err != nil {
		return p, err
	}
	if !selected.IsZero() && req.by == nil && req.Before == "" && !req.ascending() && !contains(shown, selected) {
		req.under = v.Above(selected)
		req.Before, p.Bar.Live = s.before(&req, req.under), false
		if found, err = v.Find(ctx, req.filter, req.within()); err != nil {
			return p, err
		}
		if shown, rows, err = page.fit(ctx, found.Messages, req); err != nil {
			return p, err
		}
	}
	if req.ascending() && len(found.Messages) < req.limit && len(shown) == len(found.Messages) {
		// What came after the cursor does not fill a page: show the newest.
		req.After, req.Oldest, req.over = "", false, nil
		if found, err = v.Find(ctx, req.filter, req.within()); err != nil {
			return p, err
		}
		p.Bar.Live = growing(req.State)
		if shown, rows, err = page.fit(ctx, found.Messages, req); err != nil {
			return p, err
		}
	}
	p.List = listing.List{
		Rows:       rows,
		Cut:        len(shown) < len(found.Messages),
		Total:      p.Broker.Kept.Messages,
		Selected:   opened,
		Incomplete: !found.Complete && (req.by != nil || len(found.Messages) < req.limit),
		Last:       last,
		Sourced:    s.together(&req),
	}
	if found.Next != nil {
		p.List.Older = s.before(&req, found.Next)
	}
	p.List.Columns = columns(req.Columns, p.List.Rows)
	from := req.over // where the page begins
	if !req.ascending() {
		if from = req.under; from == nil {
			from = v.End()
		}
	}
	if len(shown) > 0 && req.by == nil && (p.List.Cut || req.ascending()) {
		p.List.Older = ""
		if older := v.Lowest(shown, from); v.Reaches(older) {
			p.List.Older = s.before(&req, older)
		}
	}
	if (req.Before != "" || req.ascending()) && len(shown) > 0 {
		p.List.Newer = s.after(&req, v.Highest(shown, from))
	}
	if len(found.Messages) == 0 {
		p.List.Empty = emptyReason(v, req)
		p.List.NewerIsLatest = req.Before != ""
		if p.List.Empty == listing.EmptyNoMatch {
			p.List.Notes = notes(req, v)
		}
	}
	sum, err := s.summaryOfPage(ctx, v, req, found)
	switch {
	case errors.Is(err, budget.ErrBusy):
		// The page asks again by itself; until then it has what costs nothing.
		sum = all
		sum.Histogram, sum.Names.Complete = v.Arrivals(req.within()), false
		sum.Histogram.Complete = false
	case err != nil:
		return p, err
	}
	p.Chart, p.List.Count = chart(sum, req), sum.Total
	if p.Facet, err = facet(v, sum, req).Fit(ctx, p.Chart, p.Links, room(maxFacetBytes, p.Links)); err != nil {
		return p, err
	}
	if p.Keys, err = namesPanel(ctx, sum, req, p.Facet, p.Links); err != nil {
		return p, err
	}
	if req.filter.MatchesAll() && sum.Total == nil {
		return p, nil
	}
	if sum.Total == nil || sum.Total.Matched < found.Matched {
		p.List.Count = &query.Count{Matched: found.Matched, Explain: found.Explain}
	}
	if p.List.Text, _ = req.filter.Anywhere(); p.List.Text != "" && len(found.Messages) > 0 {
		p.List.Where, err = v.Whereabouts(ctx, req.filter, req.within(), p.List.Text, pageTime)
		if err != nil {
			return p, err
		}
	}
	if !address.IsLong(req.Q) {
		p.Bar.Chips = chips(req.filter)
	}
	p.Bar.Explain = &found.Explain
	return p, nil
}

// maxRowsBytes is how much of a page its rows take, drawn.
const maxRowsBytes = 120_000

// fitting draws the rows of a page.
type fitting struct {
	view  sources.View
	gaps  []source.Gap
	links address.Links
	list  listing.List // what it says about its rows
}

// fit is as many of the messages found, newest first, as a page has room for: those next to its
// cursor, and one at least; and their rows, drawn.
func (f fitting) fit(
	ctx context.Context, ms []archive.Message, req request,
) ([]archive.Message, []listing.Row, error) {
	l := f.list
	l.Rows = rows(f.view, ms, req, f.gaps)
	if req.ascending() {
		slices.Reverse(l.Rows)
	}
	err := l.Fit(ctx, f.links, room(maxRowsBytes, f.links))
	if req.ascending() {
		slices.Reverse(l.Rows)
		return ms[len(ms)-len(l.Rows):], l.Rows, err
	}
	return ms[:len(l.Rows)], l.Rows, err
}

// notes say why nothing matches. What they propose stands in links whole, so that a long filter has
// none.
func notes(req request, v sources.View) []query.Note {
	if address.IsLong(req.Q) {
		return nil
	}
	filter := req.filter
	if text, ok := filter.Anywhere(); ok {
		// It may have been meant as a name.
		named, err := query.Compile(text)
		if err != nil {
			return nil
		}
		filter = named
	}
	var notes []query.Note
	for _, n := range filter.Notes(v.Names()) {
		n.Readings = slices.DeleteFunc(n.Readings, func(reading string) bool { return reading == req.filter.String() })
		notes = append(notes, n)
	}
	return notes
}

// growing reports whether new messages can be put above a page of q.
func growing(q address.State) bool {
	return q.To.IsZero() && q.Sort.Path == "" && !q.Damaged
}

// chips parts a filter into its conditions.
func chips(q *query.Filter) []listing.Chip {
	conditions := q.Conjuncts()
	var cs []listing.Chip
	for i, c := range conditions {
		rest := slices.Delete(slices.Clone(conditions), i, i+1)
		cs = append(cs, listing.Chip{Text: c, Without: strings.Join(rest, " AND ")})
	}
	return cs
}

func emptyReason(v sources.View, req request) listing.EmptyReason {
	switch {
	case v.Kept() == 0:
		return listing.EmptyNoMessages
	case req.under != nil && !v.Reaches(req.under):
		return listing.EmptyEndOfList
	}
	return listing.EmptyNoMatch
}

func contains(ms []archive.Message, one archive.Message) bool {
	return slices.ContainsFunc(ms, func(m archive.Message) bool {
		return m.Seq() == one.Seq() && m.Origin() == one.Origin()
	})
}

// columns are the extra columns, with the types that their cells have.
func columns(paths []string, rows []listing.Row) []listing.Column {
	cs := make([]listing.Column, 0, len(paths))
	for i, path := range paths {
		c := listing.Column{Path: path}
		for _, r := range rows {
			if cell := r.Cells[i]; (cell.Set || cell.Removed) && cell.IsHeader() &&
				!slices.Contains(c.Tags, cell.Value.Tag()) {
				c.Tags = append(c.Tags, cell.Value.Tag())
			}
		}
		slices.Sort(c.Tags)
		cs = append(cs, c)
	}
	return cs
}

// previewKeys is how many header names a row previews.
const previewKeys = 6

func rows(v sources.View, ms []archive.Message, req request, gaps []source.Gap) []listing.Row {
	rs := make([]listing.Row, 0, len(ms))
	var scratch query.Scratch
	for _, m := range ms {
		r := row(v, m, req, &scratch)
		r.Undecided = req.Damaged && r.Damaged && req.filter.Match(m, req.dialect, &scratch) == query.Damaged
		rs = append(rs, r)
	}
	if req.Sort.Path == "" && len(gaps) > 0 {
		fillGaps(v, rs, gaps)
	}
	return rs
}

// fillGaps puts each gap under the first message after it, as far as a row is the next one or the
// message that arrived before the last row is still there to tell.
func fillGaps(v sources.View, rs []listing.Row, gaps []source.Gap) {
	for i := range rs {
		var below time.Time
		if i+1 < len(rs) {
			below = rs[i+1].Received
		} else if m, err := v.Get(sources.Key{Source: rs[i].Source, Seq: rs[i].Seq - 1}); err == nil {
			below = m.Received()
		}
		for _, g := range slices.Backward(gaps) {
			if !g.To.After(rs[i].Received) && !g.From.Before(below) {
				rs[i].Gaps = append(rs[i].Gaps, g)
			}
		}
	}
}

// row draws a message from its record, its marks and its shape; only a column
// reads its table, as far as the column's path.
func row(v sources.View, m archive.Message, req request, scratch *query.Scratch) listing.Row {
	encoded, ok := m.HeaderTable()
	marks := m.Marks()
	k := v.Key(m)
	r := listing.Row{
		Source:      k.Source,
		Seq:         k.Seq,
		Received:    m.Received(),
		Exchange:    m.Exchange(),
		RoutingKey:  m.RoutingKey(),
		Method:      m.Method(),
		Redelivered: m.Redelivered(),
		NoHeaders:   !ok,
		HeaderCount: marks.HeaderCount,
		HeaderBytes: len(encoded),
		BodyBytes:   m.BodySize(),
		BodyKept:    len(m.Body()),
		Damaged:     marks.Damaged,
		Duplicates:  marks.Duplicates,
		Redacted:    m.Redacted(),
	}
	for _, n := range v.Preview(m, previewKeys) {
		if n.Times > 1 {
			n.Name += " ×" + kit.Num(n.Times)
		}
		r.Keys = append(r.Keys, n.Name)
	}
	for _, o := range req.columns {
		c := o.Cell(m, req.dialect, scratch)
		if c.IsHeader() {
			c.Text = cellText(c.Value)
		} else {
			// what scratch holds is used again
			c.Text = bytes.Clone(c.Text[:min(len(c.Text), maxCellBytes)])
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

// maxCellBytes is how much of a long value a cell gets to show.
const maxCellBytes = 1 << 10

// cellText is the displayed text of v, its beginning where it is long.
func cellText(v fieldtable.Value) []byte {
	if text, ok := v.Text(); ok {
		return text[:min(len(text), maxCellBytes)]
	}
	if octets, ok := v.Bytes(); ok {
		return hex.AppendEncode(nil, octets[:min(len(octets), maxCellBytes/2)])
	}
	return v.AppendText(nil)
}
