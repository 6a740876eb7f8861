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
	"github.com/headerglass/headerglass/web/sources"
)

// serveFeed streams what arrives after the cursor and matches the filter.
// Without a cursor it begins with the next message.
func (s *Server) serveFeed(w http.ResponseWriter, r *http.Request) error {
	if !websocket.IsWebSocketUpgrade(r) || r.Method != http.MethodGet {
		return errNotWebsocket
	}
	if r.Header.Get("Sec-Websocket-Version") != "13" {
		w.Header().Set("Sec-Websocket-Version", "13")
		return errNotWebsocket
	}
	if !s.hosts.OwnOrigin(r) {
		return errOrigin
	}
	req, err := s.parse(r)
	if err != nil {
		return err
	}
	// Links in what is streamed lead to the newest page, not to the cursor.
	after, addr := req.over, clientOf(r)
	if !r.URL.Query().Has("after") {
		after = req.view.End()
	} else if after == nil {
		after = make(sources.Position, len(req.view.End()))
	}
	req.Before, req.After, req.Oldest, req.under, req.over = "", "", false, nil, nil
	req.view = req.view.At(nil) // or it would keep what is evicted while the feed lasts
	view, together := req.view, s.together(&req)
	page := s.parts.open(s, req, addr)
	defer s.parts.close(page)
	in := s.stillIn(r)
	stream := live.Stream{
		Filter:   page.req.filter,
		Dialect:  req.dialect,
		Addr:     addr,
		Archives: view.Archives(),
		After:    after,
		Anew:     r.URL.Query().Has("run") && r.URL.Query().Get("run") != s.run,
		Rows: func(ctx context.Context, w io.Writer, snaps []archive.Snapshot, ms []archive.Message) error {
			v := view.At(snaps)
			l := listing.List{Rows: rows(v, ms, page.req, v.Status().Gaps), Sourced: together}
			for i := range l.Rows {
				l.Rows[i].New = true
			}
			return listing.LiveRows(l, page.links).Render(ctx, w)
		},
		Status: func(ctx context.Context) (live.Fragments, error) {
			if !in() {
				return live.Fragments{}, access.ErrLogin // the feed ends with the right to see it
			}
			return s.liveStatus(ctx, page)
		},
	}
	if together {
		stream.Text = func(at []uint64) string { return view.Text(at) }
	}
	if r.URL.Query().Get("slow") == "1" {
		stream.Interval = live.SlowInterval
	}
	err = s.live.Serve(w, r, stream)
	if _, ok := errors.AsType[websocket.HandshakeError](err); ok {
		return errHandshake
	}
	return err
}

// liveParts holds what open live feeds show around their rows, so that any number
// of pages with the same address cost what one costs.
type liveParts struct {
	mu    sync.Mutex
	pages map[feedKey]*livePage // guarded by mu
}

// feedKey is what a feed shows: sequence numbers mean nothing without their source.
type feedKey struct {
	source string
	params string // of the address
}

// livePage is the newest drawing for one address.
type livePage struct {
	key   feedKey
	req   request
	links address.Links
	share *budget.Share // of what is drawn
	feeds int           // open with this address; guarded by liveParts.mu

	mu     sync.Mutex
	drawn  time.Time      // guarded by mu; zero before the first
	keys   time.Time      // guarded by mu; when the panel of names was drawn
	next   time.Time      // guarded by mu; when the counts are due again
	status live.Fragments // guarded by mu
	bytes  int64          // guarded by mu; of the status, as the share has them
}

const (
	liveFor = 900 * time.Millisecond // how long a drawing serves: feeds ask once a second
	// hundreds of names: a browser has more to lay out than in the rows
	keysEvery = 3 * time.Second
	// Counting for one page takes at most a twentieth of the time of one core, and for all pages a
	// quarter.
	liveShare  = 20
	liveShares = 4
)

// open is the page of what req asks for, for one more feed.
func (l *liveParts) open(s *Server, req request, addr string) *livePage {
	key := feedKey{req.source, req.State.Encode()}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pages[key]
	if p == nil {
		if l.pages == nil {
			l.pages = make(map[feedKey]*livePage)
		}
		for _, other := range l.pages {
			if other.req.filter.String() == req.filter.String() {
				req.filter = other.req.filter // which the feeds share too
				break
			}
		}
		p = &livePage{
			key:   key,
			req:   req,
			links: s.links(&req),
			share: s.budget.Open(budget.Feed, addr),
		}
		l.pages[key] = p
	}
	p.feeds++
	return p
}

// close forgets the page with its last feed.
func (l *liveParts) close(p *livePage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.feeds--; p.feeds == 0 {
		delete(l.pages, p.key)
		p.share.Release()
	}
}

func (l *liveParts) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pages)
}

// liveStatus draws the parts of the page around the rows, or returns a drawing
// of less than a second ago. Counts under a filter or of a facet's values come as
// often as they can be had cheaply.
func (s *Server) liveStatus(ctx context.Context, page *livePage) (live.Fragments, error) {
	now, req, links := s.cfg.Now(), page.req, page.links
	page.mu.Lock()
	defer page.mu.Unlock()
	if !page.drawn.IsZero() && now.Sub(page.drawn) < liveFor {
		return page.status, nil
	}
	st := page.status
	var buf bytes.Buffer
	v := req.view.Now()
	if err := shell.BrokerStrip(v.Status(), now).Render(ctx, &buf); err != nil {
		return st, err
	}
	st.HTML = buf.String()
	buf.Reset()
	if err := listing.Overview(s.overview(), links).Render(ctx, &buf); err != nil {
		return st, err
	}
	st.Sources = buf.String()
	partial := !req.filter.MatchesAll() || !req.From.IsZero()
	if !partial && (page.keys.IsZero() || now.Sub(page.keys) >= keysEvery) {
		page.keys = now
		keys, err := drawNames(ctx, sources.Summary{Names: v.AllNames()}, req, links)
		if err != nil {
			return st, err
		}
		st.Keys = keys
	}
	if !now.Before(page.next) {
		begin := s.cfg.Now()
		sum, err := s.summarise(ctx, v, req, liveTime)
		took := s.cfg.Now().Sub(begin)
		page.next = now.Add(max(liveFor, liveShare*took, liveShares*took*time.Duration(s.parts.len())))
		switch {
		case errors.Is(err, budget.ErrBusy):
		case err != nil:
			return st, err
		case !sum.Histogram.Complete:
			// Not as much as the page has got already: it keeps that.
		default:
			p, err := drawParts(ctx, v, sum, req, links)
			if err != nil {
				return st, err
			}
			st.Chart, st.Facet, st.Total = p.Chart, p.Facet, p.Total
			if partial && sum.Names.Complete {
				if st.Keys, err = drawNames(ctx, sum, req, links); err != nil {
					return st, err
				}
			}
		}
	}
	st = page.afford(st)
	page.status, page.drawn = st, now
	return st, nil
}

// afford takes what st is larger than the status before from the budget. Where that has too little,
// the names and counts on the pages stay as they are. The caller has locked p.
func (p *livePage) afford(st live.Fragments) live.Fragments {
	n := int64(len(st.HTML) + len(st.Sources) + len(st.Keys) + len(st.Chart) + len(st.Facet) + len(st.Total))
	if n > p.bytes && !p.share.TryGrow(n-p.bytes) {
		st = live.Fragments{HTML: st.HTML}
		n = 0
	}
	if n < p.bytes {
		p.share.Shrink(p.bytes - n)
	}
	p.bytes = n
	return st
}
