package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/eventually"
	"github.com/headerglass/headerglass/web/live"
)

type browser struct {
	t  *testing.T
	ws *websocket.Conn
}

// serve puts the fixture behind a real port.
func (f *fixture) listen(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(f.Server)
	srv.Config = HTTPServer(f.Server)
	srv.Start()
	t.Cleanup(func() {
		f.Close()
		srv.Close()
	})
	return srv
}

func (f *fixture) dialLive(t *testing.T, rawQuery string) *browser {
	t.Helper()
	srv := f.listen(t)
	ws, resp, err := websocket.DefaultDialer.Dial(
		"ws"+strings.TrimPrefix(srv.URL, "http")+"/live?"+rawQuery,
		http.Header{"Origin": {srv.URL}},
	)
	if err != nil {
		t.Fatalf("%v, %v", err, resp)
	}
	t.Cleanup(func() { ws.Close() })
	return &browser{t, ws}
}

func (b *browser) read() map[string]any {
	b.t.Helper()
	var m map[string]any
	if err := b.ws.ReadJSON(&m); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// rows reads up to the next rows message.
func (b *browser) rows() map[string]any {
	b.t.Helper()
	for {
		if m := b.read(); m["t"] == "rows" {
			return m
		}
	}
}

func TestLiveStreamsArrivals(t *testing.T) {
	f := newFixture(t)
	f.fill(3)
	f.add(message{headers: table("kind", "old")})
	b := f.dialLive(t, "q=kind")
	if m := b.read(); m["t"] != "status" || !strings.Contains(fmt.Sprint(m["html"]), "orders.dlq") ||
		!strings.Contains(fmt.Sprint(m["keys"]), "Values of kind: 1 message of 1") {
		t.Fatalf("first message %v", m)
	}
	f.add(message{key: "<script>", headers: table("kind", "new")})
	m := b.rows()
	if m["from"] != 4.0 || m["to"] != 5.0 || m["count"] != 1.0 || m["skipped"] != 0.0 {
		t.Errorf("%v", m)
	}
	row := fmt.Sprint(m["html"])
	if !strings.Contains(row, `data-seq="5"`) || strings.Contains(row, "<script") {
		t.Errorf("row %s", row)
	}
	if strings.Contains(row, "after=") {
		t.Errorf("the row's links carry the cursor: %s", row)
	}
}

// Without after the feed begins with the next message; with it, behind it.
func TestLiveCursor(t *testing.T) {
	f := newFixture(t)
	f.fill(5)
	b := f.dialLive(t, "after=3")
	if m := b.rows(); m["from"] != 3.0 || m["count"] != 2.0 {
		t.Errorf("after 3: %v", m)
	}
}

// What is drawn around the rows is kept once for each address, for as long as a feed of it is open.
func TestLivePartsAreSharedAndEnd(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	srv := f.listen(t)
	open := func(rawQuery string) *websocket.Conn {
		ws, _, err := websocket.DefaultDialer.Dial(
			"ws"+strings.TrimPrefix(srv.URL, "http")+"/live?"+rawQuery,
			http.Header{"Origin": {srv.URL}},
		)
		if err != nil {
			t.Fatal(err)
		}
		(&browser{t, ws}).read()
		return ws
	}
	kept := func() int {
		f.parts.mu.Lock()
		defer f.parts.mu.Unlock()
		return len(f.parts.pages)
	}
	feeds := []*websocket.Conn{open("q=kind"), open("q=kind"), open("q=tenant")}
	if n := kept(); n != 2 {
		t.Errorf("%d drawings of two addresses", n)
	}
	for i, want := range []int{2, 1, 0} {
		feeds[i].Close()
		eventually.True(t, 10*time.Second, fmt.Sprintf("%d drawings are left of %d feeds", want, 2-i), func() bool {
			return f.live.Conns() == 2-i && kept() == want
		})
	}
}

func TestLiveOrigin(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) {
		c.AllowedHosts = []string{"explorer.example.com", "other.example.com:8443"}
	})
	srv := f.listen(t)
	host := strings.TrimPrefix(srv.URL, "http://")
	_, port, _ := strings.Cut(host, ":")
	for _, tt := range []struct {
		name   string
		header http.Header
		host   string
		status int
	}{
		{"own", http.Header{"Origin": {"http://" + host}}, "", 101},
		{"own, same-origin fetch", http.Header{
			"Origin":         {"http://" + host},
			"Sec-Fetch-Site": {"same-origin"},
		}, "", 101},
		{"behind a proxy that keeps Host", http.Header{"Origin": {"https://explorer.example.com"}}, "explorer.example.com", 101},
		{"behind a proxy that replaces Host", http.Header{"Origin": {"https://explorer.example.com"}}, "", 101},
		{"behind a proxy on another port", http.Header{"Origin": {"https://other.example.com:8443"}}, "", 101},
		{"allowed name, another port", http.Header{"Origin": {"https://explorer.example.com:1234"}}, "", 403},
		{"allowed name, its port missing", http.Header{"Origin": {"https://other.example.com"}}, "", 403},
		{"missing", http.Header{}, "", 403},
		{"null", http.Header{"Origin": {"null"}}, "", 403},
		{"foreign", http.Header{"Origin": {"https://evil.example"}}, "", 403},
		{"foreign with our name in front", http.Header{"Origin": {"http://" + host + ".evil.example"}}, "", 403},
		{"our name as user", http.Header{"Origin": {"http://" + host + "@evil.example"}}, "", 403},
		{"other port", http.Header{"Origin": {"http://127.0.0.1:1"}}, "", 403},
		{"other scheme", http.Header{"Origin": {"file://" + host}}, "", 403},
		{"localhost for 127.0.0.1", http.Header{"Origin": {"http://localhost:" + port}}, "", 403},
		{"two", http.Header{"Origin": {"http://" + host, "https://evil.example"}}, "", 403},
		{"cross-site", http.Header{"Origin": {"http://" + host}, "Sec-Fetch-Site": {"cross-site"}}, "", 403},
		{"same-site", http.Header{"Origin": {"http://" + host}, "Sec-Fetch-Site": {"same-site"}}, "", 403},
		{"rebound name", http.Header{"Origin": {"http://evil.example"}}, "evil.example", 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.host != "" {
				tt.header.Set("Host", tt.host)
			}
			ws, resp, err := websocket.DefaultDialer.Dial("ws://"+host+"/live", tt.header)
			if err == nil {
				ws.Close()
			}
			if resp == nil || resp.StatusCode != tt.status {
				t.Errorf("%v, %v, want %d", resp, err, tt.status)
			}
		})
	}
}

