package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/sources"
)

// severalFixture reads the queues orders and payments.dlq, and a copy that has failed. Their
// messages came one a second, from the first two in turn.
type severalFixture struct {
	*fixture
	archives []*archive.Archive
	now      time.Time
}

// clockAt sets the server's clock.
func (f *severalFixture) clockAt(t time.Time) { f.now = t }

func newSeveral(t *testing.T, n int, change ...func(*Config)) *severalFixture {
	t.Helper()
	f := &severalFixture{fixture: &fixture{t: t}, now: noon.Add(time.Hour)}
	cfg := Config{Now: func() time.Time { return f.now }}
	for _, one := range []struct {
		name   string
		status source.Status
	}{
		{"orders", source.Status{State: source.Consuming, Mode: source.Peek, Name: "orders", Held: 2}},
		{"payments.dlq", source.Status{State: source.WindowFull, Mode: source.Peek, Name: "payments.dlq", Held: 3}},
		{"audit", source.Status{State: source.Reconnecting, Mode: source.Copy, Name: "audit", Error: "No such exchange."}},
	} {
		origin := archive.Origin{Source: one.name, Queue: one.status.Name}
		a := archive.New(archive.Config{Origin: origin, MaxBytes: 1 << 20})
		status := one.status
		f.archives = append(f.archives, a)
		cfg.Sources = append(cfg.Sources,
			sources.Source{Name: one.name, Archive: a, Status: func() source.Status { return status }})
	}
	for _, c := range change {
		c(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.Server = s
	t.Cleanup(s.Close)
	for i := range n {
		f.addTo(i%2, "n", fmt.Sprint(i))
	}
	return f
}

// addTo adds a message with these headers to a source.
func (f *severalFixture) addTo(i int, headers ...string) {
	header := wire.AppendContentHeaderPayload(nil, 2, wire.Property{Name: "headers", Raw: table(headers...)})
	w := f.archives[i].Writer()
	w.Begin(&wire.Delivery{RoutingKey: []byte("k"), Header: header, BodySize: 2},
		noon.Add(time.Duration(f.stored)*time.Second))
	w.Body([]byte("hi"))
	w.Commit()
	f.stored++
}

// All sources are listed together by the time of receipt, one after the other page; each alone,
// too.
func TestSeveralSources(t *testing.T) {
	f := newSeveral(t, 130)
	var pages int
	var got []string
	for path := "/api/messages?limit=50"; path != ""; pages++ {
		answer := f.get(path).want(http.StatusOK).json()
		for _, m := range answer["messages"].([]any) {
			m := m.(map[string]any)
			got = append(got, fmt.Sprint(m["source"], ":", m["seq"]))
		}
		path = ""
		if next, ok := answer["next"].(string); ok {
			path = "/api/messages?limit=50&before=" + next
		}
	}
	var want []string
	for i := 129; i >= 0; i-- {
		want = append(want, fmt.Sprint([]string{"orders", "payments.dlq"}[i%2], ":", i/2+1))
	}
	if pages != 3 || !slices.Equal(got, want) {
		t.Errorf("%d pages of %v", pages, got)
	}

	page := f.get("/", "Accept", "text/html").want(http.StatusOK)
	if rows := page.rows(); len(rows) != 50 || rows[0] != "payments.dlq:65" || rows[49] != "orders:41" {
		t.Errorf("rows %v", rows)
	}
	page.wantText(`href="/s/payments.dlq/m/65?all=1"`, "3 sources", "audit: No such exchange.",
		`<a class="button" rel="next" href="/?before=~`)
	one := f.get("/s/orders/?limit=2").want(http.StatusOK)
	if rows := one.rows(); fmt.Sprint(rows) != "[orders:65 orders:64]" {
		t.Errorf("rows of one %v", rows)
	}
	one.wantText(`href="/s/orders/m/65?limit=2"`, `href="/s/orders/?before=64&amp;limit=2"`, `data-url="/s/orders/live"`,
		`href="/s/orders/export.csv`)

	for _, tt := range []struct {
		path   string
		status int
		text   string
	}{
		{"/s/orders/m/3", 200, "Message <span class=\"seqno\">3"},
		{"/s/orders/m/3?all=1", 200, `data-seq="payments.dlq:2"`},
		{"/s/orders/m/3/body.bin", 200, "hi"},
		{"/s/orders/m/3/headers.bin", 200, ""},
		{"/s/orders/api/messages/3", 200, `"seq":3,"source":"orders"`},
		{"/s/orders/api/messages?limit=1", 200, `"next":65`},
		{"/s/orders/api/keys", 200, `"count":65`},
		{"/api/keys", 200, `"count":130`},
		{"/s/orders/m/300", 404, ""},
		{"/s/nowhere/", 404, "No source has this name."},
		{"/s/nowhere/api/messages", 404, `{"error":{"status":404`},
		{"/m/3", 404, "its source in it"},
		{"/api/messages?q=%24source+%3D+orders&limit=1", 200, `"matched":1`},
		{"/api/messages?before=5", 400, "before"},
		{"/s/orders/api/messages?before=~AQ", 400, "before"},
		{"/api/messages?before=orders:3&limit=1", 200, `"source":"payments.dlq"`},
		{"/diff?m=orders:3&m=payments.dlq:3", 200, `href="/s/payments.dlq/m/3?all=1"`},
		{"/diff?m=orders:3&m=nowhere:3", 404, "There is no source"},
		{"/diff?m=orders:3&with=older", 303, ""},
		{"/readyz", 503, "reconnecting"},
		{"/metrics", 200, `headerglass_messages_held{source="payments.dlq"} 3`},
		{"/metrics", 200, `headerglass_broker_state{source="audit",state="reconnecting"} 1`},
	} {
		t.Run(tt.path, func(t *testing.T) { f.in(t).get(tt.path).want(tt.status).wantText(tt.text) })
	}
	if to := f.get("/diff?m=orders:3&with=older").Header.Get("Location"); to != "/diff?m=orders%3A3&m=orders%3A2" {
		t.Errorf("the older one is at %s", to)
	}
}

// Each source is listed with its own state, and all of them together with the totals.
func TestSourcesAPI(t *testing.T) {
	f := newSeveral(t, 10)
	for _, path := range []string{"/api/sources", "/api/status"} {
		f.get(path).want(http.StatusOK).wantText(
			`"sources":[{"name":"orders","reads":"orders","mode":"peek","state":"consuming"`,
			`"name":"audit","reads":"audit","mode":"copy","state":"reconnecting","since":null,"error":"No such exchange."`,
			`"stored":5,`)
	}
	f.get("/api/status").wantText(`"stored":10,`, `"held":5,`)
}

// A file of several sources is oldest first, and says of each message where it comes from.
func TestExportsOfSeveral(t *testing.T) {
	f := newSeveral(t, 4)
	lines := strings.Split(strings.TrimSpace(string(f.get("/export.csv").want(http.StatusOK).body)), "\n")
	var got []string
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, ",")
		seq, _, _ := strings.Cut(rest, ",")
		got = append(got, name+":"+seq)
	}
	if want := "[source:seq orders:1 payments.dlq:1 orders:2 payments.dlq:2]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	f.get("/export.jsonl").want(http.StatusOK).wantText(`{"seq":2,"source":"payments.dlq"`)
	f.get("/export.zip").want(http.StatusOK).wantText("orders-000001/", "payments.dlq-000002/")
	if n := strings.Count(string(f.get("/s/orders/export.csv").want(http.StatusOK).body), "\n"); n != 3 {
		t.Errorf("%d lines of one source", n)
	}
}

