package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/live"
	"github.com/headerglass/headerglass/web/sources"
)

var (
	errHandshake    = errors.New("web: broken websocket handshake")
	errForgotten    = errors.New("web: the filter of a link is no longer kept")
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
	errEarlierRun   = errors.New("web: the message of a link is not kept")
	errNotAlike     = errors.New("web: no message alike")
	errOvertaken    = errors.New("web: messages were evicted before they were exported")
	errPaste        = errors.New("web: bytes that cannot be shown")
	errPasteTooBig  = errors.New("web: too many bytes to show")
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

// sentenceError says for itself what it means to the reader. Its status is that of the error it
// stands for.
type sentenceError struct {
	error
	sentence string
}

func (e *sentenceError) Unwrap() error { return e.error }

// shownError has a page of its own, for whoever reads pages.
type shownError struct {
	error
	page func(f failure) (templ.Component, error)
}

func (e *shownError) Unwrap() error { return e.error }

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

// statusTable says what an error means: its status, and the sentence where it has none of its own.
// The first line that fits counts.
func (s *Server) statusTable() []struct {
	err    error
	status int
	msg    string
} {
	return []struct {
		err    error
		status int
		msg    string
	}{
		{errHandshake, http.StatusBadRequest, "This is no websocket handshake that RFC 6455 allows."},
		{errForgotten, http.StatusGone,
			"The filter of this link is too long for an address, and it is no longer kept: enter it again."},
		{errEarlierRun, http.StatusGone,
			"This link is from an earlier run of the explorer, and its message is not among those that are kept now."},
		{archive.ErrEvicted, http.StatusGone,
			"This message was kept once and has been evicted to make room for newer ones."},
		{sources.ErrNoSource, http.StatusNotFound,
			"No source has this name. Where several are read, the address of a message has its source in it."},
		{archive.ErrNotYet, http.StatusNotFound, "No message has this number yet."},
		{errNotAlike, http.StatusNotFound, "No message kept here has its exchange and routing key."},
		{errNoHeaders, http.StatusNotFound,
			"This message has no headers property, so there is no field table to download."},
		{errBodyPrefix, http.StatusConflict,
			"Only a prefix of this body was kept, so it cannot be downloaded as delivered."},
		{errHeaderPrefix, http.StatusConflict,
			"Only a prefix of this content header was kept, so it cannot be downloaded as delivered."},
		{errNoPage, http.StatusNotFound, "There is no such page."},
		{errFormMethod, http.StatusMethodNotAllowed, "This page takes bytes to look at: use GET, HEAD or POST."},
		{errMethod, http.StatusMethodNotAllowed, "The explorer only reads: use GET or HEAD."},
		{errPaste, http.StatusBadRequest, "These bytes cannot be shown."},
		{errPasteTooBig, http.StatusRequestEntityTooLarge,
			remedied("This is more than the page takes", s.cfg.Remedies.Paste)},
		{errNoExports, http.StatusForbidden, "Exports are switched off on this explorer."},
		{errOvertaken, http.StatusServiceUnavailable,
			"Messages were evicted before they were written; try again, or ask for fewer."},
		{errURLTooLong, http.StatusRequestURITooLong, "The address is longer than the explorer accepts."},
		{errHost, http.StatusForbidden,
			remedied("This host name is not one that the explorer answers to", s.cfg.Remedies.Host)},
		{errOrigin, http.StatusForbidden, "The live feed answers only to pages of the explorer itself."},
		{errForeign, http.StatusForbidden, "Another site's page asked for this; open the explorer itself."},
		{access.ErrLongPassword, http.StatusUnauthorized,
			"A password has at most 72 bytes, since bcrypt looks at no more; set a shorter one."},
		{access.ErrLogin, http.StatusUnauthorized, "The explorer asks for a login."},
		{access.ErrBusy, http.StatusServiceUnavailable, "Too many logins are being checked; try again in a moment."},
		{errNotWebsocket, http.StatusUpgradeRequired, "The live feed speaks websocket only."},
		{budget.ErrBusy, http.StatusServiceUnavailable,
			"The explorer is busy with other queries; try again in a moment."},
		{budget.ErrFull, http.StatusServiceUnavailable,
			"The explorer has as much work in progress as its memory allows; try again in a moment."},
		{live.ErrTooMany, http.StatusServiceUnavailable,
			"As many live feeds are open as the explorer allows; close one or try again later."},
		{live.ErrClosed, http.StatusServiceUnavailable, "The explorer is shutting down."},
		{context.DeadlineExceeded, http.StatusServiceUnavailable,
			"This took longer than the explorer allows; narrow the filter or the time range."},
	}
}

// Remedies are what whoever runs the explorer can do about what a page says, in the words of the
// command line. "": the page does not say.
type Remedies struct {
	// Each of these ends a sentence.
	Host   string // about a host name that is not answered to
	Memory string // about messages that were evicted
	Paste  string // about bytes that are too many for a page
	// Body is a sentence about bodies of which only a prefix was kept.
	Body string
}

// remedied is a sentence with what can be done about it.
func remedied(sentence, remedy string) string {
	if remedy == "" {
		return sentence + "."
	}
	return sentence + "; " + remedy + "."
}

// failureOf finds what err means to the browser.
func (s *Server) failureOf(err error) failure {
	f := failure{Err: err, Offset: -1, End: -1}
	if wrong, ok := errors.AsType[*query.Error](err); ok {
		f.Status, f.Msg, f.Offset, f.End = http.StatusBadRequest, wrong.Msg, wrong.Offset, wrong.End
		return f
	}
	if wrong, ok := errors.AsType[*paramError](err); ok {
		f.Status, f.Msg = http.StatusBadRequest, wrong.Msg
		return f
	}
	if limit, ok := errors.AsType[*access.LimitError](err); ok {
		f.Status, f.Msg = http.StatusTooManyRequests, "Too many logins have failed; try again later."
		f.RetryAfter = int(math.Ceil(limit.Wait.Seconds()))
		return f
	}
	f.Status, f.Msg = http.StatusInternalServerError, "Something went wrong inside the explorer; its log says what."
	for _, line := range s.statusTable() {
		if errors.Is(err, line.err) {
			f.Status, f.Msg = line.status, line.msg
			break
		}
	}
	if own, ok := errors.AsType[*sentenceError](err); ok {
		f.Msg = own.sentence
	}
	if f.Status == http.StatusServiceUnavailable {
		f.RetryAfter = retryAfterSeconds
	}
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
	f := s.failureOf(err)
	if own, ok := errors.AsType[*shownError](err); ok && s.errorFormat(r, f) == formatHTML {
		page, err := own.page(f)
		if err == nil {
			err = s.render(w, r, f.Status, page)
		}
		if err != nil {
			s.answer(w, r, err)
		}
		return
	}
	level := slog.LevelDebug
	if f.Status >= 500 {
		level = slog.LevelWarn
	}
	s.logger.Log(r.Context(), level, "request failed",
		"method", r.Method, "path", r.URL.Path, "status", f.Status, "error", f.Err)

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
	switch s.errorFormat(r, f) {
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

// errorFormat is the form in which r wants to hear of f. Who is not let in
// never gets a page: pages name the queue and the broker's state.
func (s *Server) errorFormat(r *http.Request, f failure) format {
	if underAPI(s.relative(r.URL.Path)) {
		return formatJSON
	}
	if s.beforeLogin(f) || full(f.Err) {
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

// beforeLogin reports whether f is of those that strangers can cause.
func (s *Server) beforeLogin(f failure) bool {
	if errors.Is(f.Err, errHost) || errors.Is(f.Err, errForeign) {
		return true
	}
	if s.cfg.Guard == nil {
		return false // then a browser that asks for too much may as well see a page
	}
	switch f.Status {
	case http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable,
		http.StatusMethodNotAllowed, http.StatusRequestURITooLong:
		return true
	}
	return errors.Is(f.Err, errNowhere)
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
