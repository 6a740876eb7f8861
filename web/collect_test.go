package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/eventually"
)

// deaf is a browser that reads nothing until it is told to.
type deaf struct {
	*httptest.ResponseRecorder
	reading chan struct{}
	stuck   chan struct{} // one for each write that waits
}

func newDeaf() *deaf {
	return &deaf{httptest.NewRecorder(), make(chan struct{}), make(chan struct{}, 1000)}
}

func (d *deaf) Write(b []byte) (int, error) {
	d.stuck <- struct{}{}
	<-d.reading
	return d.ResponseRecorder.Write(b)
}

func heldBy(f *fixture) (n int64) {
	for _, of := range budget.Kinds() {
		n += f.budget.Stats().Held[of]
	}
	return n
}

// While a browser does not read, only what it is to read is kept: neither the page's making nor
// messages.
func TestAnswersWaitAlone(t *testing.T) {
	for _, path := range []string{"/?limit=1000", "/api/messages?limit=1000", "/m/1", "/diff?m=1&m=2"} {
		t.Run(path, func(t *testing.T) {
			f := newFixture(t)
			f.fill(450)
			d := newDeaf()
			r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
			r.Header.Set("Accept", "text/html")
			r.Header.Set("Accept-Encoding", "gzip")
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				f.ServeHTTP(d, r)
			}()
			<-d.stuck
			if n := heldBy(f); n == 0 || n > 2*collectMost {
				t.Errorf("%d bytes are held for a compressed answer, want one or two steps of %d", n, collectMost)
			}
			close(d.reading)
			<-ended
			if n := heldBy(f); n != 0 {
				t.Errorf("%d bytes are held after the answer", n)
			}
			if enc := d.Header().Get("Content-Encoding"); d.Code != http.StatusOK || enc != "gzip" {
				t.Errorf("status %d, encoding %q", d.Code, enc)
			}
		})
	}
}

// Without room an answer is refused, in words that need none.
func TestNoRoom(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) { c.Budget = 4 << 20 })
	f.fill(3)
	share, err := f.budget.Take(t.Context(), budget.Page, "other", 4<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/api/status", "/export.jsonl", "/m/1/headers.bin"} {
		r := f.get(path).want(http.StatusServiceUnavailable).wantHeader("Retry-After", "2")
		if strings.Contains(string(r.body), "<html") {
			t.Errorf("%s: a page says that there is no room for one", path)
		}
	}
	f.get("/healthz").want(http.StatusOK)
	share.Release()
	f.get("/").want(http.StatusOK)
}

// What is written so far is forgotten when making an answer fails.
func TestCollectedErrors(t *testing.T) {
	f := newFixture(t)
	h := f.handle(f.collect(1, f.pages, func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(bytes.Repeat([]byte("half a page"), 10_000))
		return errNoHeaders
	}))
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	w := httptest.NewRecorder()
	h(w, r)
	if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "half") || heldBy(f) != 0 {
		t.Errorf("%d %.80q, %d bytes held", w.Code, w.Body.String(), heldBy(f))
	}
}

// An answer that must give way before it is sent is refused; one that is being sent is cut off.
func TestAnswersGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(c *Config, _ *archiveConfig) { c.Budget = 4 << 20 })
		making := make(chan struct{})
		h := f.handle(f.collect(2<<20, f.pages, func(w http.ResponseWriter, r *http.Request) error {
			close(making)
			<-r.Context().Done()
			return context.Cause(r.Context())
		}))
		w := httptest.NewRecorder()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			h(w, httptest.NewRequest(http.MethodGet, "http://localhost/", nil))
		}()
		<-making
		begin := time.Now()
		share, err := f.budget.Take(t.Context(), budget.Page, "other", 2<<20, nil)
		if err != nil || time.Since(begin) != 0 {
			t.Fatal(err, time.Since(begin))
		}
		share.Release()
		<-ended
		if w.Code != http.StatusServiceUnavailable {
			t.Errorf("status %d", w.Code)
		}
	})
}

// nothingPinned waits until what was evicted is freed.
func (f *fixture) nothingPinned() {
	f.t.Helper()
	eventually.True(f.t, time.Minute, "what was evicted is freed", func() bool {
		runtime.GC()
		return f.archive.Stats().Pinned == 0
	})
}

// evict fills memory until nothing is left of what was there.
func (f *fixture) evict() {
	f.t.Helper()
	last, body := f.archive.Snapshot().Last(), bytes.Repeat([]byte("x"), 20<<10)
	for f.archive.Snapshot().First() <= last {
		f.add(message{key: "new", body: body})
	}
}

// A feed keeps no evicted message, neither those that were there when it began nor the last one it
// has looked at.
func TestFeedsKeepNothing(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archiveConfig) { a.MaxBytes, a.SegmentBytes = 1<<20, 64<<10 })
	f.fill(100)
	b := f.dialLive(t, "q=kind&facet=kind")
	f.add(message{headers: table("kind", "new")})
	if m := b.rows(); m["count"] != 1.0 {
		t.Fatalf("%v", m)
	}
	f.evict()
	f.nothingPinned()
}

// An export that nobody reads keeps no evicted message.
func TestSlowExportsKeepNothing(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archiveConfig) {
		a.MaxBytes, a.SegmentBytes, a.BodyLimit = 1<<20, 64<<10, 64<<10
	})
	body := bytes.Repeat([]byte("x"), 20<<10)
	for range 40 {
		f.add(message{key: "old", body: body})
	}
	d := newDeaf()
	ctx, leave := context.WithCancelCause(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }() // the export is cut off
		f.ServeHTTP(d, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/export.jsonl", nil))
	}()
	<-d.stuck
	first := f.archive.Snapshot().First()
	for range 200 {
		f.add(message{key: "new", body: body})
	}
	if f.archive.Snapshot().First() == first {
		t.Fatal("nothing was evicted")
	}
	f.nothingPinned()
	leave(errors.New("gone"))
	close(d.reading)
	<-ended
}
