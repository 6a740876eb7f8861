package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/fttest"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/shell"
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
			values = append(values, strings.Join(strings.Fields(text(n)), " "))
			for a := range n.Descendants() {
				if href, ok := attr(a, "href"); ok {
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
	f.add(message{key: "k", headers: fttest.Table(func(e *fttest.Encoder) { e.Int32("tenant", 7) })})
	f.add(message{key: "k"})

	r := f.get("/?facet=tenant").want(http.StatusOK).wantText("10 of 11", "longstr 90%", "int32 10%")
	values, links := facetRows(r)
	if got := fmt.Sprint(values); got != "[S t0 3 S t1 3 S t2 3 I 7 1]" {
		t.Errorf("values %s", got)
	}
	if len(links) != 4 {
		t.Fatalf("links %q", links)
	}
	if got := f.get(links[1]).want(http.StatusOK).rows(); fmt.Sprint(got) != "[8 5 2]" {
		t.Errorf("%s leads to %v", links[1], got)
	}
	if got := f.get(links[3]).want(http.StatusOK).rows(); fmt.Sprint(got) != "[10]" {
		t.Errorf("%s leads to %v", links[3], got)
	}

	// Over the filter, and over the time range.
	values, _ = facetRows(f.get("/?facet=tenant&q=tenant+%3D+%27t1%27"))
	if got := fmt.Sprint(values); got != "[S t1 3]" {
		t.Errorf("under a filter %s", got)
	}
	values, _ = facetRows(f.get("/?facet=$exchange&to=2026-03-01T12:00:04Z"))
	if got := fmt.Sprint(values); got != "[shop 4]" {
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
		if name == "total" {
			continue // nothing filters
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

// The bars add up to what matches, and stand where the messages were received.
func TestHistogram(t *testing.T) {
	f := newFixture(
		t,
		func(c *Config, _ *archive.Config) { c.Now = func() time.Time { return noon.Add(30 * time.Second) } },
	)
	f.fill(30)
	req := func(rawQuery string) request {
		t.Helper()
		r, _ := http.NewRequest(http.MethodGet, "/?"+rawQuery, nil)
		req, filterErr, err := f.parse(r)
		if err != nil || filterErr != nil {
			t.Fatal(err, filterErr)
		}
		return req
	}
	for _, tt := range []struct {
		query string
		want  map[int]uint64 // seconds after noon
		total *query.Count
	}{
		{"", map[int]uint64{0: 1, 1: 1, 29: 1, -1: 0, 30: 0}, nil},
		{"q=tenant%3Dt1", map[int]uint64{0: 0, 1: 1, 28: 1, 29: 0}, &query.Count{Matched: 10, Complete: true}},
		{"facet=tenant", map[int]uint64{0: 1, 29: 1}, nil},
		{"q=tenant%3Dt1&facet=$exchange", map[int]uint64{1: 1, 2: 0}, &query.Count{Matched: 10, Complete: true}},
		{
			"from=2026-03-01T12:00:10Z&to=2026-03-01T12:00:12Z",
			map[int]uint64{0: 1, 10: 1, 29: 1},
			&query.Count{Matched: 2, Complete: true},
		},
	} {
		sum, err := f.summarise(t.Context(), f.archive.Snapshot(), req(tt.query), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		h := sum.chart
		if len(h.Counts) != maxBuckets || h.Width != time.Second || !h.Complete {
			t.Fatalf("%s: %d bars of %v, partial %v", tt.query, len(h.Counts), h.Width, !h.Complete)
		}
		for second, want := range tt.want {
			at := noon.Add(time.Duration(second) * time.Second)
			i := int(at.Sub(h.Start) / h.Width)
			if i < len(h.Counts) && h.Counts[i] != want || i >= len(h.Counts) && want != 0 {
				t.Errorf("%s: %d at second %d, want %d", tt.query, h.Counts[i], second, want)
			}
		}
		switch {
		case tt.total == nil && sum.total != nil:
			t.Errorf("%s: a total where nothing filters: %+v", tt.query, *sum.total)
		case tt.total != nil && (sum.total == nil || sum.total.Matched != tt.total.Matched ||
			sum.total.Damaged != tt.total.Damaged || sum.total.Complete != tt.total.Complete):
			t.Errorf("%s: total %+v, want %+v", tt.query, sum.total, *tt.total)
		}
		for i, n := range h.Counts {
			var parts uint64
			for _, s := range h.Series {
				parts += s.Counts[i]
			}
			if strings.Contains(tt.query, "facet") && parts != n {
				t.Errorf("%s: %d in parts of %d", tt.query, parts, n)
			}
		}
	}
}

// Where a page holds all that matches, it says the same as a count of everything.
func TestPageThatHoldsAll(t *testing.T) {
	f := newFixture(t)
	f.fill(30)
	cut := table("before", "1", "tenant", "t1")
	f.add(message{headers: append(cut[:len(cut)-6], "Zxxxxx"...)})
	for _, q := range []string{"tenant = 't1'", "tenant = 'none'", "tenant"} {
		filter, err := query.Compile(q)
		if err != nil {
			t.Fatal(err)
		}
		req := request{State: address.State{Q: q}, filter: filter, dialect: f.cfg.Dialect, limit: 50, budget: time.Minute}
		snap := f.archive.Snapshot()
		found, err := f.page(t.Context(), snap, req)
		if err != nil {
			t.Fatal(err)
		}
		quick, ok := f.wholly(snap, req, found)
		if !ok {
			t.Fatalf("%s: %d matches are not all on the page", q, found.Matched)
		}
		slow, err := f.summarise(t.Context(), snap, req, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		got, err1 := quick.draw(t.Context(), address.Links{})
		want, err2 := slow.draw(t.Context(), address.Links{})
		if got != want || want.Chart == "" || want.Total == "" || err1 != nil || err2 != nil {
			t.Errorf("%s: %+v, want %+v, %v, %v", q, got, want, err1, err2)
		}
		found.Complete = false
		if _, ok := f.wholly(snap, req, found); ok {
			t.Errorf("%s: a page that was cut short is taken for everything", q)
		}
	}
}

// What the time does not suffice for is said, and comes after the page.
func TestCountsAreBoundedInTime(t *testing.T) {
	f := newFixture(t)
	f.fill(3000)
	req := request{
		State:   address.State{Q: "tenant = 't1'", Facet: "tenant"},
		filter:  f.all,
		dialect: f.cfg.Dialect,
		limit:   50,
	}
	sum, err := f.summarise(t.Context(), f.archive.Snapshot(), req, time.Nanosecond)
	if err == nil && (!sum.facet.InPart() || sum.facet.Kept != 3000 || sum.facet.Scanned+sum.facet.Skipped >= 3000 || !sum.chart.InPart()) {
		t.Errorf("facet %+v, chart partial %v", sum.facet, sum.chart.InPart())
	}
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
		if !strings.Contains(fmt.Sprint(m[name]), part) {
			t.Errorf("%s: no %s in %.300s", name, part, m[name])
		}
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
	release, err := f.queries.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	req := request{State: address.State{Facet: "tenant"}, filter: f.all, dialect: f.cfg.Dialect, limit: 50}
	if _, err := f.summarise(t.Context(), f.archive.Snapshot(), req, time.Millisecond); fail(
		err,
	).Status != http.StatusServiceUnavailable {
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
	r := f.get("/?q=tenant+%3D+%27t1%27").want(http.StatusOK).wantText("1 damaged could not be decided: show them")
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
		if got := fmt.Sprint(e[name]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
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
		r := f.get("/api/complete?"+tt.query).want(http.StatusOK).wantHeader("Content-Type", "application/json")
		if strings.TrimSpace(string(r.body)) != strings.TrimSpace(tt.want) {
			t.Errorf("%s: %s, want %s", tt.query, r.body, tt.want)
		}
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
		if m["t"] != "status" || !strings.Contains(fmt.Sprint(m[name]), part) {
			t.Errorf("%s: no %s in %.300v", name, part, m[name])
		}
	}
	if n := f.FullDecodes(); n != 0 {
		t.Errorf("%d decodes", n)
	}
}