func TestLiveRefusals(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) { c.MaxLivePerAddr = 1 })
	b := f.dialLive(t, "")
	b.read()
	u := url.URL{Scheme: "ws", Host: b.ws.RemoteAddr().String(), Path: "/live"}
	origin := http.Header{"Origin": {"http://" + u.Host}}
	for _, tt := range []struct {
		query  string
		status int
	}{
		{"", http.StatusServiceUnavailable},
		{"q=%28", http.StatusBadRequest},
		{"after=x", http.StatusBadRequest},
	} {
		t.Run(tt.query, func(t *testing.T) {
			u.RawQuery = tt.query
			if _, resp, err := websocket.DefaultDialer.Dial(u.String(), origin); err == nil ||
				resp.StatusCode != tt.status {
				t.Errorf("%q: %v, %v, want %d", tt.query, resp, err, tt.status)
			}
		})
	}
	f.get("/live").want(http.StatusUpgradeRequired)
}

// Readers of every kind and a writer that evicts under them.
func TestConcurrentUse(t *testing.T) {
	f := newFixture(t, func(c *Config, a *archiveConfig) {
		a.MaxBytes, a.SegmentBytes = 256<<10, 64<<10
		c.Now = time.Now
	})
	f.fill(100)
	b := f.dialLive(t, "after=0&q=tenant")
	var wg sync.WaitGroup
	done := make(chan struct{})
	for _, path := range []string{"/?cols=tenant", "/api/messages?q=tenant%3Dt1", "/api/keys", "/api/status", "/metrics", "/export.jsonl?limit=50"} {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					f.get(path)
				}
			}
		})
	}
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				last := f.archive.Snapshot().Last()
				f.get(fmt.Sprintf("/m/%d", last))
				f.get(fmt.Sprintf("/m/%d/headers.bin", last-min(last-1, 2000)))
			}
		}
	})
	f.fill(10_000)
	for to := 0.0; to < 10_100; {
		m := b.rows()
		to = m["to"].(float64)
		if err := b.ws.WriteJSON(map[string]float64{"ack": to}); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
	if strings.Contains(f.log.String(), "panic") {
		t.Error(f.log.String())
	}
}

// What feeds show around their rows is taken from the budget. Without room they keep the broker's
// state alone, and the pages what they have.
func TestDrawnPartsAreBudgeted(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) { c.Budget = 4000 })
	hog, err := f.budget.Take(t.Context(), budget.Feed, "hog", 950, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := livePage{share: f.budget.Open(budget.Feed, "a")}
	st := live.Fragments{HTML: "reading", Keys: strings.Repeat("k", 100), Facet: strings.Repeat("f", 100)}
	if got := p.afford(st); got != (live.Fragments{HTML: "reading"}) || heldBy(f) != 950 {
		t.Errorf("without room %+v, and %d bytes are held", got, heldBy(f))
	}
	hog.Release()
	if got := p.afford(st); got != st || heldBy(f) != 207 {
		t.Errorf("with room %+v, and %d bytes are held", got, heldBy(f))
	}
	st.Facet = ""
	if got := p.afford(st); got != st || heldBy(f) != 107 {
		t.Errorf("with less to show %+v, and %d bytes are held", got, heldBy(f))
	}
}
