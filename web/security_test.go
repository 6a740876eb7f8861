package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

type archiveConfig = archive.Config

func TestEveryResponseCarriesTheSecurityHeaders(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	css := "/static/" + f.assets.URL("app.css")
	for _, path := range []string{
		"/", "/m/1", "/m/2", "/m/1/headers.bin", "/api/messages", "/api/messages/1", "/api/keys", "/api/status",
		"/export.jsonl", "/export.csv", "/export.zip", "/export.pcapng", "/live", "/healthz", "/readyz", "/metrics", "/nowhere", "/static/nothing.css", css, "/?q=%28",
	} {
		r := f.get(path)
		r.wantHeader("X-Content-Type-Options", "nosniff").wantHeader("Referrer-Policy", "no-referrer").
			wantHeader("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		if path == css {
			r.want(http.StatusOK).wantHeader("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			r.wantHeader("Cache-Control", "no-store")
		}
		if r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s allows another origin", path)
		}
	}
}

func TestOnlyReads(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW"} {
		for _, path := range []string{"/", "/m/1", "/api/messages", "/live"} {
			f.do(method, path).want(http.StatusMethodNotAllowed).wantHeader("Allow", "GET, HEAD")
			f.do(method, path, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example").
				want(http.StatusMethodNotAllowed)
		}
		// What is not there is not there for any method.
		f.do(method, "/nowhere").want(http.StatusNotFound).wantHeader("Allow", "")
		f.do(method, "/api/nowhere").want(http.StatusNotFound).wantHeader("Content-Type", "application/json")
	}
}

func TestHostIsChecked(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) {
		c.AllowedHosts = []string{"Explorer.example.com", "ported.example.com:8443"}
	})
	for host, want := range map[string]int{
		"localhost":                 200,
		"localhost:8080":            200,
		"LOCALHOST:1":               200,
		"localhost.":                200,
		"127.0.0.1:8080":            200,
		"[::1]:8080":                200,
		"[::1]":                     200,
		"192.168.1.5:8080":          200,
		"explorer.example.com":      200,
		"explorer.example.com:8080": 200,
		"ported.example.com:8443":   200,
		"evil.example":              403,
		"evil.example:8080":         403,
		"localhost.evil.example":    403,
		"127.0.0.1.evil.example":    403,
		"x.explorer.example.com":    403,
		"":                          403,
		":8080":                     403,
	} {
		t.Run(host, func(t *testing.T) {
			f := f.in(t)
			for _, path := range []string{"/", "/api/status", "/healthz", "/static/x"} {
				r := f.get(path, "Host", host)
				if refused := r.StatusCode == http.StatusForbidden; refused != (want == 403) {
					t.Errorf("Host %q, %s: status %d", host, path, r.StatusCode)
				}
			}
		})
	}
	f.get("/", "Host", "evil.example").wantText("--allow-host")
	for _, accept := range []string{"text/html", "application/json", "*/*"} {
		if r := f.get("/", "Host", "evil.example", "Accept", accept); strings.Contains(string(r.body), "orders.dlq") {
			t.Errorf("a foreign host is told of the queue: %s", r.body)
		}
	}
}

func TestLongAddress(t *testing.T) {
	f := newFixture(t)
	f.get("/?q=" + strings.Repeat("a", maxTargetBytes)).want(http.StatusRequestURITooLong)
	f.get("/?q=" + strings.Repeat("a", 11<<10)).want(http.StatusBadRequest)
	srv := f.listen(t)
	r, _ := http.NewRequest("GET", srv.URL, nil)
	r.Header.Set("X-Long", strings.Repeat("a", 10<<20))
	resp, err := srv.Client().Do(r)
	if err != nil {
		return // the server may hang up while the client is still sending
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("10 MiB of header: status %d", resp.StatusCode)
	}
}

func TestHTTPServerBoundsEverything(t *testing.T) {
	srv := HTTPServer(newFixture(t).Server)
	if srv.ReadHeaderTimeout <= 0 || srv.ReadTimeout <= 0 || srv.WriteTimeout <= 0 || srv.IdleTimeout <= 0 ||
		srv.MaxHeaderBytes <= 0 {
		t.Errorf("unbounded: %+v", srv)
	}
}

func TestTraversal(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	for _, path := range []string{
		"/static/../server.go", "/static/%2e%2e/server.go", "/static/..%2fserver.go", "/static//etc/passwd", "/static/",
		"/m/..%2f..%2fetc%2fpasswd", "/m/%2e%2e/headers.bin", "/m/1%00/headers.bin", "/m/+1", "/m/-1", "/m/1.0", "/m/0x1", "/m/", "/m/CON",
		"/m/99999999999999999999999/body.bin",
	} {
		if r := f.get(path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, r.StatusCode)
		}
	}
}
