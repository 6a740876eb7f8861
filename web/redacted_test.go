package web

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// What is redacted shows nowhere: not on pages, in filters' results, in the
// bytes pane, in downloads, in exports, in the feed.
func TestRedactedValuesShowNowhere(t *testing.T) {
	const secret = "tiger-and-swordfish"
	redact, err := archive.ParseRedaction("authorization,x-api-*,$user_id")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(_ *Config, a *archiveConfig) { a.Redact = redact })
	add := func() {
		f.add(message{
			key:   "k",
			body:  []byte("body"),
			props: []wire.Property{{Name: "user_id", Raw: []byte(secret)}, {Name: "app_id", Raw: []byte("billing")}},
			headers: encode.Table(func(e *encode.Encoder) {
				e.Str("tenant", "acme")
				e.Str("Authorization", secret)
				e.Nested("forwarded", func(e *encode.Encoder) {
					e.Bytes("X-API-Key", []byte(secret))
					e.Nested("x-api-all", func(e *encode.Encoder) { e.Str(secret, secret) })
				})
				e.Array("list", func(e *encode.Encoder) {
					e.Nested("", func(e *encode.Encoder) { e.Str("authorization", secret) })
				})
				e.Value("odd", 'Z', []byte(secret))
			}),
		})
	}
	add()
	f.fill(1)
	quoted := "%27" + secret + "%27"
	for _, path := range []string{
		"/", "/?cols=Authorization,forwarded.X-API-Key", "/?q=Authorization", "/m/1", "/m/1?view=full&order=az", "/m/1?tab=readings", "/m/1?at=20",
		"/m/1?hex=1", "/m/1?dialect=qpid-336", "/m/1?dialect=spec-0-9-1", "/m/1/headers.bin", "/m/1/content-header.bin", "/m/1/body.bin",
		"/api/messages?cols=Authorization", "/api/messages/1", "/api/keys", "/api/status", "/diff?m=1&m=2", "/summary?facet=Authorization", "/?facet=Authorization", "/?facet=$user_id", "/api/complete?q=Authorization+%3D+", "/api/complete?q=Authorization+%3D+t", "/export.jsonl", "/export.zip", "/export.pcapng", "/export.csv", "/metrics",
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			r := f.get(path, "Accept", accept)
			if r.StatusCode != http.StatusOK && r.StatusCode != http.StatusNotFound {
				t.Errorf("%s: status %d", path, r.StatusCode)
			}
			body := r.body
			if z, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body))); err == nil {
				for _, file := range z.File {
					rc, err := file.Open()
					if err != nil {
						t.Fatal(err)
					}
					content, err := io.ReadAll(rc)
					if err != nil {
						t.Fatal(err)
					}
					body = append(append(body, file.Name...), content...)
				}
			}
			// also in hexadecimal
			for _, form := range []string{secret, "7469676572", "74 69 67 65 72"} {
				if bytes.Contains(body, []byte(form)) {
					t.Errorf("%s shows %s", path, form)
				}
			}
		}
	}
	for _, q := range []string{"Authorization=" + quoted, "Authorization%20LIKE%20%27%25tiger%25%27", "%24user_id=" + quoted, "%22forwarded%22.%22X-API-Key%22=" + quoted} {
		if got := f.get("/api/messages?q=" + q).want(http.StatusOK).json(); got["matched"].(interface{ String() string }).String() != "0" {
			t.Errorf("%s finds %v", q, got["matched"])
		}
	}
	b := f.dialLive(t, "after=0&cols=Authorization")
	add()
	for seen := 0.0; seen < 3; {
		m := b.rows()
		seen = m["to"].(float64)
		if html := m["html"].(string); strings.Contains(html, secret) || !strings.Contains(html, "removed") {
			t.Errorf("the feed shows %s", html)
		}
	}

	page := string(f.get("/m/1", "Accept", "text/html").want(200).body)
	if n := strings.Count(page, "removed by redaction"); n < 6 {
		t.Errorf("the page says %d times that something was removed", n)
	}
	if !strings.Contains(page, "acme") || !strings.Contains(page, "billing") {
		t.Error("what is not redacted is gone too")
	}
	if page := string(f.get("/m/2?view=full", "Accept", "text/html").want(200).body); strings.Contains(
		page,
		"--redact",
	) {
		t.Error("a message that was not redacted is marked")
	}
	if list := string(f.get("/", "Accept", "text/html").want(200).body); strings.Count(
		list,
		"<span>redacted</span>",
	) != 2 {
		t.Error("the list does not mark the two messages")
	}
}

func TestRedactedInTheAPI(t *testing.T) {
	redact, err := archive.ParseRedaction("token,$app_id")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(_ *Config, a *archiveConfig) { a.Redact = redact })
	f.add(message{
		props:   []wire.Property{{Name: "app_id", Raw: []byte("a")}},
		headers: table("k", "v", "token", "12345678"),
	})
	f.add(message{headers: table("k", "v")})
	f.get("/api/messages/1").want(200).wantText(
		`{"key":"token","tag":"S","type":"longstr","value":"********","offset":12,"end":31}`,
		`"redacted":{"headers":[{"offset":23,"end":31}],"properties":["app_id"]}}`)
	list := f.get("/api/messages?cols=k,token,$app_id").want(200).wantText(
		`"token":{"tag":"S","type":"longstr","offset":18,"end":31,"redacted":true},"$app_id":{"redacted":true}},"redacted":true}`, `"token":null,"$app_id":null}`)
	if n := strings.Count(string(list.body), "redacted"); n != 3 {
		t.Errorf("%d messages are marked: %s", n, list.body)
	}
	if one := f.get("/api/messages/2").want(200); strings.Contains(string(one.body), "redacted") {
		t.Errorf("marked: %s", one.body)
	}
}
