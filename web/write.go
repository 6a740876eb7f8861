package web

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
)

// render writes a component as a page, or as part of one, after it has been
// drawn whole: a failure can still become an error page.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	var buf bytes.Buffer
	if err := c.Render(r.Context(), &buf); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "HX-Request")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(buf.Bytes()) // an error here means that the browser went away
	}
	return nil
}

// writeBytes is how much of a long response is collected before it is sent.
const writeBytes = 64 << 10

func writeJSON(w http.ResponseWriter, b []byte) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // #nosec G705 -- JSON, and said to be; an error means that the browser went away
	return nil
}

func noStore(h http.Header) { h.Set("Cache-Control", "no-store") }
