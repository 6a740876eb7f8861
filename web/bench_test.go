package web

import (
	"math/rand"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/sources"
)

// BenchmarkPages draws pages over 100,000 messages of the mix.
func BenchmarkPages(b *testing.B) {
	a := archive.New(archive.Config{})
	s, err := New(Config{Sources: []sources.Source{{Archive: a}}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewSource(1))
	w := a.Writer()
	for range 100_000 {
		payload := wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "headers", Raw: specimens.Mix(r)})
		w.Begin(&wire.Delivery{
			Exchange:   []byte("shop"),
			RoutingKey: []byte("order.created"),
			Header:     payload,
		}, time.Now())
		w.Commit()
	}
	for _, bb := range []struct{ name, target string }{
		{"list of 100", "/?limit=100"},
		{"list of 100, Tokyo", "/?limit=100&tz=Asia/Tokyo"},
		{"list of 100, two columns", "/?limit=100&cols=tenant,retries"},
		{"list filtered by key", "/?limit=100&q=x-death"},
		{"list filtered by value", "/?limit=100&q=tenant%3Dt7"},
		{"list of 100, no match", "/?limit=100&q=tenant%3Dnone"},
		{"message", "/m/50000"},
		{"api of 1000", "/api/messages?limit=1000"},
		{"api message", "/api/messages/50000"},
		{"api keys", "/api/keys"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, bb.target, nil)
				r.Host = "localhost"
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body.String())
				}
				b.SetBytes(int64(w.Body.Len()))
			}
		})
	}
}
