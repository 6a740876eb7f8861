package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/web/budget"
)

// facetRows are the values in the panel as a reader sees them, with where they
// lead.
func facetRows(r *response) (values, links []string) {
	panel := find(r.html(), "id", "facet")
	if panel == nil {
		r.t.Fatal("no panel of values")
	}
	for n := range panel.Descendants() {
		if n.Type == html.ElementNode && n.Data == "li" {
			value, _, _ := strings.Cut(strings.Join(strings.Fields(text(n)), " "), "% =")
			values = append(values, value)
			for a := range n.Descendants() {
				if class, _ := attr(a, "class"); class == "has" {
					href, _ := attr(a, "href")
					links = append(links, href)
				}
			}
		}
	}
	return values, links
}

func TestFacetPanel(t *testing.T) {
	f := newFixture(t)
	f.fill(9)
	f.add(message{key: "k", headers: encode.Table(func(e *encode.Encoder) { e.Int32("tenant", 7) })})
	f.add(message{key: "k"})

	r := f.get("/?facet=tenant").want(http.StatusOK).wantText("10 of 11")
	values, links := facetRows(r)
	if got := fmt.Sprint(values); got != "[I int32 1 10 S longstr 9 90 S t0 3 30 S t1 3 30 S t2 3 30 I 7 1 10]" {
		t.Errorf("values %s", got)
	}
	if len(links) != 6 {
		t.Fatalf("links %q", links)
	}
	if got := f.get(links[0]).want(http.StatusOK).rows(); fmt.Sprint(got) != "[10]" {
		t.Errorf("%s leads to %v", links[0], got)
	}
	if got := f.get(links[3]).want(http.StatusOK).rows(); fmt.Sprint(got) != "[8 5 2]" {
		t.Errorf("%s leads to %v", links[3], got)
	}
	if got := f.get(links[5]).want(http.StatusOK).rows(); fmt.Sprint(got) != "[10]" {
		t.Errorf("%s leads to %v", links[5], got)
	}

	// Over the filter, and over the time range.
	values, _ = facetRows(f.get("/?facet=tenant&q=tenant+%3D+%27t1%27"))
	if got := fmt.Sprint(values); got != "[S t1 3 100]" {
		t.Errorf("under a filter %s", got)
	}
	values, _ = facetRows(f.get("/?facet=$exchange&to=2026-03-01T12:00:04Z"))
	if got := fmt.Sprint(values); got != "[shop 4 100]" {
		t.Errorf("in a time range %s", got)
	}
	f.get("/?facet=a+b").want(http.StatusOK).wantText("This does not read")
	if n := f.FullDecodes(); n != 0 {
		t.Errorf("%d decodes", n)
	}
}

func TestHostileFacetIsInert(t *testing.T) {
	f := newFixture(t)
	hostile := `<img src=x onerror=alert(1)>"'&` + "\u202e\x00"
	f.add(message{headers: table(hostile, hostile)})
	q := url.Values{"facet": {`"<img src=x onerror=alert(1)>\"'&` + "\u202e" + `\x00"`}}
	inert := func(what string, root *html.Node) {
		t.Helper()
		if shown := text(root); strings.Contains(shown, "\u202e") ||
			!strings.Contains(shown, `<img src=x onerror=alert(1)>"'&\u202e`) {
			t.Errorf("%s: the value is shown as %q", what, shown)
		}
		for n := range root.Descendants() {
			if n.Data == "img" && n.Type == html.ElementNode {
				t.Errorf("%s: the value is an element", what)
			}
		}
	}
	inert("page", find(f.get("/?"+q.Encode()).want(http.StatusOK).html(), "id", "facet"))
	for name, part := range f.get("/summary?" + q.Encode()).want(http.StatusOK).json() {
		if name == "total" || name == "keys" {
			continue // nothing filters; the names are those of the page
		}
		root, err := html.Parse(strings.NewReader(fmt.Sprint(part)))
		if err != nil {
			t.Fatal(err)
		}
		inert(name, root)
	}
	values, links := facetRows(f.get("/?" + q.Encode()))
	if len(values) != 1 || !strings.Contains(values[0], `\u202e\x00`) || len(links) != 1 {
		t.Fatalf("values %q", values)
	}
	if got := f.get(links[0]).want(http.StatusOK).rows(); len(got) != 1 {
		t.Errorf("its link finds %v", got)
	}
}