// The feed of all sources goes on where a page of them ended; it is acknowledged by number.
func TestFeedOfSeveral(t *testing.T) {
	f := newSeveral(t, 4)
	srv := httptest.NewServer(f.Server)
	defer srv.Close()
	after := f.sources.View().Text(f.sources.View().End())
	f.addTo(0, "n", "4")
	f.addTo(1, "n", "5")
	for _, tt := range []struct{ path, rows string }{
		{"/live?after=" + after, `data-seq="payments.dlq:3" data-seq="orders:3"`},
		{"/live?after=0&q=n+%3D+1", `data-seq="payments.dlq:1"`},
		{"/s/orders/live?after=2", `data-seq="orders:3"`},
	} {
		t.Run(tt.path, func(t *testing.T) {
			ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http")+tt.path,
				http.Header{"Origin": {srv.URL}})
			if err != nil {
				t.Fatal(err)
			}
			defer ws.Close()
			for {
				var got struct {
					T, HTML string
					Ack     int
					To      any
				}
				if err := ws.ReadJSON(&got); err != nil {
					t.Fatal(err)
				}
				if got.T != "rows" || got.HTML == "" {
					continue
				}
				var rows []string
				for _, part := range strings.Split(got.HTML, "data-seq=")[1:] {
					rows = append(rows, "data-seq="+part[:strings.Index(part[1:], `"`)+2])
				}
				if strings.Join(rows, " ") != tt.rows {
					t.Errorf("rows %v, want %s", rows, tt.rows)
				}
				if _, text := got.To.(string); text != strings.HasPrefix(tt.path, "/live") || text != (got.Ack == 1) {
					t.Errorf("up to %v, acknowledged by %d", got.To, got.Ack)
				}
				return
			}
		})
	}
}

