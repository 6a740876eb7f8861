package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// A reader without scripts gets from the list over a filter to a message and its
// bytes, by links and forms alone.
func TestWalkWithoutScripts(t *testing.T) {
	f := newFixture(t)
	f.fill(60)
	headers := table("tenant", "acme", "x-death", "no")
	f.add(message{exchange: "shop", key: "order", headers: headers, body: []byte("hello")})

	page := f.get("/").want(http.StatusOK)
	form := find(page.html(), "role", "search")
	if action, _ := attr(form, "action"); action != "/" {
		t.Fatalf("the form leads to %q", action)
	}
	if input := find(form, "name", "q"); input == nil {
		t.Fatal("no field for the filter")
	}
	fields := url.Values{"q": {"tenant = 'acme'"}}
	for n := range form.Descendants() {
		if typ, _ := attr(n, "type"); n.Data == "input" && typ == "hidden" {
			name, _ := attr(n, "name")
			value, _ := attr(n, "value")
			fields.Add(name, value)
		}
	}
	page = f.get("/?" + fields.Encode()).want(http.StatusOK)
	if got := page.rows(); !slices.Equal(got, []string{"61"}) {
		t.Fatalf("the filter finds %v", got)
	}
	var open string
	for n := range find(page.html(), "data-seq", "61").Descendants() {
		if href, ok := attr(n, "href"); ok {
			open = href
		}
	}
	page = f.get(open).want(http.StatusOK).wantText("acme", "x-death")
	var downloads []string
	for n := range page.html().Descendants() {
		if href, ok := attr(n, "href"); ok && strings.HasSuffix(href, ".bin") && !slices.Contains(downloads, href) {
			downloads = append(downloads, href)
		}
	}
	slices.Sort(downloads)
	if got := fmt.Sprint(downloads); got != "[/m/61/body.bin /m/61/content-header.bin /m/61/headers.bin]" {
		t.Fatalf("downloads %s", got)
	}
	if got := f.get(downloads[2]).want(http.StatusOK).body; string(got) != string(headers) {
		t.Errorf("headers.bin is %x, want %x", got, headers)
	}
	if got := f.get(downloads[0]).want(http.StatusOK).body; string(got) != "hello" {
		t.Errorf("body.bin is %q", got)
	}
	// The keys of the panel, the values, the columns and their order are links as well.
	for _, path := range []string{"/?q=tenant", "/?facet=tenant", "/?cols=tenant", "/?cols=tenant&sort=tenant:asc"} {
		f.get(path).want(http.StatusOK)
	}
}

// TestEveryLinkWorks follows every link of the pages, as they are served behind a
// proxy that takes a base path off.
func TestEveryLinkWorks(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.BasePath = "/tools/glass" })
	f.fill(12)
	f.add(message{
		exchange: "<shop>",
		key:      "a&b=c",
		headers:  table("a key", "1 < 2", "retries", "x'y", "tenant", "acme"),
		body:     []byte("{}"),
	})
	target, err := url.Parse(f.listen(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(
		http.StripPrefix("/tools/glass", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		}}),
	)
	defer proxy.Close()

	const most = 400
	seen := map[string]bool{}
	queue := []string{
		"/tools/glass/",
		"/tools/glass/?q=tenant&facet=tenant&cols=tenant",
		"/tools/glass/?q=%28",
		"/tools/glass/m/13?tab=readings",
	}
	for len(queue) > 0 && len(seen) < most {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		resp, err := http.Get(proxy.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		// There may be nothing before or after a message to compare it with.
		edge := resp.StatusCode == http.StatusNotFound && strings.HasPrefix(path, "/tools/glass/diff?")
		if resp.StatusCode != http.StatusOK && !edge && path != "/tools/glass/?q=%28" {
			t.Errorf("%s: %s: %.200s", path, resp.Status, body)
		}
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			continue
		}
		doc, err := html.Parse(strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			for _, name := range []string{"href", "src", "action", "hx-get", "data-latest", "data-page", "data-complete", "data-summary"} {
				v, ok := attr(n, name)
				if !ok || strings.HasPrefix(v, "#") || v == "" {
					continue
				}
				if !strings.HasPrefix(v, "/tools/glass/") {
					t.Errorf("%s: %s=%q leaves the base path", path, name, v)
					continue
				}
				v, _, _ = strings.Cut(v, "#")
				if !seen[v] {
					queue = append(queue, v)
				}
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d addresses were found", len(seen))
	}
	t.Logf("%d addresses", len(seen))
}
