package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
)

// serveAsset serves an embedded file under its hashed name. What a name stands for
// never changes, so browsers keep it for good. Names come from a map: there is
// no path to walk out of.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request) error {
	f, ok := s.assets.Lookup(chi.URLParam(r, "*"))
	if !ok {
		return errNoPage
	}
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := f.Body
	if f.Gzip != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = f.Gzip
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error here means that the browser went away
	}
	return nil
}

func acceptsGzip(r *http.Request) bool {
	for _, v := range r.Header.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(v, ",") {
			name, q, _ := strings.Cut(strings.TrimSpace(coding), ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				q = strings.TrimPrefix(strings.ReplaceAll(q, " ", ""), "q=")
				weight, err := strconv.ParseFloat(q, 64)
				return err != nil || weight > 0
			}
		}
	}
	return false
}
