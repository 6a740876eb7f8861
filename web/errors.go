package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/live"
)

var (
	errNoHeaders    = errors.New("web: message has no headers property")
	errBodyPrefix   = errors.New("web: only a prefix of the body was kept")
	errHeaderPrefix = errors.New("web: only a prefix of the content header was kept")
	errNoPage       = errors.New("web: no such page")
	errMethod       = errors.New("web: method not allowed")
	errNoExports    = errors.New("web: exports are switched off")
	errURLTooLong   = errors.New("web: request target too long")
	errHost         = errors.New("web: host not allowed")
	errNotWebsocket = errors.New("web: not a websocket handshake")
	errOrigin       = errors.New("web: foreign origin")
	errForeign      = errors.New("web: fetched by another site")
	errPanic        = errors.New("web: panic in a handler")

	// What is turned away before the login, for its method.
	errNowhere    = fmt.Errorf("%w to send to", errNoPage)
	errFormMethod = fmt.Errorf("%w, POST is", errMethod)
)

// paramError is a request parameter that cannot be understood.
type paramError struct {
	Name string // of the parameter
	Msg  string // one plain sentence for the reader
}

func (e *paramError) Error() string { return "web: parameter " + e.Name + ": " + e.Msg }

// plainError is an answer whose sentence is made where it happens.
type plainError struct {
	status int
	msg    string
}

func (e *plainError) Error() string { return "web: " + e.msg }

// failure is an error as its two readers need it: Msg is one plain sentence
// for the browser, Err the cause for the log.
type failure struct {
	Status int
	Msg    string
	Err    error

	// Offset is where a filter stops making sense, in bytes from its first;
	// negative for every other failure.
	Offset int
	// End is where the part of the filter that Offset begins ends.
	End int
	// RetryAfter, in seconds, accompanies a 503 or a 429.
	RetryAfter int
}

// sentinels maps errors that carry no detail to their status and sentence.
// An empty sentence means that the error's own message says it.
func sentinels() []struct {
	err    error
	status int
	msg    string
} {
	return []struct {
		err    error
		status int
		msg    string
	}{
		{
			archive.ErrEvicted,
			http.StatusGone,
			"This message was kept once and has been evicted to make room for newer ones.",
		},
		{archive.ErrNotYet, http.StatusNotFound, "No message has this number yet."},
		{
			errNoHeaders,
			http.StatusNotFound,
			"This message has no headers property, so there is no field table to download.",
		},
		{
			errBodyPrefix,
			http.StatusConflict,
			"Only a prefix of this body was kept, so it cannot be downloaded as delivered.",
		},
		{
			errHeaderPrefix,
			http.StatusConflict,
			"Only a prefix of this content header was kept, so it cannot be downloaded as delivered.",
		},
		{errNoPage, http.StatusNotFound, "There is no such page."},
		{errFormMethod, http.StatusMethodNotAllowed, "This page takes bytes to look at: use GET, HEAD or POST."},
		{errMethod, http.StatusMethodNotAllowed, "The explorer only reads: use GET or HEAD."},
		{errNoExports, http.StatusForbidden, "Exports are switched off on this explorer."},
		{errURLTooLong, http.StatusRequestURITooLong, "The address is longer than the explorer accepts."},
		{
			errHost,
			http.StatusForbidden,
			"This host name is not one that the explorer answers to; name it with --allow-host to allow it.",
		},
		{errOrigin, http.StatusForbidden, "The live feed answers only to pages of the explorer itself."},
		{errForeign, http.StatusForbidden, "Another site's page asked for this; open the explorer itself."},
		{access.ErrLogin, http.StatusUnauthorized, "The explorer asks for a login."},
		{access.ErrBusy, http.StatusServiceUnavailable, "Too many logins are being checked; try again in a moment."},
		{errNotWebsocket, http.StatusUpgradeRequired, "The live feed speaks websocket only."},
		{
			budget.ErrBusy,
			http.StatusServiceUnavailable,
			"The explorer is busy with other queries; try again in a moment.",
		},
		{
			budget.ErrFull,
			http.StatusServiceUnavailable,
			"The explorer has as much work in progress as its memory allows; try again in a moment.",
		},
		{
			live.ErrTooMany,
			http.StatusServiceUnavailable,
			"As many live feeds are open as the explorer allows; close one or try again later.",
		},
		{live.ErrClosed, http.StatusServiceUnavailable, "The explorer is shutting down."},
	}
}