// What the time does not suffice for is said, and comes after the page.
func TestCountsAreBoundedInTime(t *testing.T) {
	f := newFixture(t)
	f.fill(3000)
	p := views.Page{Page: listing.Page{
		Frame: shell.Frame{Links: address.Links{State: address.State{Q: "x"}}},
		List:  listing.List{Count: &query.Count{Matched: 5}},
		Bar:   listing.QueryBar{Explain: &query.Explain{}},
	}}
	var b strings.Builder
	if err := views.Document(p).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `data-summary="/summary?q=x"`) || !strings.Contains(b.String(), "at least") {
		t.Error("a page that is counted in part does not say so")
	}
	m := f.get("/summary?q=tenant+%3D+%27t1%27&facet=tenant").want(http.StatusOK).json()
	for name, part := range map[string]string{"chart": "<svg", "facet": "1000", "total": "1000"} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(fmt.Sprint(m[name]), part) {
				t.Errorf("%s: no %s in %.300s", name, part, m[name])
			}
		})
	}
	if strings.Contains(fmt.Sprint(m["total"]), "at least") {
		t.Errorf("total %s", m["total"])
	}
	f.get("/summary?q=%28").want(http.StatusBadRequest)
}

// A busy explorer draws pages all the same.
func TestPageWhileBusy(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.MaxQueries = 1 })
	f.fill(3)
	release, err := f.sources.Queries.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	req, err := f.parse(requestFor(t, "/?facet=tenant"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.summarise(t.Context(), f.sources.View(), req, time.Millisecond); !errors.Is(err, budget.ErrBusy) {
		t.Errorf("counting while busy: %v", err)
	}
	release()
	f.get("/?facet=tenant").want(http.StatusOK)
}

func TestDamagedAreOffered(t *testing.T) {
	f := newFixture(t)
	f.fill(3)
	cut := table("before", "1", "tenant", "t1")
	f.add(message{headers: append(cut[:len(cut)-6], "Zxxxxx"...)})
	r := f.get("/?q=tenant+%3D+%27t1%27").want(http.StatusOK).wantText("1 damaged could not be decided: show it")
	if got := fmt.Sprint(r.rows()); got != "[2]" {
		t.Errorf("rows %s", got)
	}
	r = f.get("/?q=tenant+%3D+%27t1%27&damaged=1").want(http.StatusOK).wantText("undecided", "leave them out")
	if got := fmt.Sprint(r.rows()); got != "[4 2]" {
		t.Errorf("with the damaged: %s", got)
	}
	f.get("/?damaged=yes").want(http.StatusBadRequest)
}

func TestChips(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	r := f.get("/?q=tenant+AND+%28a+OR+b%29+AND+retries+%3E+3").want(http.StatusOK)
	var chips, links []string
	for n := range r.html().Descendants() {
		if class, _ := attr(n, "class"); class == "chips" {
			for li := range n.ChildNodes() {
				chips = append(chips, strings.TrimSpace(text(li)))
				for a := range li.Descendants() {
					if href, ok := attr(a, "href"); ok && strings.HasPrefix(href, "/") {
						links = append(links, href)
					}
				}
			}
		}
	}
	if got := fmt.Sprintf("%q", chips); got != `["tenant" "(a OR b)" "retries > 3"]` {
		t.Errorf("chips %s", got)
	}
	if len(links) != 3 || links[1] != "/?q=tenant+AND+retries+%3E+3" {
		t.Errorf("links %q", links)
	}
}

func TestExplain(t *testing.T) {
	f := newFixture(t)
	f.fill(6)
	f.add(message{})
	f.get("/?q=tenant%3Dt1").
		want(http.StatusOK).
		wantText("reads 1 header", "1 of 2 shapes can match", "0 decoded", "1 decided by shape")
	m := f.get("/api/messages?q=tenant%3Dt1&explain=1").want(http.StatusOK).json()
	e, ok := m["explain"].(map[string]any)
	if !ok {
		t.Fatalf("no explain in %v", m)
	}
	for name, want := range map[string]string{
		"filter":         "tenant = t1",
		"keys":           "[tenant]",
		"shapes":         "2",
		"shapes_matched": "1",
		"scanned":        "6",
		"skipped":        "1",
		"damaged":        "0",
		"decoded":        "0",
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(e[name]); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		})
	}
	if _, ok := f.get("/api/messages").json()["explain"]; ok {
		t.Error("explains without being asked")
	}
}

