package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func (f *fixture) fill(n int) {
	for i := range n {
		f.add(message{
			exchange: "shop",
			key:      "order." + strconv.Itoa(i+1),
			headers:  table("tenant", "t"+strconv.Itoa(i%3)),
		})
	}
}

func seqs(from, to int) []string {
	var s []string
	for i := from; i >= to; i-- {
		s = append(s, strconv.Itoa(i))
	}
	return s
}

func TestListIsNewestFirst(t *testing.T) {
	f := newFixture(t)
	f.fill(120)
	if got := f.get("/").want(http.StatusOK).rows(); !slices.Equal(got, seqs(120, 71)) {
		t.Errorf("first page %v", got)
	}
	if got := f.get("/?limit=3").rows(); !slices.Equal(got, seqs(120, 118)) {
		t.Errorf("limit 3: %v", got)
	}
}

func TestEmptyList(t *testing.T) {
	f := newFixture(t)
	f.get("/").want(http.StatusOK).wantText("No messages yet", "orders.dlq")
}

// follow returns the address of the link with this rel.
func follow(r *response, rel string) string {
	r.t.Helper()
	n := find(r.html(), "rel", rel)
	if n == nil {
		return ""
	}
	href, _ := attr(n, "href")
	return href
}

// Pages join without a gap or an overlap, also while messages arrive, and back again.
func TestCursorPagesSurviveArrivals(t *testing.T) {
	f := newFixture(t)
	f.fill(25)
	page := f.get("/?limit=10")
	if got := page.rows(); !slices.Equal(got, seqs(25, 16)) {
		t.Fatalf("first page %v", got)
	}
	f.fill(7)
	page = f.get(follow(page, "next"))
	if got := page.rows(); !slices.Equal(got, seqs(15, 6)) {
		t.Fatalf("second page after arrivals %v", got)
	}
	back := f.get(follow(page, "prev"))
	if got := back.rows(); !slices.Equal(got, seqs(25, 16)) {
		t.Fatalf("back from the second page %v", got)
	}
	page = f.get(follow(page, "next"))
	if got := page.rows(); !slices.Equal(got, seqs(5, 1)) {
		t.Fatalf("last page %v", got)
	}
	if next := follow(page, "next"); next != "" {
		t.Errorf("the last page leads to %s", next)
	}
	// What came after 25 is less than a page: the newest page stands in.
	if got := f.get(follow(back, "prev")).rows(); !slices.Equal(got, seqs(32, 23)) {
		t.Errorf("newest page %v", got)
	}
}

func TestCursorPagesSurviveEviction(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archive.Config) { a.MaxBytes, a.SegmentBytes = 256<<10, 64<<10 })
	f.fill(100)
	next := follow(f.get("/?limit=10"), "next")
	f.fill(10_000)
	if f.archive.Snapshot().First() <= 100 {
		t.Fatal("nothing was evicted")
	}
	f.get(next).want(http.StatusOK).wantText("Nothing older is kept")
}

func TestListFilters(t *testing.T) {
	f := newFixture(t)
	f.fill(9)
	if got := f.get("/?q=tenant%3Dt0").rows(); !slices.Equal(got, []string{"7", "4", "1"}) {
		t.Errorf("tenant=t0: %v", got)
	}
	f.get("/?q=EXISTS%28tenat%29").want(http.StatusOK).wantText("Nothing matches", "tenant")
	if got := f.get("/?from=2026-03-01T12:00:02Z&to=2026-03-01T12:00:05Z").rows(); !slices.Equal(
		got,
		[]string{"5", "4", "3"},
	) {
		t.Errorf("time range: %v", got)
	}
}

func TestListShowsABadFilterInPlace(t *testing.T) {
	f := newFixture(t)
	f.fill(3)
	f.get("/?q=tenant+%3D+%27x").want(http.StatusBadRequest).wantHeader("Content-Type", "text/plain; charset=utf-8")
	r := f.get("/?q=tenant+%3D+%27x", "Accept", "text/html").want(http.StatusBadRequest)
	doc := r.html()
	input := find(doc, "id", "q")
	if v, _ := attr(input, "value"); v != "tenant = 'x" {
		t.Errorf("the input holds %q", v)
	}
	if v, _ := attr(input, "aria-invalid"); v != "true" {
		t.Error("the input is not marked as invalid")
	}
	if got := text(find(doc, "role", "alert")); got == "" {
		t.Error("no error under the input")
	}
	if n := f.FullDecodes(); n != 0 {
		t.Errorf("%d decodes", n)
	}
}

func TestListColumns(t *testing.T) {
	f := newFixture(t)
	f.fill(2)
	f.get("/?cols=tenant").want(http.StatusOK).wantText("t1", "t0")
	var cells int
	for n := range f.get("/?cols=tenant,absent").html().Descendants() {
		if class, _ := attr(n, "class"); n.Type == html.ElementNode && n.Data == "td" && class == "col" {
			cells++
		}
	}
	if cells != 4 {
		t.Errorf("%d cells, want 4", cells)
	}
}

