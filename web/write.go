package web

import (
	"net/http"

	"github.com/a-h/templ"
)

// render writes a component as a page, or as part of one. An answer that is collected can still
// become an error page when it fails.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "HX-Request")
	w.WriteHeader(status)
	return c.Render(r.Context(), w)
}

// writeBytes is how much of a long response is collected before it is sent.
const writeBytes = 64 << 10

func writeJSON(w http.ResponseWriter, b []byte) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // #nosec G705 -- JSON, and said to be; an error means that the browser went away
	return nil
}

func noStore(h http.Header) { h.Set("Cache-Control", "no-store") }