func TestComplete(t *testing.T) {
	f := newFixture(t)
	f.add(message{headers: table("tenant", "x", "x-death", "y", "my key", "z")})
	f.add(message{headers: table("tenant", "x")})
	for _, tt := range []struct{ query, want string }{
		{"q=te", `{"start":0,"items":[{"insert":"tenant","name":"tenant","meaning":"","count":2}]}` + "\n"},
		{"q=tenant+%3D+%27%C3%BC%27+AND+MY", `{"start":18,"items":[{"insert":"\"my key\"","name":"my key","meaning":"","count":1}]}` + "\n"},
		{"q=x-death+AND+a&at=1", `{"start":0,"items":[{"insert":"x-death","name":"x-death","meaning":"","count":1}]}` + "\n"},
		{"q=tenant+%3D+t", `{"start":10,"items":[]}` + "\n"},
	} {
		t.Run(tt.query, func(t *testing.T) {
			f := f.in(t)
			r := f.get("/api/complete?"+tt.query).want(http.StatusOK).wantHeader("Content-Type", "application/json")
			if strings.TrimSpace(string(r.body)) != strings.TrimSpace(tt.want) {
				t.Errorf("%s: %s, want %s", tt.query, r.body, tt.want)
			}
		})
	}
	f.get("/api/complete?q=%24rout").wantText(`"insert":"$routing_key"`)
	f.get("/api/complete?q=a&at=2").want(http.StatusBadRequest)
	f.get("/api/complete?q=a&at=-1").want(http.StatusBadRequest)
}

func TestLiveStatusCounts(t *testing.T) {
	now := noon.Add(time.Minute)
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.Now = func() time.Time { return now } })
	f.fill(6)
	b := f.dialLive(t, "q=tenant%3Dt1&facet=tenant")
	m := b.read()
	for name, part := range map[string]string{
		"chart": "<svg",
		"facet": "t1",
		"total": "match",
		"keys":  "tenant",
		"html":  "orders.dlq",
	} {
		t.Run(name, func(t *testing.T) {
			if m["t"] != "status" || !strings.Contains(fmt.Sprint(m[name]), part) {
				t.Errorf("%s: no %s in %.300v", name, part, m[name])
			}
		})
	}
	if n := f.FullDecodes(); n != 0 {
		t.Errorf("%d decodes", n)
	}
}

// The panel of names counts what the page lists, and finds names beyond those it has room for.
func TestNamesFollowFilterAndRange(t *testing.T) {
	f := newFixture(t)
	f.fill(9) // received one a second from 12:00:01
	f.add(message{key: "k", headers: table("only-here", "x")})
	for i := range 250 {
		f.add(message{key: "k", headers: table(fmt.Sprint("rare-", i), "x")})
	}
	names := func(path string) string {
		panel := find(f.get(path).want(http.StatusOK).html(), "id", "names")
		return strings.Join(strings.Fields(text(panel)), " ")
	}
	for _, tt := range []struct {
		name, path string
		with       []string
		without    []string
	}{
		{"all", "/", []string{"Propertiestype+", "tenant S 9 ∃", "that the box above finds"}, []string{"rare-99", "damaged"}},
		{"found", "/?find=ONLY", []string{"only-here S 1 ∃"}, []string{"tenant", "rarer"}},
		{"none", "/?find=%3Cb%3E", []string{"No name holds <b>"}, nil},
		{"filter", "/?q=tenant+%3D+t1", []string{"Headers 1tenant S 3 ∃"}, []string{"only-here", "rare-"}},
		{"no match", "/?q=tenant+%3D+t9", []string{"Propertiestype+", "No header names here"}, nil},
		{"range", "/?to=2026-03-01T12:00:04Z", []string{"tenant S 4 ∃"}, []string{"rare-"}},
		{"open", "/?facet=tenant&q=tenant", []string{"tenant S 9 ∃ + 9 of 9 matching have it with it as column S t0 3 33% = ≠"}, nil},
		{"a path", "/?facet=x.y", []string{"x.y0 of 260 have it without as column No message"}, nil},
		{"a property", "/?facet=$exchange", []string{"exchange+ 260 of 260 have it with it as column"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := names(tt.path)
			for _, s := range tt.with {
				if !strings.Contains(got, s) {
					t.Errorf("no %q in %.600s", s, got)
				}
			}
			for _, s := range tt.without {
				if strings.Contains(got, s) {
					t.Errorf("%q in %.600s", s, got)
				}
			}
		})
	}
	f.add(message{key: "k", headers: []byte{0, 0, 0, 4, 1, 'a', '?', 0}})
	r := f.get("/?q=$exchange+IS+NOT+NULL").want(http.StatusOK)
	if got := text(find(r.html(), "id", "names")); !strings.Contains(got, "1 damaged") {
		t.Errorf("the damaged message is not counted: %.300s", got)
	}
	if n := f.FullDecodes(); n != 0 {
		t.Errorf("%d decodes", n)
	}
}
