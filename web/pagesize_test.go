package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// No page is large but for a message's own content: rows and names are left out of it instead.
func TestPagesAreSmall(t *testing.T) {
	f := newFixture(t)
	f.fill(1200)
	for i := range 250 {
		f.add(message{headers: table(fmt.Sprint("header-", i), "v", strings.Repeat("\u202ex", 40)+fmt.Sprint(i), "w")})
	}
	filter := url.QueryEscape("EXISTS(tenant) OR tenant <> '" + strings.Repeat("é", 4900) + "'")
	facet := url.QueryEscape(`"` + strings.Repeat("é", 127) + `"`)
	columns := url.QueryEscape(`"` + strings.Repeat("é", 127) + `","` + strings.Repeat("ü", 127) + `"`)
	most := "/?facet=" + url.QueryEscape(strings.Repeat("é", 260)) + "&cols=" + url.QueryEscape(strings.Repeat("é", 512))
	for _, path := range []string{
		most, "/?", "/?limit=1000", "/?limit=1000&cols=tenant,kind", "/?limit=1000&cols=tenant&sort=tenant", "/?limit=1000&after=0",
		"/m/7?limit=1000", "/m/900?limit=1000", "/?limit=1000&facet=tenant&q=" + filter, "/?limit=1000&facet=" + facet + "&q=" + filter,
		"/?limit=1000&cols=" + columns, "/?limit=1000&cols=" + columns + "&facet=" + facet + "&sort=tenant&q=" + filter,
	} {
		t.Run(path[:min(len(path), 80)], func(t *testing.T) {
			r := f.in(t).get(path, "Accept", "text/html").want(http.StatusOK)
			if len(r.body) > 300_000 || len(r.rows()) < 10 && path != most && !strings.HasPrefix(path, "/m/7") {
				t.Errorf("the page has %d bytes and %d rows", len(r.body), len(r.rows()))
			}
		})
	}
	f.get("/?facet=" + url.QueryEscape(strings.Repeat("é", 4900))).want(http.StatusBadRequest)
	f.get("/?cols=" + url.QueryEscape(strings.Repeat("é", 4900))).want(http.StatusBadRequest)
}

// Pages that have no room for all of their rows follow each other without a gap, in both
// directions.
func TestPagesThatAreCutFollowEachOther(t *testing.T) {
	f := newFixture(t)
	f.fill(1200)
	for _, tt := range []struct{ first, rel string }{{"/?limit=1000", "next"}, {"/?limit=1000&after=0", "prev"}} {
		t.Run(tt.rel, func(t *testing.T) {
			f := f.in(t)
			seen := map[string]bool{}
			for path, pages := tt.first, 0; ; pages++ {
				r := f.get(path).want(http.StatusOK)
				if pages == 0 {
					r.wantText("as many as one page has room for")
				}
				for _, row := range r.rows() {
					seen[row] = true
				}
				if len(seen) == 1200 {
					break
				}
				link := find(r.html(), "rel", tt.rel)
				if pages > 20 || link == nil {
					t.Fatalf("%d of 1200 messages on %d pages", len(seen), pages)
				}
				path, _ = attr(link, "href")
			}
		})
	}
	middle := f.get("/?limit=50&after=100").want(http.StatusOK)
	if older, _ := attr(find(middle.html(), "rel", "next"), "href"); !strings.Contains(older, "before=101") {
		t.Errorf("older than 101 is %q", older)
	}
	opened := f.get("/m/500?limit=1000").want(http.StatusOK)
	if rows := opened.rows(); len(rows) < 100 || rows[0] != "500" {
		t.Errorf("the rows around message 500 are %d from %v", len(rows), rows[0])
	}
}
