package web

import (
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/budget"
)

// observe logs and counts every request, and keeps a panic in a handler from
// ending more than that one response.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = s.cfg.Proxies.Client(r)
		r = r.WithContext(budget.For(r.Context(), access.Network(r.RemoteAddr).String()))
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		start := s.cfg.Now()
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				s.logger.Error(
					"panic in a handler",
					"method",
					r.Method,
					"path",
					r.URL.Path,
					"panic",
					p,
					"stack",
					string(debug.Stack()),
				)
				if ww.Status() == 0 {
					s.answer(ww, r, errPanic)
					p = nil
				} else {
					// the response is cut off, and the browser must see that
					p = http.ErrAbortHandler
				}
			}
			route := "none"
			if rc := chi.RouteContext(r.Context()); rc != nil {
				if pattern := rc.RoutePattern(); pattern != "" {
					route = pattern
				}
			}
			status := ww.Status()
			switch {
			case status == 0 && websocket.IsWebSocketUpgrade(r):
				status = http.StatusSwitchingProtocols // written past the wrapper
			case status == 0:
				status = http.StatusOK
			}
			s.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
			s.logger.Debug(
				"request",
				"method",
				r.Method,
				"path",
				r.URL.Path,
				"route",
				route,
				"status",
				status,
				"bytes",
				ww.BytesWritten(),
				"elapsed",
				s.cfg.Now().Sub(start).Round(time.Microsecond),
				"remote",
				r.RemoteAddr,
			)
			if p != nil {
				panic(p)
			}
		}()
		next.ServeHTTP(ww, r)
	})
}
