package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/budget"
)

const (
	maxHeaderBytes = 64 << 10 // request line and headers; more is 431
	maxTargetBytes = 32 << 10 // request target; more is 414
)

const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// secure sets the headers that every response carries and turns away what
// the explorer never answers: other methods, unknown hosts, endless addresses,
// what other sites fetch, and who is not logged in.
func (s *Server) secure(next http.Handler) http.Handler {
	next = s.authenticate(next)
	crossOrigin := http.NewCrossOriginProtection()
	for _, origin := range s.hosts.Origins() {
		if err := crossOrigin.AddTrustedOrigin(origin); err != nil {
			s.logger.Warn("this name is no origin", "host", origin, "error", err)
		}
	}
	crossOrigin.SetDenyHandler(s.handle(func(_ http.ResponseWriter, r *http.Request) error {
		return cmp.Or(s.wrongMethod(r), errForeign)
	}))
	checked := crossOrigin.Handler(s.handle(func(w http.ResponseWriter, r *http.Request) error {
		err := s.wrongMethod(r)
		switch {
		case err != nil:
			return err
		case len(r.RequestURI) > maxTargetBytes:
			return errURLTooLong
		case !s.hosts.AnswersTo(r.Host):
			return errHost
		case access.ForeignFetch(r):
			return errForeign
		}
		next.ServeHTTP(w, r)
		return nil
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		noStore(h) // static assets, which hold no data, say otherwise
		checked.ServeHTTP(w, r)
	})
}

// admit refuses a request of an address that has many under way already. The answer has no body: a
// peer that takes nothing could keep it waiting.
func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if websocket.IsWebSocketUpgrade(r) { // the connection is its own; HTTP/2 has no such requests
			next.ServeHTTP(w, r)
			return
		}
		release, err := s.admitted.Acquire(r.Context())
		if err != nil {
			noStore(w.Header())
			w.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		defer release()
		next.ServeHTTP(w, r)
	})
}

// wrongMethod says why nothing answers to the method of a request; nil: something may.
func (s *Server) wrongMethod(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil // what is not there is found out later
	}
	found, ok := s.route(r)
	switch path := s.relative(r.URL.Path); {
	case !ok && path != "" && path != "*":
		return errNowhere
	case found.takes(r.Method):
		return nil
	case found.post != nil:
		return errFormMethod
	}
	return errMethod
}

type identityKey struct{}

// authenticate lets nobody through who is not allowed in, but to what says in a word how the
// process is: those who ask for that cannot keep a secret.
func (s *Server) authenticate(next http.Handler) http.Handler {
	guard := s.cfg.Guard
	if guard == nil {
		return next
	}
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		found, _ := s.route(r)
		if found.open {
			next.ServeHTTP(w, r)
			return nil
		}
		var id access.Identity
		err := access.ErrLogin
		if found.feed {
			if who, ok := guard.Pass(r, s.base+s.relative(r.URL.Path)); ok {
				id, err = who, nil
			}
		}
		if err != nil {
			id, err = guard.Login(r)
		}
		if err != nil {
			if errors.Is(err, access.ErrLogin) {
				guard.Challenge(w.Header())
			}
			return err
		}
		if !found.feed && strings.Contains(r.Header.Get("Accept"), "text/html") {
			guard.GivePass(w, r, id, s.base+s.feedPath(r))
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), identityKey{}, id)))
		return nil
	})
}

// feedPath is where the page that r asks for finds its live feed: that of all sources, or that of
// the one whose page it is.
func (s *Server) feedPath(r *http.Request) string {
	rest, ok := strings.CutPrefix(s.relative(r.URL.Path), address.PathSource)
	if !ok || r.URL.Query().Get("all") == "1" {
		return address.PathFeed
	}
	name, _, _ := strings.Cut(rest, "/")
	if _, err := s.sources.Of(name); err != nil || !s.sources.Several() {
		return address.PathFeed
	}
	return address.PathSource + name + address.PathFeed
}

// stillIn returns what reports whether whoever sent r, which was let through, would be let through
// now.
func (s *Server) stillIn(r *http.Request) func() bool {
	if s.cfg.Guard == nil {
		return func() bool { return true }
	}
	id, ok := r.Context().Value(identityKey{}).(access.Identity)
	return func() bool { return ok && s.cfg.Guard.Knows(id) }
}

// clientOf is who the work for a request counts for.
func clientOf(r *http.Request) string { return budget.Addr(r.Context()) }
