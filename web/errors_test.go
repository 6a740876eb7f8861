package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/budget"
)

// Every failure has a status and a sentence, whether or not anyone has filled in a remedy.
func TestEveryFailureHasAStatusAndASentence(t *testing.T) {
	with := newFixture(t)
	without := newFixture(t, func(c *Config, _ *archive.Config) { c.Remedies = Remedies{} })
	_, bad := query.Compile("(")
	errs := []error{
		bad, &paramError{"q", "Sentence."}, &access.LimitError{Wait: time.Second}, errPanic, errors.New("anything"),
		&shownError{&sentenceError{archive.ErrEvicted, "Own."}, nil},
	}
	for _, line := range with.statusTable() {
		errs = append(errs, line.err)
	}
	for _, err := range errs {
		t.Run(err.Error(), func(t *testing.T) {
			for _, s := range []*Server{with.Server, without.Server} {
				f := s.failureOf(err)
				if f.Status < 400 || http.StatusText(f.Status) == "" {
					t.Errorf("status %d", f.Status)
				}
				if r, _ := utf8.DecodeRuneInString(f.Msg); f.Msg == "" || !strings.HasSuffix(f.Msg, ".") ||
					strings.ToUpper(string(r)) != string(r) || strings.Contains(f.Msg, "..") {
					t.Errorf("%q is no sentence", f.Msg)
				}
				if f.Err != err {
					t.Error("the cause is lost")
				}
			}
		})
	}
	own := with.failureOf(&shownError{&sentenceError{archive.ErrEvicted, "Own."}, nil})
	if own.Status != http.StatusGone || own.Msg != "Own." {
		t.Errorf("%d %q, want the status of what it stands for and its own sentence", own.Status, own.Msg)
	}
}

func TestErrorPages(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archive.Config) { a.MaxBytes, a.SegmentBytes = 256<<10, 64<<10 })
	f.fill(10_000)
	for _, tt := range []struct {
		path   string
		status int
		title  string
	}{
		{"/m/1", 410, "Evicted"},
		{"/m/10001", 404, "Not found"},
		{"/nowhere", 404, "Not found"},
		{"/?before=x", 400, "Cannot be understood"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			f := f.in(t)
			r := f.get(tt.path, "Accept", "text/html").want(tt.status).wantText(tt.title)
			if text(r.html()) == "" {
				t.Errorf("%s: an empty page", tt.path)
			}
			if part := f.get(tt.path, "HX-Request", "true").want(tt.status).wantText(tt.title); strings.Contains(
				string(part.body),
				"<html",
			) {
				t.Errorf("%s: htmx gets a whole page", tt.path)
			}
			f.get(tt.path, "Accept", "application/json").want(tt.status).json()
			f.get(tt.path).want(tt.status).wantHeader("Content-Type", "text/plain; charset=utf-8")
		})
	}
	f.get("/m/1", "Accept", "text/html").wantText("The oldest message kept is")
}

func TestPanicIsAnsweredAndLogged(t *testing.T) {
	f := newFixture(t)
	boom := f.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { panic("boom") }))
	w := httptest.NewRecorder()
	boom.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "boom") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if log := f.log.String(); !strings.Contains(log, "boom") || !strings.Contains(log, "errors_test.go") {
		t.Errorf("log %s", log)
	}
}

// A panic after the first byte cuts the response off.
func TestPanicAfterTheFirstByte(t *testing.T) {
	f := newFixture(t)
	late := f.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic("late")
	}))
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("the response was not cut off")
		}
	}()
	late.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
}

func TestBusy(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.MaxQueries = 1 })
	f.sources.Queries = budget.NewLimiter(1, 0)
	release, err := f.sources.Queries.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.get("/api/messages").want(http.StatusServiceUnavailable).wantHeader("Retry-After", "2").json()
	f.get("/", "Accept", "text/html").want(http.StatusServiceUnavailable).html()
	f.get("/export.jsonl").want(http.StatusServiceUnavailable)
	release()
	f.get("/api/messages").want(http.StatusOK)
}

func TestCancelledRequestIsNotAnswered(t *testing.T) {
	f := newFixture(t)
	f.fill(1000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequest("GET", "/api/messages", nil).WithContext(ctx)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if w.Body.Len() != 0 {
		t.Errorf("%s", w.Body)
	}
}
