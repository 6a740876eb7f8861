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

// serveReady says whether messages can arrive: 503 unless every source is connected and consuming,
// or rests as it is meant to. A full window counts as consuming, and files that have been read
// count as all that is to come. It says the state that needs attention most, and names no source:
// it asks for no login.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v := s.sources.View()
	state := v.Status().State
	if !v.Ready() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = io.WriteString(w, state.String()+"\n")
	return nil
}
