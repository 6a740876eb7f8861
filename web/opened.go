package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/opened"
	"github.com/headerglass/headerglass/web/sources"
)

// serveMessage serves one message: the whole page, or what stands in the inspector
// when htmx asks for it.
func (s *Server) serveMessage(w http.ResponseWriter, r *http.Request) error {
	req, err := s.parseAround(r)
	if err != nil {
		return err
	}
	v := s.sources.View()
	m, err := s.message(v, r)
	if err != nil {
		return err
	}
	partial := wantsPart(r)
	var p views.Page
	if partial || req.Full {
		p.Frame, p.Bar.Query = s.frame(req.State), req.Q
		p.Bar.Error, _ = errors.AsType[*query.Error](req.filterErr)
	} else if p.Page, err = s.listPage(r.Context(), v, req, m.Seq()); err != nil {
		return err
	}
	older, newer := neighbours(r.Context(), v, req, m.Seq(), p.List.Rows)
	p.Title = "#" + strconv.FormatUint(m.Seq(), 10)
	shown := s.factsOf(m)
	shown.Passage = v.Passage(v.Key(m.Seq()))
	o := opened.Build(shown, opened.Options{
		Links:    p.Links,
		Dialect:  req.dialect,
		Older:    older,
		Newer:    newer,
		Now:      p.Now,
		TraceURL: s.cfg.TraceURL,
		FrameMax: s.sources.Status().FrameMax,

		Counterpart: s.counterpart(v, shown),
	})
	p.Opened = &o
	if partial {
		return s.render(w, r, http.StatusOK, views.InspectorPane(p.Links, p.Opened, nil))
	}
	return s.render(w, r, http.StatusOK, views.Document(p))
}

// factsOf is everything that is kept of m. It counts as one full decode.
func (s *Server) factsOf(m archive.Message) facts.Message {
	s.fullDecodes.Add(1)
	encoded, ok := m.HeaderTable()
	h := m.Header()
	v := facts.Message{
		Seq:           m.Seq(),
		Received:      m.Received(),
		DeliveryTag:   m.DeliveryTag(),
		Redelivered:   m.Redelivered(),
		Exchange:      m.Exchange(),
		RoutingKey:    m.RoutingKey(),
		ConsumerTag:   m.ConsumerTag(),
		Headers:       encoded,
		HasHeaders:    ok,
		ContentHeader: h.Payload(),
		Body:          m.Body(),
		BodySize:      m.BodySize(),
	}
	if ok {
		v.HeadersOffset = h.HeaderTableOffset()
	}
	v.Removed = m.Removed()
	v.Properties, v.PropertiesErr = properties(h)
	return v
}

// counterpart is what a message was that passed through a relay, on its other way; nil where that
// is not known.
func (s *Server) counterpart(v sources.View, m facts.Message) *facts.Message {
	if m.Passage == nil {
		return nil
	}
	others := m.Passage.Published
	if m.Passage.Method == source.Publish {
		others = m.Passage.Delivered
	}
	if len(others) == 0 {
		return nil
	}
	other, err := v.Get(v.Key(others[0]))
	if err != nil {
		return nil
	}
	as := s.factsOf(other)
	return &as
}

// properties lists what is set in a content header, and says why the list ends
// early; "": it does not.
func properties(h wire.ContentHeader) (list []wire.Property, damage string) {
	for p, err := range h.All() {
		if err != nil {
			return list, err.Error()
		}
		list = append(list, p)
	}
	return list, ""
}

// neighbours are the messages before and after seq under the filter; 0 where there is none, or none
// is found in time. Those on the page beside it need not be looked for.
func neighbours(
	ctx context.Context, v sources.View, req request, seq uint64, rows []listing.Row,
) (older, newer uint64) {
	for i, r := range rows {
		if r.Seq != seq {
			continue
		}
		if i > 0 {
			newer = rows[i-1].Seq
		}
		if i+1 < len(rows) {
			older = rows[i+1].Seq
		}
	}
	if older == 0 {
		older = v.Older(ctx, req.filter, req.within(), seq)
	}
	if newer == 0 {
		newer = v.Newer(ctx, req.filter, req.within(), seq)
	}
	return older, newer
}
