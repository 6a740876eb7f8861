package web

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/web/export"
)

// route is a line of the surface.
type route struct {
	path    string  // what it answers to; {seq} is a message's sequence number, {source} a source's name
	answers string  // what it is for, in a few words; "": only pages and their scripts ask for it
	get     handler // for GET, and for HEAD without the body
	post    handler // for POST; nil: nothing may be sent there
	// on says whose parameters it takes, and also those that it alone has.
	on   address.Pages
	also []address.Parameter
	// media is the type of what it answers, the zero value a page. schema names what JSON looks
	// like, in schemas.json.
	media, schema string
	// scoped: below /s/{source} it answers for that source.
	scoped bool
	// open: it needs no login. Nothing that a publisher or an operator wrote may be in the answer.
	open bool
	// feed: a pass, which pages hand out, is as good as a login.
	feed bool
	// work is how many bytes it takes to make an answer that is collected before it is sent; 0: it
	// is not collected.
	work int64
	// long: to make it may take longer than a page, so that pages do not wait for it.
	long bool
}

// routes is the whole surface: the router, what is checked before it, errors and the documentation
// follow this table.
func (s *Server) routes() []route {
	const octets, text = "application/octet-stream", "text/plain; charset=utf-8"
	table := []route{
		{path: address.PathList, scoped: true, answers: "the list", on: address.OnList, get: s.serveList, work: 1 << 20},
		{path: address.PathMessage, scoped: true, answers: "one message", on: address.OnMessage, get: s.serveMessage, work: 1 << 20},
		{path: address.PathMessage + "/headers.bin", scoped: true, answers: "its header table", media: octets, get: s.serveHeaders},
		{path: address.PathMessage + "/content-header.bin", scoped: true, answers: "its content header", media: octets,
			get: s.serveContentHeader},
		{path: address.PathMessage + "/body.bin", scoped: true, answers: "its body", media: octets, get: s.serveBody},
		{path: address.PathMessage + "/message.zip", scoped: true, answers: "all of it", on: address.OnMessageJSON,
			media: export.Message().Type, get: s.serveWhole},
		{path: address.PathCompare, answers: "messages side by side", on: address.OnCompare, get: s.serveCompare, work: 8 << 20},
		{path: address.PathPaste, answers: "pasted bytes", on: address.OnPaste, get: s.servePaste,
			post: s.servePasteUpload, work: 8 << 20},
		{path: address.PathSummary, scoped: true, get: s.serveSummary, work: 1 << 20, long: true},
		{path: address.PathFeed, scoped: true, answers: "new rows as they arrive", on: address.OnFeed, get: s.serveFeed, feed: true},
		{path: address.PathStatic + "*", get: s.serveAsset},
		{path: "/api/messages", scoped: true, answers: "the list as JSON", on: address.OnListJSON,
			also: []address.Parameter{explain}, schema: "Listing", get: s.serveMessagesJSON, work: 1 << 20},
		{path: address.PathMessageJSON, scoped: true, answers: "one message as JSON", on: address.OnMessageJSON,
			schema: "Message", get: s.serveMessageJSON},
		{path: "/api/keys", scoped: true, answers: "header names", schema: "Names", get: s.serveKeysJSON, work: 1 << 20},
		{path: address.PathComplete, scoped: true, answers: "completions of a filter",
			also: []address.Parameter{unfinished, cursor}, schema: "Completions", get: s.serveCompletions, work: 64 << 10},
		{path: "/api/sources", answers: "what is read, and its state", schema: "Sources", get: s.serveSourcesJSON, work: 64 << 10},
		{path: "/api/status", answers: "state and counts", schema: "Status", get: s.serveStatusJSON, work: 64 << 10},
		{path: "/api/openapi.json", answers: "all of this, as OpenAPI 3.1", schema: "OpenAPI", get: s.serveOpenAPI, work: 64 << 10},
		{path: "/healthz", answers: "alive", media: text, get: s.serveHealth, open: true},
		{path: "/readyz", answers: "connected and consuming", media: text, get: s.serveReady, open: true},
		{path: "/metrics", answers: "Prometheus", media: text, get: s.serveMetrics()},
	}
	for _, f := range export.Formats() {
		table = append(table, route{
			path: address.PathExport + f.Extension, scoped: true, answers: f.Label, on: address.OnExport,
			media: f.Type, get: s.serveExport(f),
		})
	}
	return table
}

// withSources adds the pages of single sources.
func withSources(table []route) []route {
	for _, one := range table {
		if one.scoped {
			one.path, one.answers = address.PathSource+"{source}"+one.path, ""
			table = append(table, one)
		}
	}
	return table
}

// underAPI reports whether whoever asks for a path expects JSON, whatever comes of it.
func underAPI(path string) bool {
	if rest, ok := strings.CutPrefix(path, address.PathSource); ok {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/" + rest
	}
	return path == "/api" || strings.HasPrefix(path, "/api/")
}

// allow lists the methods that r answers to.
func (r route) allow() string {
	if r.post != nil {
		return "GET, HEAD, POST"
	}
	return "GET, HEAD"
}

// takes reports whether r answers to a method.
func (r route) takes(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodPost:
		return r.post != nil
	}
	return false
}

// newRouter makes the handler of everything.
func (s *Server) newRouter() http.Handler {
	r := chi.NewRouter()
	s.router, s.surface = r, make(map[string]route)
	r.Use(s.observe, s.admit, s.secure, s.underBase, middleware.GetHead)
	r.NotFound(s.handle(func(http.ResponseWriter, *http.Request) error { return errNoPage }))
	r.MethodNotAllowed(s.handle(func(http.ResponseWriter, *http.Request) error { return errMethod }))
	for _, one := range withSources(s.routes()) {
		s.surface[one.path] = one
		turns := s.pages
		if one.long {
			turns = s.long
		}
		if one.work > 0 {
			one.get = s.collect(one.work, turns, one.get)
		}
		r.Get(one.path, s.handle(one.get))
		if one.post != nil {
			r.Post(one.path, s.handle(s.collect(one.work, turns, one.post)))
		}
	}
	return r
}

// route finds the line of a request; its zero value where there is none.
func (s *Server) route(r *http.Request) (route, bool) {
	rctx := chi.NewRouteContext()
	if !s.router.Match(rctx, http.MethodGet, s.relative(r.URL.Path)) {
		return route{}, false
	}
	found, ok := s.surface[rctx.RoutePattern()]
	return found, ok
}

// relative is path without the base path, where it has it.
func (s *Server) relative(path string) string {
	rest, ok := strings.CutPrefix(path, s.base)
	if !ok || rest != "" && rest[0] != '/' {
		return path
	}
	return rest
}

// underBase takes the base path off a request. A proxy may have done that
// already, so a request without it is served all the same.
func (s *Server) underBase(next http.Handler) http.Handler {
	if s.base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := s.relative(r.URL.Path)
		switch path {
		case r.URL.Path:
			next.ServeHTTP(w, r)
			return
		case "":
			target := s.base + "/"
			if r.URL.RawQuery != "" {
				target += "?" + r.URL.RawQuery
			}
			http.Redirect(
				w,
				r,
				target,
				http.StatusPermanentRedirect,
			) // #nosec G710 -- begins with the base path, and that with one slash
			return
		}
		r2 := new(http.Request)
		*r2 = *r
		u := *r.URL
		u.Path, u.RawPath = path, ""
		r2.URL = &u
		next.ServeHTTP(w, r2)
	})
}
