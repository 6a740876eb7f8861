package views

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/browsertest"
)

// The filter's input offers names, by keyboard and pointer, and leaves alone what stands around the
// word.
func TestCompletion(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	open := `document.querySelector("#q").getAttribute("aria-expanded") === "true"`
	value := `document.querySelector("#q").value`
	b.do(chromedp.Navigate(server.URL+"/list"), chromedp.WaitReady("#rows a"))
	b.wait(`document.querySelector("#q").getAttribute("role") === "combobox"`)
	b.do(chromedp.Focus("#q"))
	b.keys("t", "e")
	b.wait(open + ` && document.querySelectorAll("#q-names [role=option]").length === 2`)
	if got := b.text(`document.querySelector("#q-names li:nth-child(2)").textContent`); got != `"<b>tenants</b>"in 3` {
		t.Errorf("the second name is shown as %q", got)
	}
	browsertest.Axe(t, b.ctx, "completion")
	b.keys(kb.ArrowDown)
	b.wait(`document.querySelector("#q").getAttribute("aria-activedescendant") === "q-name-0"`)
	b.keys(kb.Tab)
	b.wait(value + ` === "tenant " && !(` + open + `)`)
	b.keys("x")
	b.wait(open)
	b.keys(kb.Escape)
	b.wait(`!(` + open + `) && document.activeElement.id === "q"`)
	b.keys("y")
	b.wait(open)
	b.do(
		chromedp.Evaluate[chromedp.Void](
			`document.querySelector("#q-names li").dispatchEvent(new PointerEvent("pointerdown", {bubbles: true, cancelable: true}))`,
		),
	)
	// the server said that it stands in the place of everything before the cursor
	b.wait(value + ` === "tenant "`)
}

// The files of the matches are in a sheet that opens by keyboard and goes away as a menu does.
func TestExportMenu(t *testing.T) {
	b := newTab(t, 1440, 800)
	server := fixtureServer(t, silent, nil)
	open := `document.querySelector(".files").open`
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1440, 900, 375, 320} {
			if err := browsertest.Viewport(b.ctx, width, 800, scheme); err != nil {
				t.Fatal(err)
			}
			b.do(chromedp.Navigate(server.URL+"/filtered"), chromedp.WaitReady("#announce"))
			b.wait(`document.querySelector("#q").getAttribute("role") === "combobox"`)
			b.do(chromedp.Focus(".files summary"))
			b.keys(kb.Enter)
			b.wait(open)
			b.wait(
				`(r => r.left >= 0 && r.right <= innerWidth)(document.querySelector(".files .sheet").getBoundingClientRect())`,
			)
			if width != 320 {
				browsertest.Axe(t, b.ctx, "export "+scheme)
			}
		}
	}
	if got := b.text(`[...document.querySelectorAll(".files a")].map(a => a.getAttribute("href")).join("\n")`); !strings.HasPrefix(
		got,
		"/export.jsonl?",
	) ||
		strings.Count(got, "q=tenant") != 4 ||
		!strings.Contains(got, "/export.csv?cols=tenant&") {
		t.Errorf("the links are\n%s", got)
	}
	b.keys(kb.Escape)
	b.wait(`!` + open + ` && document.activeElement === document.querySelector(".files summary")`)
	b.keys(kb.Enter)
	b.wait(open)
	b.do(chromedp.Click(".range:not(.files) summary"))
	b.wait(`!` + open + ` && document.querySelector(".range:not(.files)").open`)
}

// waitAcross waits for something to be true on a page that is still to come.
func (b tab) waitAcross(expression string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for {
		// Between two pages there is nothing to ask.
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression)); err == nil && ok {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			b.t.Fatalf("%s does not come true", expression)
		}
	}
}

