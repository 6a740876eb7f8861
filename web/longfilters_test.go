package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/views/address"
)

// A long filter stands on a page in its field and nowhere else; links name it by its key, and lead
// to where it would.
func TestLongFiltersStandOnce(t *testing.T) {
	f := newFixture(t)
	f.fill(1200)
	filter := "EXISTS(tenant) AND tenant <> '" + strings.Repeat("é", 4900) + "'"
	for _, path := range []string{"/?limit=100&q=", "/m/7?q=", "/?facet=tenant&cols=kind&q="} {
		t.Run(path, func(t *testing.T) {
			r := f.get(path+url.QueryEscape(filter), "Accept", "text/html").want(http.StatusOK)
			plain := strings.Count(string(r.body), strings.Repeat("é", 4900))
			encoded := strings.Count(string(r.body), strings.Repeat("%C3%A9", 4900))
			if plain > 2 || encoded > 0 {
				t.Errorf("the filter stands %d times on the page and %d times in links", plain, encoded)
			}
			if len(r.body) > 300_000 {
				t.Errorf("the page has %d bytes", len(r.body))
			}
			for _, link := range regexp.MustCompile(`href="(/[^"]*filter=[^"]*)"`).FindAllStringSubmatch(string(r.body), -1) {
				target, _, _ := strings.Cut(strings.ReplaceAll(link[1], "&amp;", "&"), "#")
				got := f.get(target, "Accept", "text/html").want(http.StatusOK)
				if !strings.Contains(string(got.body), strings.Repeat("é", 4900)) &&
					!strings.HasPrefix(target, "/export") &&
					!strings.Contains(target, "view=full") {
					t.Errorf("%s is without the filter", target)
				}
			}
		})
	}
	r := f.get("/api/messages?limit=1&explain=1&filter=" + address.FilterKey(filter) + "&and=kind").want(http.StatusOK)
	if text := string(r.body); !strings.Contains(text, "AND kind") || !strings.Contains(text, "éé") {
		t.Errorf("%.200s", text)
	}
	f.get("/?filter=never-seen").want(http.StatusGone)
}

func TestLongFiltersAreForgottenFairly(t *testing.T) {
	var l longFilters
	one := strings.Repeat("a", 10_000)
	l.keep(one, "little")
	for i := range 1000 {
		l.keep(fmt.Sprint(i, strings.Repeat("b", 10_000)), "hog")
	}
	if _, ok := l.get(address.FilterKey(one)); !ok {
		t.Error("the filter of who has one is forgotten for those of who has many")
	}
	if l.bytes > maxLongFilters || len(l.all) != l.recent.Len() || l.owners["hog"]+len(one) != l.bytes {
		t.Errorf("%d bytes in %d filters, %v", l.bytes, len(l.all), l.owners)
	}
}
