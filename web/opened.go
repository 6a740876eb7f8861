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
	"github.com/headerglass/headerglass/views/address"
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
	m, ok, err := s.linked(w, r, req)
	if !ok {
		return err
	}
	partial := wantsPart(r)
	var p views.Page
	if partial || req.Full {
		p.Frame, p.Bar.Query = s.frame(&req), req.Q
		p.Bar.Error, _ = errors.AsType[*query.Error](req.filterErr)
	} else if p.Page, err = s.listPage(r.Context(), req, m); err != nil {
		return err
	}
	older, newer := neighbours(r.Context(), req, m, p.List.Rows)
	p.Title = "#" + strconv.FormatUint(m.Seq(), 10)
	shown := s.factsOf(req.view, m)
	shown.Passage = req.view.Passage(m)
	o := opened.Build(shown, opened.Options{
		Links:    p.Links,
		Dialect:  req.dialect,
		Older:    older,
		Newer:    newer,
		Now:      p.Now,
		TraceURL: s.cfg.TraceURL,
		FrameMax: s.frameMax(req.view, m),
		Print:    printed(m),

		Counterpart: s.counterpart(req.view, shown),
	})
	p.Opened = &o
	if partial {
		return s.render(w, r, http.StatusOK, views.InspectorPane(p.Links, p.Opened, nil))
	}
	return s.render(w, r, http.StatusOK, views.Document(p))
}

// frameMax is the largest frame that was agreed upon with the broker which m comes from.
func (s *Server) frameMax(v sources.View, m archive.Message) int {
	if one, err := v.Alone(v.Key(m).Source); err == nil {
		return one.Status().FrameMax
	}
	return 0
}

// factsOf is everything that is kept of m. It counts as one full decode.
func (s *Server) factsOf(from sources.View, m archive.Message) facts.Message {
	s.fullDecodes.Add(1)
	encoded, ok := m.HeaderTable()
	h := m.Header()
	v := facts.Message{
		Source:        from.Key(m).Source,
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
	other, err := v.Get(sources.Key{Source: m.Source, Seq: others[0]})
	if err != nil {
		return nil
	}
	as := s.factsOf(v, other)
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

// neighbours are the messages before and after m under the filter; the zero Key where there is
// none, or none is found in time. Those on the page beside it need not be looked for.
func neighbours(
	ctx context.Context, req request, m archive.Message, rows []listing.Row,
) (older, newer address.Key) {
	v := req.view
	for i, r := range rows {
		if r.Key() != address.Key(v.Key(m)) {
			continue
		}
		if i > 0 {
			newer = rows[i-1].Key()
		}
		if i+1 < len(rows) {
			older = rows[i+1].Key()
		}
	}
	if older.Seq == 0 {
		if other := v.Older(ctx, req.filter, req.within(), m); !other.IsZero() {
			older = address.Key(v.Key(other))
		}
	}
	if newer.Seq == 0 {
		if other := v.Newer(ctx, req.filter, req.within(), m); !other.IsZero() {
			newer = address.Key(v.Key(other))
		}
	}
	return older, newer
}
