package web

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/web/budget"
)

// from is a request of an address, as the server sees it once it has told who sent it.
func from(addr string, r *http.Request) *http.Request {
	r.RemoteAddr = addr + ":1"
	return r
}

// ask answers a request and returns the status.
func (f *fixture) ask(r *http.Request) int {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Code
}

// However much one address has made for it, another's page is made at once.
func TestPagesWaitForTheirOwnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.add(message{key: "k"})
		f.pages.Limits = budget.Limits{All: 8, Each: 2, Line: 1, Wait: queryWait}
		hog := budget.For(t.Context(), "192.0.2.66/32")
		for range 2 {
			if _, err := f.pages.Acquire(hog); err != nil {
				t.Fatal(err)
			}
		}
		page := func(addr string) *http.Request {
			return from(addr, httptest.NewRequest(http.MethodGet, "http://localhost/", nil))
		}
		begin := time.Now()
		if status := f.ask(page("192.0.2.9")); status != http.StatusOK || time.Since(begin) != 0 {
			t.Errorf("another address: status %d after %v", status, time.Since(begin))
		}
		go f.ask(page("192.0.2.66"))
		synctest.Wait()
		if status := f.ask(page("192.0.2.66")); status != http.StatusServiceUnavailable || time.Since(begin) != 0 {
			t.Errorf("one more in a full line: status %d after %v", status, time.Since(begin))
		}
		if held := heldBy(f); held != 0 {
			t.Errorf("%d bytes for pages that are not begun", held)
		}
		time.Sleep(queryWait)
		synctest.Wait()
		if status := f.ask(page("192.0.2.66")); status != http.StatusServiceUnavailable ||
			time.Since(begin) != 2*queryWait {
			t.Errorf("nothing becomes free: status %d after %v", status, time.Since(begin))
		}
	})
}

// Who has too many requests under way gets no body, which could be left unread; others are
// answered.
func TestRequestsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.admitted = budget.NewTurns(budget.Limits{All: 100, Each: 1, Wait: time.Second})
		if _, err := f.admitted.Acquire(budget.For(t.Context(), "192.0.2.66/32")); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, from("192.0.2.66", httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil)))
		if w.Code != http.StatusServiceUnavailable || w.Body.Len() > 0 || w.Header().Get("Retry-After") == "" {
			t.Errorf("status %d, %q, %v", w.Code, w.Body, w.Header())
		}
		other := from("192.0.2.9", httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
		if status := f.ask(other); status != http.StatusOK {
			t.Errorf("another address: status %d", status)
		}
	})
}

// An upload that drips in has no turn before it is there, and gives its bytes up when others want
// them.
func TestUploadsArriveFirst(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) { c.Budget = 10 << 20 })
	f.pages.Limits = budget.Limits{All: 1, Each: 1}
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	_ = m.WriteField("bytes", "00000000")
	_ = m.Close()
	whole := form.Bytes()
	read, write := io.Pipe()
	r := httptest.NewRequest(http.MethodPost, "http://localhost/inspect", read)
	r.Header.Set("Content-Type", m.FormDataContentType())
	status := make(chan int)
	go func() { status <- f.ask(from("192.0.2.66", r)) }()
	if _, err := write.Write(whole[:10]); err != nil {
		t.Fatal(err)
	}
	release, err := f.pages.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := write.Write(whole[10:]); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if got := <-status; got != http.StatusSeeOther {
		t.Errorf("status %d", got)
	}
}
