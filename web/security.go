package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
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
	crossOrigin.SetDenyHandler(s.serve(func(_ http.ResponseWriter, r *http.Request) error {
		if s.takes(r) {
			return errForeign
		}
		return s.wrongMethod(r)
	}))
	checked := crossOrigin.Handler(s.serve(func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case !s.takes(r):
			return s.wrongMethod(r)
		case len(r.RequestURI) > maxTargetBytes:
			return errURLTooLong
		case !s.hosts.answersTo(r.Host):
			return errHost
		case foreignFetch(r):
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

// takes reports whether some route answers to the method of a request; upload says why one may be
// posted to.
func (s *Server) takes(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodPost:
		return s.relative(r.URL.Path) == "/inspect"
	}
	return false
}

// wrongMethod says why a request is not taken.
func (s *Server) wrongMethod(r *http.Request) error {
	switch path := s.relative(r.URL.Path); {
	case path == "/inspect":
		return errFormMethod
	case path == "", path == "*", s.pages.Match(chi.NewRouteContext(), http.MethodGet, path):
		return errMethod
	}
	return errNowhere
}

// foreignFetch reports whether a page of another site or port asks for
// something, other than by a link that leads here. Such a page could not read
// the answer, but could learn from how long a filter takes. Browsers say
// Sec-Fetch-Site; other clients do not and are no one's page. The live feed,
// which no link leads to, has a stricter rule of its own.
func foreignFetch(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

func noStore(h http.Header) { h.Set("Cache-Control", "no-store") }

// hosts is the set of names that the explorer answers to. A page of another
// site whose name is made to resolve to this machine (DNS rebinding) sends
// that site's name as Host, so an unknown name is refused. An IP address
// cannot be rebound and is always answered to.
type hosts struct {
	// names holds the allowed names, lower case, without port.
	names map[string]bool
	// origins holds the names that a configuration added, as given, lower
	// case: a proxy may put another Host in front of the same pages.
	origins map[string]bool
}

func newHosts(allowed []string) hosts {
	h := hosts{names: map[string]bool{"localhost": true}, origins: make(map[string]bool)}
	for _, a := range allowed {
		a = strings.ToLower(strings.TrimSpace(a))
		if a == "" {
			continue
		}
		h.origins[a] = true
		h.names[hostname(a)] = true
	}
	return h
}

// hostname is hostport without its port, lower case.
func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// answersTo reports whether the Host of a request is allowed.
func (h hosts) answersTo(hostport string) bool {
	name := hostname(hostport)
	if h.names[name] {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// ownOrigin reports whether a websocket handshake comes from one of the
// explorer's own pages. Browsers always send Origin with a handshake, so one
// without it, or with more than one, is refused like a foreign one.
func (h hosts) ownOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) != 1 {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	u, err := url.Parse(origins[0])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" || u.RawQuery != "" ||
		u.Fragment != "" {
		return false
	}
	origin := strings.ToLower(u.Host)
	return origin != "" && (origin == strings.ToLower(r.Host) || h.origins[origin])
}