// A drag over the histogram asks for that time, whether there are bars in it or not.
func TestBrush(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	b.do(chromedp.Navigate(server.URL+"/demo"), chromedp.WaitReady("#chart svg"))
	b.wait(`document.querySelector("#q").getAttribute("role") === "combobox"`)
	drag := func(from, to string) {
		t.Helper()
		b.do(chromedp.Evaluate[chromedp.Void](`(() => {
			const svg = document.querySelector("#chart svg"), box = svg.getBoundingClientRect();
			const fire = (type, part) => svg.dispatchEvent(new PointerEvent(type, {bubbles: true, cancelable: true, pointerId: 1, clientX: box.left + box.width * part, clientY: box.top + 10}));
			svg.setPointerCapture = () => {};
			fire("pointerdown", ` + from + `); fire("pointermove", ` + to + `);
		})()`))
	}
	drag("0.101", "0.499")
	if got := b.text(`document.querySelector("#chart .brush").getAttribute("x") + " " + document.querySelector("#chart .brush").getAttribute("width")`); got != "96 384" {
		t.Errorf("the brush covers %s, want bars 12 to 59", got)
	}
	start := b.text(`document.querySelector("#chart svg").dataset.start`)
	b.do(
		chromedp.Evaluate[chromedp.Void](
			`document.querySelector("#chart svg").dispatchEvent(new PointerEvent("pointerup", {bubbles: true, pointerId: 1}))`,
		),
	)
	b.waitAcross(
		`location.pathname === "/" && new URLSearchParams(location.search).get("from") === new Date(` + start + ` + 12 * 1000).toISOString() && new URLSearchParams(location.search).get("to") === new Date(` + start + ` + 60 * 1000).toISOString()`,
	)
}

// The histogram, the values and the total follow the live feed, and an explorer that was started
// again is noticed.
func TestLiveSummary(t *testing.T) {
	b := newTab(t, 1440, 900)
	feed := newFeed(t)
	server := fixtureServer(t, feed.serve, feed.opens)
	b.do(chromedp.Navigate(server.URL + "/list"))
	<-feed.opens
	chart := Histogram{
		Step:    time.Second,
		Buckets: []Bucket{{Start: fixtureNow, Count: 1}, {Start: fixtureNow.Add(time.Second), Count: 77}},
	}
	feed.send(map[string]any{
		"t":     "status",
		"chart": render(t, Chart(chart, Links{})),
		"facet": render(t, FacetPanel(fixtureFacet(), chart, Links{})),
	})
	b.wait(
		`document.querySelectorAll("#chart svg a").length === 2 && document.querySelector("#chart .axis").textContent.includes("peak 77")`,
	)
	b.wait(`document.querySelectorAll("#facet li").length === 7`)
	b.keys("t")
	b.wait(`document.querySelector("#chart time").textContent.length === 8`)
	feed.send(map[string]any{"t": "reset"})
	select {
	case <-feed.opens:
	case <-time.After(20 * time.Second):
		t.Fatal("the page is not loaded again")
	}
}

