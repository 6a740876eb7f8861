package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/live"
)

// serveFeed streams what arrives after the cursor and matches the filter.
// Without a cursor it begins with the next message.
func (s *Server) serveFeed(w http.ResponseWriter, r *http.Request) error {
	if !websocket.IsWebSocketUpgrade(r) || r.Method != http.MethodGet {
		return errNotWebsocket
	}
	if !s.hosts.OwnOrigin(r) {
		return errOrigin
	}
	req, filterErr, err := s.parse(r)
	if err == nil {
		err = filterErr
	}
	if err != nil {
		return err
	}
	// Links in what is streamed lead to the newest page, not to the cursor.
	after, links := req.After, address.Links{Base: s.base, State: req.State}
	links.State.Before, links.State.After = 0, 0
	key := links.State.Values().Encode()
	page := s.parts.open(key)
	defer s.parts.close(key, page)
	stream := live.Stream{
		Filter:  req.filter,
		Dialect: req.dialect,
		After:   after,
		Rows: func(ctx context.Context, w io.Writer, snap archive.Snapshot, ms []archive.Message) error {
			l := listing.List{Rows: rows(snap, ms, req)}
			for i := range l.Rows {
				l.Rows[i].New = true
			}
			return listing.LiveRows(l, links).Render(ctx, w)
		},
		Status: func(ctx context.Context) (live.Status, error) {
			if !s.stillIn(r) {
				return live.Status{}, access.ErrLogin // the feed ends with the right to see it
			}
			return s.liveStatus(ctx, page, req, links)
		},
	}
	if !r.URL.Query().Has("after") {
		stream.After = s.archive.Snapshot().Last()
	}
	if r.URL.Query().Get("slow") == "1" {
		stream.Interval = live.SlowInterval
	}
	return s.live.Serve(w, r, stream)
}

// liveParts holds what open live feeds show around their rows, so that any number
// of pages with the same address cost what one costs.
type liveParts struct {
	mu    sync.Mutex
	pages map[string]*livePage // guarded by mu; by the parameters of the address
}

// livePage is the newest drawing for one address.
type livePage struct {
	feeds int // open with this address; guarded by liveParts.mu

	mu     sync.Mutex
	drawn  time.Time   // guarded by mu; zero before the first
	keys   time.Time   // guarded by mu; when the panel of names was drawn
	next   time.Time   // guarded by mu; when the counts are due again
	status live.Status // guarded by mu
}

const (
	liveFor = 900 * time.Millisecond // how long a drawing serves: feeds ask once a second
	// hundreds of names: a browser has more to lay out than in the rows
	keysEvery = 3 * time.Second
	liveShare = 20 // counting takes at most this part of the time of one core
)

// open is the page of an address, for one more feed.
func (l *liveParts) open(key string) *livePage {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pages[key]
	if p == nil {
		if l.pages == nil {
			l.pages = make(map[string]*livePage)
		}
		p = &livePage{}
		l.pages[key] = p
	}
	p.feeds++
	return p
}

// close forgets the page with its last feed.
func (l *liveParts) close(key string, p *livePage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.feeds--; p.feeds == 0 {
		delete(l.pages, key)
	}
}

// liveStatus draws the parts of the page around the rows, or returns a drawing
// of less than a second ago. Counts under a filter or of a facet's values come as
// often as they can be had cheaply.
func (s *Server) liveStatus(ctx context.Context, page *livePage, req request, links address.Links) (live.Status, error) {
	now := s.cfg.Now()
	page.mu.Lock()
	defer page.mu.Unlock()
	if !page.drawn.IsZero() && now.Sub(page.drawn) < liveFor {
		return page.status, nil
	}
	st := page.status
	var buf bytes.Buffer
	if err := shell.BrokerStrip(s.status(), now).Render(ctx, &buf); err != nil {
		return st, err
	}
	st.HTML = buf.String()
	snap := s.archive.Snapshot()
	if page.keys.IsZero() || now.Sub(page.keys) >= keysEvery {
		page.keys = now
		buf.Reset()
		keys := s.keys.list(snap, maxKeys, activeKeys(req.filter))
		if err := listing.KeyPanel(keys, links).Render(ctx, &buf); err != nil {
			return st, err
		}
		st.Keys = buf.String()
	}
	if !now.Before(page.next) {
		begin := time.Now()
		sum, err := s.summarise(ctx, snap, req, liveTime)
		took := time.Since(begin)
		page.next = now.Add(max(liveFor, liveShare*took))
		switch {
		case errors.Is(err, budget.ErrBusy):
		case err != nil:
			return st, err
		case sum.chart.Partial:
			// Not as much as the page has got already: it keeps that.
		default:
			p, err := sum.draw(ctx, links)
			if err != nil {
				return st, err
			}
			st.Chart, st.Facet, st.Total = p.Chart, p.Facet, p.Total
		}
	}
	page.status, page.drawn = st, now
	return st, nil
}