// fail finds what err means to the browser.
func fail(err error) failure {
	f := failure{Err: err, Offset: -1, End: -1}
	if qe, ok := errors.AsType[*query.Error](err); ok {
		f.Status, f.Msg, f.Offset, f.End = http.StatusBadRequest, qe.Msg, qe.Offset, qe.End
		return f
	}
	if pe, ok := errors.AsType[*paramError](err); ok {
		f.Status, f.Msg = http.StatusBadRequest, pe.Msg
		return f
	}
	if pe, ok := errors.AsType[*plainError](err); ok {
		f.Status, f.Msg = pe.status, pe.msg
		return f
	}
	if le, ok := errors.AsType[*access.LimitError](err); ok {
		f.Status, f.Msg = http.StatusTooManyRequests, "Too many logins have failed; try again later."
		f.RetryAfter = int(math.Ceil(le.Wait.Seconds()))
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		f.Status, f.Msg = http.StatusServiceUnavailable, "This took longer than the explorer allows; narrow the filter or the time range."
		f.RetryAfter = retryAfterSeconds
		return f
	}
	for _, s := range sentinels() {
		if errors.Is(err, s.err) {
			f.Status, f.Msg = s.status, s.msg
			if s.status == http.StatusServiceUnavailable {
				f.RetryAfter = retryAfterSeconds
			}
			return f
		}
	}
	f.Status, f.Msg = http.StatusInternalServerError, "Something went wrong inside the explorer; its log says what."
	return f
}

const retryAfterSeconds = 2

// handler is a route's function. Before it has written anything it may
// return an error, which becomes a status and a sentence.
type handler func(w http.ResponseWriter, r *http.Request) error

// handle turns h into an http.HandlerFunc that answers errors.
func (s *Server) handle(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		s.answer(w, r, err)
	}
}

// answer writes the response for err: JSON under /api and for those who ask
// for it, a page for browsers, one line of text for the rest.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // nobody is left to read an answer
	}
	f := fail(err)
	level := slog.LevelDebug
	if f.Status >= 500 {
		level = slog.LevelWarn
	}
	s.logger.Log(
		r.Context(),
		level,
		"request failed",
		"method",
		r.Method,
		"path",
		r.URL.Path,
		"status",
		f.Status,
		"error",
		f.Err,
	)

	h := w.Header()
	for _, k := range []string{"Content-Disposition", "Content-Length", "Content-Encoding", "Etag"} {
		h.Del(k)
	}
	noStore(h)
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	if f.Status == http.StatusMethodNotAllowed {
		found, _ := s.route(r)
		h.Set("Allow", found.allow())
	}
	switch s.errorFormat(r, err) {
	case formatJSON:
		h.Set("Content-Type", "application/json")
		w.WriteHeader(f.Status)
		_, _ = w.Write(appendError(nil, f))
	case formatHTML:
		s.errorPage(w, r, f)
	default:
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(f.Status)
		fmt.Fprintln(w, f.text())
	}
}

// text is the failure in one line.
func (f failure) text() string {
	if f.Offset < 0 {
		return f.Msg
	}
	return fmt.Sprintf("%s (at byte %d of the filter)", strings.TrimSuffix(f.Msg, "."), f.Offset)
}

type format uint8

const (
	formatText format = iota
	formatHTML
	formatJSON
)

// errorFormat is the form in which r wants to hear of err. Who is not let in
// never gets a page: pages name the queue and the broker's state.
func (s *Server) errorFormat(r *http.Request, err error) format {
	if underAPI(s.relative(r.URL.Path)) {
		return formatJSON
	}
	if s.beforeLogin(err) {
		return formatText
	}
	accept := r.Header.Get("Accept")
	switch {
	case strings.Contains(accept, "text/html"), r.Header.Get("Hx-Request") == "true":
		return formatHTML
	case strings.Contains(accept, "application/json"):
		return formatJSON
	}
	return formatText
}

// beforeLogin reports whether err is of those that strangers can cause.
func (s *Server) beforeLogin(err error) bool {
	if errors.Is(err, errHost) || errors.Is(err, errForeign) || s.cfg.Guard != nil && errors.Is(err, errNowhere) {
		return true
	}
	// Without logins, a browser that asks for too much may as well see a page.
	return s.cfg.Guard != nil && slices.ContainsFunc([]int{
		http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable,
		http.StatusMethodNotAllowed, http.StatusRequestURITooLong,
	}, func(status int) bool { return fail(err).Status == status })
}

// appendError appends the JSON form of f.
func appendError(dst []byte, f failure) []byte {
	dst = append(dst, `{"error":{"status":`...)
	dst = strconv.AppendInt(dst, int64(f.Status), 10)
	dst = append(dst, `,"message":`...)
	dst = typedjson.AppendString(dst, f.Msg)
	if f.Offset >= 0 {
		dst = append(dst, `,"offset":`...)
		dst = strconv.AppendInt(dst, int64(f.Offset), 10)
	}
	return append(dst, "}}\n"...)
}