// Every page keeps its state in what it links to.
func TestStateIsKeptInLinks(t *testing.T) {
	q, bad := ParseQuery(mustQuery(t, "q=a&cols=b&sort=b:desc&facet=c&damaged=1&tz=Europe/Berlin&limit=20"))
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	l := Links{Query: q}
	for _, tt := range []struct{ name, got, want string }{
		{"older", l.Older(7), "/?before=7&cols=b&damaged=1&facet=c&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"another filter", l.Filter("x"), "/?cols=b&facet=c&limit=20&q=x&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"no facet", l.Facet(""), "/?cols=b&damaged=1&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"rising", l.Sort(Sort{Path: "b"}), "/?cols=b&damaged=1&facet=c&limit=20&q=a&sort=b%3Aasc&tz=Europe%2FBerlin"},
		{"no column, no order by it", l.DropColumn("b"), "/?damaged=1&facet=c&limit=20&q=a&tz=Europe%2FBerlin"},
		{"live", l.GoLive(), "/?cols=b&facet=c&limit=20&q=a&tz=Europe%2FBerlin"},
		{"message", l.Message(3), "/m/3?cols=b&damaged=1&facet=c&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"decided only", l.Undecided(false), "/?cols=b&facet=c&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
		{"the same column again", l.AddColumn("b"), l.List()},
		{"summary", l.Summary(), "/summary?cols=b&damaged=1&facet=c&limit=20&q=a&sort=b%3Adesc&tz=Europe%2FBerlin"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	for in, want := range map[string]Sort{
		"":         {},
		"a":        {Path: "a"},
		"a:asc":    {Path: "a"},
		"a:desc":   {Path: "a", Desc: true},
		`"x:desc"`: {Path: `"x:desc"`},
	} {
		if got := parseSort(in); got != want {
			t.Errorf("sort=%s: %+v, want %+v", in, got, want)
		}
		if again := parseSort(parseSort(in).String()); again != want {
			t.Errorf("sort=%s: read again %+v", in, again)
		}
	}
	// The form keeps what its own fields do not hold.
	fields := kept(q, []string{"q"})
	var names []string
	for _, f := range fields {
		names = append(names, f[0]+"="+f[1])
	}
	if got := strings.Join(names, " "); got != "cols=b tz=Europe/Berlin limit=20 facet=c sort=b:desc damaged=1" {
		t.Errorf("the form keeps %s", got)
	}
}

func mustQuery(t *testing.T, s string) map[string][]string {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "/?"+s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.URL.Query()
}

func TestBarParts(t *testing.T) {
	h := Histogram{Step: time.Second, Series: []Series{{Text: []byte("a")}, {Text: []byte("b")}}}
	h.Buckets = []Bucket{
		{Count: 40, Parts: []uint64{20, 10}},
		{Count: 3, Parts: []uint64{0, 1}},
		{Count: 0, Parts: []uint64{0, 0}},
	}
	for i, want := range [][]barPart{
		{{"s1", 20, 20}, {"s2", 10, 10}, {"s0", 0, 10}},
		{{"s2", 38, 2}, {"s0", 37, 1}},
		nil,
	} {
		got := barParts(h.Buckets[i], h)
		if len(got) != len(want) {
			t.Errorf("bar %d: %v, want %v", i, got, want)
			continue
		}
		for j := range want {
			if got[j] != want[j] {
				t.Errorf("bar %d: %v, want %v", i, got, want)
			}
		}
	}
	if got := barTitle(h.Buckets[0], h, time.UTC); !strings.HasSuffix(got, "UTC\n20 a\n10 b\n10 another or none") {
		t.Errorf("in words: %q", got)
	}
}

func TestChartBand(t *testing.T) {
	h := Histogram{Step: time.Second}
	for i := range 10 {
		h.Buckets = append(h.Buckets, Bucket{Start: fixtureNow.Add(time.Duration(i) * time.Second)})
	}
	at := func(seconds int) time.Time { return fixtureNow.Add(time.Duration(seconds) * time.Second) }
	for _, tt := range []struct {
		from, to time.Time
		x, width int
	}{
		{time.Time{}, time.Time{}, 0, 0},
		{at(2), at(4), 16, 16},
		{at(7), time.Time{}, 56, 24},
		{time.Time{}, at(1), 0, 8},
		{at(-9), at(99), 0, 0},
		{at(3), at(3), 24, 1},
	} {
		h.From, h.To = tt.from, tt.to
		if x, width := chartBand(h); x != tt.x || width != tt.width {
			t.Errorf("%v to %v: %d, %d, want %d, %d", tt.from, tt.to, x, width, tt.x, tt.width)
		}
	}
}

// What stands in the safety panel, in the broker's terms.
func TestSafety(t *testing.T) {
	held := source.Status{
		State:      source.WindowFull,
		Since:      fixtureNow.Add(-time.Minute),
		Mode:       "peek",
		Held:       1,
		Window:     1000,
		HeldSince:  fixtureNow.Add(-2 * time.Minute),
		GiveBackAt: fixtureNow.Add(13 * time.Minute),
		GivenBack:  40,
		Consumers:  2,
		Ready:      7,
		ObservedAt: fixtureNow,
		QueueType:  "quorum",
		Known:      12,
		Reconnects: 1,
	}
	html := render(t, BrokerStrip(held, fixtureNow))
	for _, part := range []string{
		"peek: holds 1, returns them on exit · shared with 2 other consumers", "On exit what is held, 1 message, is given back", "1 of 1000", "13 min", "Given back so far", "quorum", "Waiting in the queue",
		"Connections made again", "Delivered again, kept once",
	} {
		if !strings.Contains(html, part) {
			t.Errorf("no %q", part)
		}
	}
	html = render(t, BrokerStrip(source.Status{State: source.Consuming, Mode: "demo", Acknowledged: 900}, fixtureNow))
	for _, part := range []string{"takes", "Acknowledged", "removes"} {
		if strings.Contains(html, part) {
			t.Errorf("the demo says %q", part)
		}
	}
	spooled := source.Status{Mode: "drain", Spool: &source.Spool{Messages: 1204, Dropped: 7, Bytes: 3 << 20, MaxBytes: 1 << 30}}
	html = render(t, BrokerStrip(spooled, fixtureNow))
	for _, part := range []string{"the next start shows it again", "1204 messages, 3.0 MiB of 1.0 GiB", "Dropped from disk"} {
		if !strings.Contains(html, part) {
			t.Errorf("no %q with a spool", part)
		}
	}
	if html = render(t, BrokerStrip(source.Status{
		Mode:  "drain",
		State: source.Paused,
	}, fixtureNow)); !strings.Contains(html, `class="badge takes"`) || !strings.Contains(html, "paused") {
		t.Error("drain does not say so loudly")
	}
}
