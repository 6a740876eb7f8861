package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/sources"
)

// BenchmarkPageOfSeveral is the list of one source and of 64 with as many messages together.
func BenchmarkPageOfSeveral(b *testing.B) {
	const messages = 256_000
	for _, n := range []int{1, 64} {
		cfg := Config{Now: func() time.Time { return noon.Add(time.Hour) }}
		var writers []*archive.Writer
		for i := range n {
			name := fmt.Sprint("s", i)
			a := archive.New(archive.Config{MaxBytes: 512 << 20 / int64(n), Origin: archive.Origin{Source: name}})
			cfg.Sources = append(cfg.Sources, sources.Source{Name: name, Archive: a})
			writers = append(writers, a.Writer())
		}
		for i := range messages {
			header := wire.AppendContentHeaderPayload(nil, 0,
				wire.Property{Name: "headers", Raw: table("tenant", fmt.Sprint("t", i%50), "kind", "order", "attempt", "1")})
			w := writers[i%n]
			w.Begin(&wire.Delivery{RoutingKey: []byte("orders"), Header: header},
				noon.Add(time.Duration(i)*10*time.Millisecond))
			w.Commit()
		}
		s, err := New(cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		for _, tt := range []struct{ name, path string }{
			{"newest", "/?limit=100"},
			{"filter", "/api/messages?limit=100&q=tenant+%3D+t7"},
			{"API", "/api/messages?limit=100"},
		} {
			b.Run(fmt.Sprintf("%s/%d", tt.name, n), func(b *testing.B) {
				for b.Loop() {
					r := httptest.NewRequest(http.MethodGet, tt.path, nil)
					r.Host = "localhost:8080"
					w := httptest.NewRecorder()
					if s.ServeHTTP(w, r); w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
				}
			})
		}
	}
}