func TestParametersThatCannotBeUnderstood(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	for _, q := range []string{
		"before=x", "after=-1", "limit=-1", "limit=x", "from=yesterday", "to=32", "tz=Mars/Olympus", "dialect=klingon",
		"order=sideways", "q=%zz", "a=1;b=2", "cols=%ff", "cols=a,a", "cols=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q",
	} {
		for _, path := range []string{"/", "/m/1", "/api/messages", "/api/messages/1"} {
			r := f.get(path + "?" + q)
			if r.StatusCode != http.StatusBadRequest {
				t.Errorf("%s?%s: status %d, want 400", path, q, r.StatusCode)
			}
		}
	}
}

// Listing, filtering, counting names, columns and downloads decode nothing;
// opening a message decodes once.
func TestNothingIsDecodedUntilOpened(t *testing.T) {
	f := newFixture(t)
	f.fill(10_000)
	ws := f.dialLive(t, "after=0")
	if m := ws.read(); m["t"] != "status" {
		t.Fatalf("first message %v", m["t"])
	}
	for to := 0.0; to < 10_000; { // a feed that shares the machine filters a part at a time
		m := ws.rows()
		if m["from"] != to {
			t.Fatalf("live rows from %v, want %v", m["from"], to)
		}
		to, _ = m["to"].(float64)
	}
	next := "/?limit=1000&cols=tenant"
	listed := 0
	for next != "" {
		page := f.get(next).want(http.StatusOK)
		listed += len(page.rows())
		next = follow(page, "next")
	}
	if listed != 10_000 {
		t.Errorf("%d messages on all pages, want 10,000", listed)
	}
	for _, path := range []string{
		"/api/messages?limit=1000&cols=tenant", "/?q=tenant", "/api/messages?q=tenant%3Dt1", "/api/messages?q=tenant+LIKE+%27t%25%27",
		"/api/keys", "/api/status", "/metrics", "/m/5/headers.bin", "/m/5/content-header.bin", "/m/5/body.bin",
	} {
		f.get(path).want(http.StatusOK)
	}
	if n := f.FullDecodes(); n != 0 {
		t.Fatalf("%d decodes before anything was opened", n)
	}
	f.get("/m/5").want(http.StatusOK)
	if n := f.get("/api/status").json()["full_decodes"]; fmt.Sprint(n) != "1" {
		t.Errorf("%v decodes after one message was opened, want 1", n)
	}
	f.get("/api/messages/6").want(http.StatusOK)
	f.get("/m/7", "HX-Request", "true").want(http.StatusOK)
	f.get("/metrics").wantText("\nheaderglass_full_decodes_total 3\n")
}

// A name that thousands of fields have stands on one line with a count, in the list, the panel and
// the opened message.
func TestANameRepeatedThousandsOfTimes(t *testing.T) {
	f := newFixture(t)
	f.add(message{headers: encode.Table(func(e *encode.Encoder) {
		for range 5000 {
			e.Str("tenant", "acme")
		}
		e.Str("other", "x")
	})})
	f.get("/").want(http.StatusOK).wantText("tenant ×5000 · other", "Up to 5000 fields of this name in one message")
	r := f.get("/m/1?order=size").want(http.StatusOK).
		wantText("×5000", "show each of the 5000", "duplicate%28tenant%29", "100 % of the table")
	if n := len(r.body); n > 200_000 {
		t.Errorf("the page has %d bytes", n)
	}
	f.get("/?q=duplicate(tenant)").want(http.StatusOK).wantText("tenant ×5000")
}

// A word or an id that is no header's name is looked for everywhere, and the page says where it is.
func TestALoneWordIsLookedForEverywhere(t *testing.T) {
	f := newFixture(t)
	f.fill(9)
	f.add(message{key: "k", headers: table("order", "A-4711", "x-death", "x")})
	everywhere := func(word string) string { return "/?q=" + url.QueryEscape("anywhere('"+word+"')") }
	for _, tt := range []struct{ name, q, leads string }{
		{"a value", "a-4711", everywhere("a-4711")},
		{"no value", "b5e8c2f0-0000-4000-8000-000000000000", everywhere("b5e8c2f0-0000-4000-8000-000000000000")},
		{"a name with a slip", "x-deth", everywhere("x-deth")},
		{"a name", "tenant", ""},
		{"a filter", "tenant = t1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := f.in(t).get("/?q=" + url.QueryEscape(tt.q))
			status := http.StatusOK
			if tt.leads != "" {
				status = http.StatusSeeOther
			}
			if got := r.Header.Get("Location"); got != tt.leads || r.StatusCode != status {
				t.Errorf("status %d, leads to %s, want %s", r.StatusCode, got, tt.leads)
			}
		})
	}
	for _, tt := range []struct {
		name, path string
		want       []string
	}{
		{"found", everywhere("a-4711"), []string{"1 match", "1 has it in order"}},
		{"nearest name", everywhere("x-deth"), []string{
			"Of 10 messages kept none has x-deth in a header's name", "has a header x-deth", "Bodies were not looked at", "x-death",
		}},
		{"nearest filter", "/?q=Tenant+%3D+t1", []string{"Of 10 messages kept none matches", "header Tenant", "tenant = t1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(strings.Fields(text(f.in(t).get(tt.path).want(http.StatusOK).html())), " ")
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in %s", want, got)
				}
			}
		})
	}
}
