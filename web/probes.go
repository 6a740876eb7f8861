package web

import (
	"io"
	"net/http"
)

// serveHealth says that the process serves requests.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
	return nil
}

// serveReady says whether messages can arrive: 503 unless the explorer is
// connected and consuming. A full window counts as consuming, and files that
// have been read count as all that is to come.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	b := s.sources.Status()
	if !b.State.Ready() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = io.WriteString(w, b.State.String()+"\n")
	return nil
}