// The pass for a live feed is for the source whose page handed it out.
func TestPassOfASource(t *testing.T) {
	guard, err := access.New(access.Config{
		TokenFile: write(t, filepath.Join(t.TempDir(), "tokens"), testToken+"\n"),
		Now:       func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	f := newSeveral(t, 1, func(c *Config) { c.Guard = guard })
	for _, tt := range []struct{ path, feed string }{
		{"/", "/live"},
		{"/s/orders/", "/s/orders/live"},
		{"/s/orders/m/1", "/s/orders/live"},
		{"/s/orders/m/1?all=1", "/live"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			r := f.in(t).get(tt.path, "Accept", "text/html", "Authorization", "Bearer "+testToken).want(http.StatusOK)
			if c := r.Cookies(); len(c) != 1 || c[0].Path != tt.feed {
				t.Errorf("cookies %v, want one for %s", c, tt.feed)
			}
		})
	}
}

// The overview has a line for each source, which leads to that source's own list and back.
func TestOverview(t *testing.T) {
	tags := regexp.MustCompile("<[^>]*>")
	f := newSeveral(t, 9)
	f.clockAt(noon.Add(15 * time.Minute))
	f.stored = 14 * 60 // seconds
	f.addTo(0, "unseen", "1")
	f.clockAt(noon.Add(14*time.Minute + 10*time.Second))
	for _, tt := range []struct{ path, name, line string }{
		{"/", "orders", "peek at queue orders|consuming|0/s|6|–|0|1"},
		{"/", "payments.dlq", "peek at queue payments.dlq|window full|0/s|4|–|0|0"},
		{"/", "audit", "copy of exchange audit|reconnecting|0/s|0|–|0|–"},
		{"/s/orders/", "orders", "peek at queue orders|consuming|0/s|6|–|0|1"},
	} {
		t.Run(tt.path+tt.name, func(t *testing.T) {
			page := string(f.in(t).get(tt.path, "Accept", "text/html").want(http.StatusOK).body)
			_, rest, ok := strings.Cut(page, `href="/s/`+tt.name+`/"`)
			if !ok {
				t.Fatalf("no line of %s in %.3000s", tt.name, page)
			}
			row, _, _ := strings.Cut(rest, "</tr>")
			var cells []string
			for _, td := range strings.Split(row, "<td")[1:] {
				_, td, _ = strings.Cut(td, ">")
				if text := strings.TrimSpace(tags.ReplaceAllString(td, "")); text != "" {
					cells = append(cells, text)
				}
			}
			if got := strings.Join(cells, "|"); got != tt.line {
				t.Errorf("%s, want %s", got, tt.line)
			}
			if _, back := strings.CutPrefix(tt.path, "/s/"); back != strings.Contains(page, ">All sources</a>") {
				t.Error("the way back to all sources is not where it belongs")
			}
		})
	}
	if one := newFixture(t); strings.Contains(string(one.get("/", "Accept", "text/html").body), `id="sources"`) {
		t.Error("there is an overview of one source")
	}
}

// Which sources the messages are from is a value like others, with its counts; of one source there
// is nothing to tell.
func TestSourceAmongProperties(t *testing.T) {
	f := newSeveral(t, 5) // three of orders, two of payments.dlq
	f.get("/").want(http.StatusOK).wantText("facet=%24source")
	page := f.get("/?facet=%24source").want(http.StatusOK)
	for link, n := range map[string]int{"%24source+%3D+orders": 3, "%24source+%3D+payments.dlq": 2} {
		page.wantText("q=" + link + `"`)
		if got := strings.Count(string(f.get("/api/messages?q="+link).body), `"seq":`); got != n {
			t.Errorf("%s gives %d messages, want %d", link, got, n)
		}
	}
	for name, n := range map[string]string{"orders": "3", "payments.dlq": "2"} {
		value := regexp.MustCompile(`(?s)` + regexp.QuoteMeta(name) + `</bdi>.{0,400}?>` + n + `<`)
		if !value.Match(page.body) {
			t.Errorf("%s is not said to have %s messages", name, n)
		}
	}
	if alone := string(f.get("/s/orders/").body); strings.Contains(alone, "facet=%24source") {
		t.Error("the list of one source offers to tell sources apart")
	}
}
