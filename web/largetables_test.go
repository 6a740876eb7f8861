package web

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// endless is a table of n fields without a name and a value, two octets each.
func endless(n int) []byte {
	size := 2 * n
	return append([]byte{byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)},
		bytes.Repeat([]byte{0, 'V'}, n)...)
}

// What is made of a large table is many times as large. It is sent while it is made: who does not
// read finds the message itself in the budget and a buffer, and nothing that was made ahead.
func TestLargeTablesAreSentAsTheyAreMade(t *testing.T) {
	const fields = 200_000
	f := newFixture(t, func(_ *Config, a *archive.Config) { a.MaxBytes = 64 << 20 })
	f.add(message{key: "large", headers: endless(fields)})
	for _, tt := range []struct {
		path string
		held int64 // bytes of the budget, at most
	}{
		{"/api/messages/1", 2*fields + 2<<20},
		{"/m/1/message.zip", 2*fields + 3<<20},
		{"/export.jsonl", 2*fields + 2<<20},
		{"/export.zip", 2*fields + 3<<20},
		{"/m/1/headers.bin", 2*fields + 1<<20},
	} {
		t.Run(tt.path, func(t *testing.T) {
			d := newDeaf()
			ended := make(chan struct{})
			ctx, leave := context.WithCancel(t.Context())
			var before, during runtime.MemStats
			runtime.ReadMemStats(&before)
			go func() {
				defer close(ended)
				defer func() { _ = recover() }() // the answer is cut off
				f.ServeHTTP(d, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+tt.path, nil))
			}()
			<-d.stuck
			runtime.ReadMemStats(&during)
			if n := heldBy(f); n < 2*fields || n > tt.held {
				t.Errorf("%d bytes are held, want %d to %d", n, 2*fields, tt.held)
			}
			if n := during.TotalAlloc - before.TotalAlloc; n > 8<<20 {
				t.Errorf("%d bytes were allocated before the first was read", n)
			}
			leave()
			close(d.reading)
			<-ended
			if n := heldBy(f); n != 0 || d.Code != http.StatusOK {
				t.Errorf("status %d, and %d bytes are held after the answer", d.Code, n)
			}
		})
	}
}

// Pages show a part of a large table, which is their messages' own content.
func TestPagesOfLargeTablesAreSmall(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archive.Config) { a.MaxBytes = 64 << 20 })
	for range 2 {
		f.add(message{key: "large", headers: endless(50_000)})
	}
	for _, path := range []string{"/m/1?view=full", "/m/1", "/diff?m=1&m=2", "/diff?m=1&m=2&m=1"} {
		t.Run(path, func(t *testing.T) {
			if r := f.in(t).get(path, "Accept", "text/html").want(http.StatusOK); len(r.body) > 600_000 {
				t.Errorf("the page has %d bytes", len(r.body))
			}
		})
	}
}

// Who reads an answer slowly holds the bytes that are not read yet, and no more.
func TestSlowReadersGiveBackWhatTheyHaveRead(t *testing.T) {
	f := newFixture(t)
	f.fill(1200)
	d := newDeaf()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.ServeHTTP(d, httptest.NewRequest(http.MethodGet, "http://localhost/api/messages?limit=1000", nil))
	}()
	<-d.stuck
	before := heldBy(f)
	if before < 3*collectLeast {
		t.Fatalf("%d bytes are too few to say anything", before)
	}
	parts := 0
	for done := false; !done; parts++ {
		d.reading <- struct{}{}
		select {
		case <-d.stuck:
			held := heldBy(f)
			if held >= before {
				t.Errorf("%d bytes are held after another part was read, %d before", held, before)
			}
			before = held
		case <-ended:
			done = true
		}
	}
	if n := heldBy(f); n != 0 || parts < 4 {
		t.Errorf("%d bytes are held after %d parts", n, parts)
	}
}
