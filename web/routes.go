package web

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/headerglass/headerglass/web/export"
)

// routes is the whole surface.
func (s *Server) routes() http.Handler {
	r := chi.NewRouter()
	s.pages = r
	r.Use(s.observe, s.secure, s.underBase, middleware.GetHead)
	r.NotFound(s.serve(func(http.ResponseWriter, *http.Request) error { return errNoPage }))
	r.MethodNotAllowed(s.serve(func(http.ResponseWriter, *http.Request) error { return errMethod }))

	compressed := middleware.Compress(5, "text/html", "application/json", "application/jsonl", "text/csv")
	r.Get("/live", s.serve(s.liveFeed))
	r.Get("/static/*", s.serve(s.asset))
	r.Get("/m/{seq}/headers.bin", s.serve(s.headersBin))
	r.Get("/m/{seq}/content-header.bin", s.serve(s.contentHeaderBin))
	r.Get("/m/{seq}/body.bin", s.serve(s.bodyBin))
	r.Get("/healthz", s.serve(s.healthz))
	r.Get("/readyz", s.serve(s.readyz))
	r.Get("/metrics", s.metricsHandler())

	for _, f := range export.Formats() {
		in := chi.Router(r)
		if !f.Compressed {
			in = r.With(compressed)
		}
		in.Get("/export."+f.Extension, s.serve(s.serveExport(f)))
	}

	r.Group(func(r chi.Router) {
		r.Use(compressed)
		r.Get("/", s.serve(s.list))
		r.Get("/m/{seq}", s.serve(s.open))
		r.Get("/diff", s.serve(s.diff))
		r.Get("/inspect", s.serve(s.inspect))
		r.Post("/inspect", s.serve(s.upload))
		r.Get("/summary", s.serve(s.summaryParts))
		r.Get("/api/complete", s.serve(s.apiComplete))
		r.Get("/api/messages", s.serve(s.apiMessages))
		r.Get("/api/messages/{seq}", s.serve(s.apiMessage))
		r.Get("/api/keys", s.serve(s.apiKeys))
		r.Get("/api/status", s.serve(s.apiStatus))
	})
	return r
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
