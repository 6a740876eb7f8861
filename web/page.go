package web

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/headerglass/headerglass/views"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/web/sources"
)

// frame is what every page has around its content.
func (s *Server) frame(req *request) shell.Frame {
	return shell.Frame{
		Links:  s.links(req),
		Assets: s.assets,
		Broker: req.view.Status(),
		Now:    s.cfg.Now(),
	}
}

// errorPage writes f as a page of its own, or as the inspector's content when
// htmx asks for that.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, f failure) {
	// The state in the address is worth keeping as far as it can be read; the
	// parse of a broken part is what may have failed.
	values, _ := url.ParseQuery(r.URL.RawQuery)
	q, bad := address.Parse(values)
	if len(bad) > 0 {
		q = address.State{}
	}
	req := request{State: q, view: s.sources.View()}
	if v, name, err := s.view(r, q); err == nil {
		req.view, req.source = v, name
	}
	frame, problem := s.frame(&req), s.problem(req.view, f)
	frame.Title = problem.Title
	page := views.ErrorPage(frame, problem)
	if wantsPart(r) {
		page = views.InspectorPane(frame.Links, nil, problem)
	}
	if err := s.render(w, r, f.Status, page); err != nil {
		s.logger.Error("error page failed", "error", err)
		http.Error(w, f.text(), f.Status)
	}
}

// problem says what f means and what to do about it.
func (s *Server) problem(v sources.View, f failure) *kit.Problem {
	p := &kit.Problem{
		Status: f.Status,
		Title:  http.StatusText(f.Status),
		Msg:    f.text(),
		Action: "Show the newest messages",
		URL:    address.Links{Base: s.base}.Home(),
	}
	first, last, some := v.Range()
	switch f.Status {
	case http.StatusGone:
		if errors.Is(f.Err, errForgotten) {
			p.Title = "Forgotten"
			break
		}
		if errors.Is(f.Err, errEarlierRun) {
			p.Title = "From an earlier run"
			break
		}
		p.Title = "Evicted"
		if some {
			p.Hint = "The oldest message kept is " + kit.Num(first)
			if oldest := v.Status().Kept.Oldest; !oldest.IsZero() {
				p.Hint += ", received " + kit.Stamp(oldest.Truncate(time.Millisecond))
			}
			p.Hint = remedied(p.Hint, s.cfg.Remedies.Memory)
		}
	case http.StatusNotFound:
		p.Title = "Not found"
		if errors.Is(f.Err, errNoPage) || errors.Is(f.Err, sources.ErrNoSource) {
			break
		}
		if some {
			p.Hint = "Messages " + kit.Num(first) + " to " + kit.Num(last) + " are kept."
		} else if v.Kept() == 0 {
			p.Hint = "No message has arrived yet."
		}
	case http.StatusBadRequest:
		p.Title = "Cannot be understood"
		p.Action = "Start afresh"
	case http.StatusServiceUnavailable:
		p.Title = "Busy"
	case http.StatusConflict:
		p.Title = "Not whole"
		p.Hint = s.cfg.Remedies.Body
	case http.StatusInternalServerError:
		p.Title = "Failed"
	}
	return p
}

// wantsPart reports whether htmx asks for the content of the inspector alone.
func wantsPart(r *http.Request) bool {
	return r.Header.Get("Hx-Request") == "true" && r.Header.Get("Hx-History-Restore-Request") != "true"
}
