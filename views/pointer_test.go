package views

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/headerglass/headerglass/static"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/opened"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/views/viewtest"
	"github.com/headerglass/headerglass/web/browsertest"
)

// mouse is one event of a real mouse.
func (b tab) mouse(kind input.DispatchMouseEventType, x, y float64, buttons int64) {
	b.t.Helper()
	p := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Buttons: buttons}
	if kind != input.DispatchMouseEventTypeMouseMoved || buttons != 0 {
		p.Button, p.ClickCount = input.MouseButtonLeft, 1
	}
	if _, err := chromedp.Call(b.ctx, input.DispatchMouseEvent, p); err != nil {
		b.t.Fatal(err)
	}
}

// middle is the middle of what a selector finds first.
func (b tab) middle(selector string) (x, y float64) {
	b.t.Helper()
	at, err := chromedp.Run(
		b.ctx,
		chromedp.Evaluate[[]float64](
			`(r => [r.left + r.width / 2, r.top + r.height / 2])(document.querySelector(`+"`"+selector+"`"+`).getBoundingClientRect())`,
		),
	)
	if err != nil {
		b.t.Fatal(err)
	}
	return at[0], at[1]
}

// While the mouse aims at a row no rows come, and a click opens the row that was pressed.
func TestRowsHoldStill(t *testing.T) {
	b := newTab(t, 1440, 900)
	feed := newFeed(t)
	server := fixtureServer(t, feed.serve, feed.opens)
	b.do(chromedp.Navigate(server.URL + "/list"))
	<-feed.opens
	first := `document.querySelector("#rows tr").dataset.seq`
	still := `document.querySelector("#live").ariaPressed === "false"`
	pill := `!document.querySelector("#pill").hidden`
	x, y := b.middle("#rows tr:nth-child(5) .route")

	// The mouse moves over the rows.
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, 0)
	b.wait(still)
	feed.rows(12340, 12342, 0)
	b.wait(pill + ` && ` + first + ` === "12340"`)
	// It rests, and they come by themselves.
	b.wait(first + ` === "12342" && !(` + pill + `) && !(` + still + `)`)

	// A press without a move before it.
	pressed := b.text(
		`document.elementFromPoint(` + kit.Itoa(int(x)) + `, ` + kit.Itoa(int(y)) + `).closest("tr").dataset.seq`,
	)
	b.mouse(input.DispatchMouseEventTypeMousePressed, x, y, 1)
	b.wait(still)
	feed.rows(12342, 12345, 0)
	b.wait(pill + ` && ` + first + ` === "12342"`)
	// Even if rows move, it is that row.
	b.do(
		chromedp.Evaluate[chromedp.Void](
			`document.querySelector("#rows").prepend(...[1, 2].map(() => document.querySelector("#rows tr").cloneNode(true)))`,
		),
	)
	b.mouse(input.DispatchMouseEventTypeMouseReleased, x, y, 0)
	b.wait(`location.pathname === "/m/` + pressed + `"`)
}

// Below the width for two columns a message opens by a tap on any part of its row, and is what is
// seen.
func TestNarrow(t *testing.T) {
	b := newTab(t, 375, 760)
	server := fixtureServer(t, silent, nil)
	b.do(chromedp.Navigate(server.URL + "/list"))
	b.wait(ready)
	b.do(chromedp.Click("#rows tr:nth-child(4) .route"))
	b.waitAcross(`location.pathname === "/m/12337" && ` + ready)

	if err := browsertest.Viewport(b.ctx, 700, 800, "light"); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(server.URL + "/list"))
	b.wait(ready)
	b.do(chromedp.Click("#rows tr:nth-child(60) .route"))
	b.wait(
		`document.querySelector("#inspector article") && (r => r.top > -1 && r.top < innerHeight / 2)(document.querySelector("#inspector").getBoundingClientRect())`,
	)
	// A message's own page begins at its top.
	b.do(chromedp.Navigate(server.URL + "/message"))
	b.wait(ready + ` && document.querySelector("#tree tr[tabindex='0']") !== null`)
	if got := b.text(`scrollY`); got != "0" {
		t.Errorf("the page of a message is scrolled to %s", got)
	}
}

// What can be done with a name or a value is seen and clicked on by who points at it.
func TestNamesHaveVerbs(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	const header = "#names h2 ~ h2 ~ ul > li:nth-child(2) > "
	for _, tt := range []struct{ name, page, line, verb, leads string }{
		{"with", "/list", header + ".has", header + ".verbs .is", "?q=x-death"},
		{"column", "/list", header + ".has", header + ".verbs .col", "?cols=x-death"},
		{"values", "/list", header + ".has", header + ".has", "?facet=x-death"},
		{"property", "/list", "#names li .has", "#names li .has", "?facet=$type"},
		{"type", "/facet", ".types .has", ".types .has", "AND+type(tenant)+=+'I'"},
		{"not a type", "/facet", ".types .has", ".types .not", "AND+type(tenant)+<>+'I'"},
		{"value", "/facet", ".types + ul .has", ".types + ul .is", "AND+tenant+=+'acme'"},
		{"not a value", "/facet", ".types + ul .has", ".types + ul .not", "AND+(NOT+tenant+=+'acme'+OR+tenant+IS+NULL)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tab{t, b.ctx}
			b.do(chromedp.Navigate(server.URL+tt.page), chromedp.WaitReady("#announce"))
			verb := `document.querySelector("` + tt.verb + `")`
			seen := `(r => r.width > 0 && ` + verb + `.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2))` +
				` && getComputedStyle(` + verb + `.parentNode).opacity === "1")(` + verb + `.getBoundingClientRect())`
			if got := b.text(seen); tt.verb != tt.line && got != "false" {
				t.Fatalf("seen before anybody points at the name: %s", got)
			}
			x, y := b.middle(tt.line)
			b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, 0)
			b.wait(seen)
			x, y = b.middle(tt.verb)
			b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, 0)
			b.mouse(input.DispatchMouseEventTypeMousePressed, x, y, 1)
			b.mouse(input.DispatchMouseEventTypeMouseReleased, x, y, 0)
			b.waitAcross(`decodeURIComponent(location.search).includes("` + tt.leads + `")`)
		})
	}
}

// The names that hold what is typed are left, also after the names are drawn again.
func TestNamesAreLookedThrough(t *testing.T) {
	b := newTab(t, 1440, 900)
	feed := newFeed(t)
	server := fixtureServer(t, feed.serve, feed.opens)
	b.do(chromedp.Navigate(server.URL + "/list"))
	<-feed.opens
	left := `[...document.querySelectorAll("#names > ul > li")].filter(l => l.offsetParent).map(l => l.querySelector("bdi").textContent).join()`
	b.do(chromedp.Click("#find"))
	b.keys("DEATH-", "q")
	b.wait(left + ` === "x-first-death-queue"`)
	feed.send(map[string]any{
		"t":    "status",
		"keys": viewtest.Render(t, listing.KeyPanel(fixtureKeys(), nil, listing.Histogram{}, address.Links{})),
	})
	feed.rows(12340, 12341, 0)
	b.wait(`document.querySelector("#rows tr").dataset.seq === "12341" && ` + left + ` === "x-first-death-queue"`)
}

// Tab stops once at the names and once at a row of the tree, and from there at what can be done
// with it.
func TestTabStops(t *testing.T) {
	b := newTab(t, 1440, 900)
	feed := newFeed(t)
	server := fixtureServer(t, feed.serve, feed.opens)
	b.do(chromedp.Navigate(server.URL + "/list"))
	<-feed.opens
	stops := `[...document.querySelectorAll("#names a")].filter(a => a.tabIndex === 0 && a.matches(".has")).map(a => a.title.split(":")[0]).join()`
	b.wait(stops + ` === "Values of $type"`)
	if got := b.text(`document.querySelector(".skip").getAttribute("href")`); got != "#list" {
		t.Errorf("the list is skipped to by %s", got)
	}
	b.do(chromedp.Focus("#names a"))
	for range 10 { // over eight properties
		b.keys(kb.ArrowDown)
	}
	b.keys(kb.ArrowUp)
	b.wait(`document.activeElement.title.startsWith("Values of x-death:") && document.activeElement.tabIndex === 0`)
	b.keys(kb.Tab, kb.Tab)
	b.wait(`document.activeElement.ariaLabel === "Show x-death as a column"`)
	b.keys(kb.Tab)
	b.wait(`!document.activeElement.closest("#keys")`)
	b.wait(stops + ` === "Values of x-death"`)
	// Also after the names are drawn again.
	feed.send(map[string]any{
		"t":    "status",
		"keys": viewtest.Render(t, listing.KeyPanel(fixtureKeys(), nil, listing.Histogram{}, address.Links{})),
	})
	b.wait(stops + ` === "Values of $type"`)

	// The panel of help has the focus while it is open.
	b.do(chromedp.Focus("#rows a"))
	b.keys("?")
	b.wait(`document.activeElement.closest("#help") !== null`)
	b.keys(kb.Escape)
	b.wait(
		`!document.querySelector("#help").matches(":popover-open") && document.activeElement.closest("#rows") !== null`,
	)

	b.do(chromedp.Navigate(server.URL + "/message"))
	b.wait(`document.querySelector("#tree tr[tabindex='0']") !== null`)
	b.do(chromedp.Focus("#tree tr[data-path='tenant']"))
	for range 7 {
		b.keys(kb.Tab)
		b.wait(`document.activeElement.closest(".verbs")?.closest("tr").dataset.path === "tenant"`)
	}
	b.keys(kb.Tab)
	b.wait(`!document.activeElement.closest(".verbs")`)
}

// Columns beside an open message do not close it, however it was opened; Esc leads back from
// everywhere.
func TestMessageStaysOpen(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	b.do(chromedp.Navigate(server.URL + "/list"))
	b.wait(ready)
	b.do(chromedp.Click("#rows tr:nth-child(3) .route"))
	b.wait(`location.pathname === "/m/12338" && document.querySelector("#inspector article") !== null`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#names h2 ~ h2 ~ ul .col").click()`))
	b.waitAcross(`location.pathname === "/m/12338" && new URL(location).searchParams.get("cols") === "tenant" && ` + ready)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#tree tr[data-path='retries'] .col").click()`))
	b.waitAcross(`location.pathname === "/m/12338" && new URL(location).searchParams.get("cols") === "retries" && ` + ready)

	for _, page := range []string{"/evicted", "/diff", "/inspect", "/error"} {
		b.do(chromedp.Navigate(server.URL+page), chromedp.WaitReady("#announce"))
		b.wait(`document.querySelector("#help").isConnected && document.documentElement.classList.contains("js")`)
		b.waitAcross(
			`(document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"})), location.pathname === "/")`,
		)
	}
}

// arrayServer serves messages with a table of many pages at every address of a message.
func arrayServer(t *testing.T) *httptest.Server {
	t.Helper()
	assets, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	table := viewtest.BigArray(3000)
	mux.HandleFunc("GET /m/{seq}", func(w http.ResponseWriter, r *http.Request) {
		q, _ := address.Parse(r.URL.Query())
		seq := uint64(r.PathValue("seq")[0] - '0')
		p := Page{Page: listing.Page{Frame: shell.Frame{
			Links:  address.Links{State: q},
			Assets: assets,
			Now:    viewtest.Now,
		}}}
		in := opened.Build(facts.Message{
			Seq:        seq,
			HasHeaders: true,
			Headers:    table,
		}, opened.Options{
			Links: p.Links,
			Older: address.Key{Seq: seq - 1},
			Newer: address.Key{Seq: seq + 1},
		})
		p.Opened = &in
		page := Document(p)
		if r.Header.Get("HX-Request") == "true" {
			page = InspectorPane(p.Links, p.Opened, nil)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := page.Render(r.Context(), w); err != nil && r.Context().Err() == nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("GET /m/{seq}/headers.bin", func(w http.ResponseWriter, r *http.Request) { w.Write(table) })
	mux.HandleFunc("GET /static/{name}", func(w http.ResponseWriter, r *http.Request) {
		f, ok := assets.Lookup(r.PathValue("name"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.Type)
		w.Write(f.Body)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// The bytes follow the tree to other pages of them, and the tree's pages begin at their heads.
func TestPagesFollow(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := arrayServer(t)
	b.do(chromedp.Navigate(server.URL + "/m/7"))
	b.wait(`document.querySelector("#tree tr[tabindex='0']") !== null`)
	b.do(chromedp.Focus("#tree tr[data-f]"))
	b.keys(kb.End)
	b.do(chromedp.Evaluate[chromedp.Void](`window.row = document.activeElement; null`))
	// 4 octets of length, 1 + 7 of the name, 5 before 3000 elements of 5 octets.
	b.wait(`document.querySelector("#hex").dataset.base === "15008" && document.querySelector("#hex .ha .on") !== null`)
	if got := b.text(`[...document.querySelectorAll("#hex .ha .on")].map(e => e.textContent).join("")`); got != "·afterS····still here" {
		t.Errorf("the bytes of the row are shown as %q", got)
	}
	if got := b.text(`document.activeElement === row`); got != "true" {
		t.Error("the row loses the focus to its bytes")
	}

	// An array is copied as the bytes of its value, also where they are on other pages.
	b.do(
		chromedp.Evaluate[chromedp.Void](
			`Object.defineProperty(navigator, "clipboard", {value: {writeText: async (s) => { window.copied = s; }}}); null`,
		),
	)
	b.keys(kb.Home, "y")
	b.wait(
		`window.copied?.split(" ").length === 15004 && copied.startsWith("00 00 3a 98 49 00 00 00 00 49 00 00 00 01 ")`,
	)
	b.wait(
		`!document.querySelector("#toast").hidden && document.querySelector("#toast").textContent === "15\u202f004 bytes as hex copied"`,
	)

	head := `(r => r.top >= 0 && r.bottom < innerHeight)(document.querySelector(".headers .head").getBoundingClientRect())`
	b.do(chromedp.Click("#tree .more a"))
	b.waitAcross(
		`location.search.includes("at=4&skip=100") && document.querySelectorAll("#tree tr[data-f]").length === 500`,
	)
	b.do(chromedp.ScrollIntoView(".headers .turn a:last-child"))
	b.wait(`!` + head)
	b.do(chromedp.Click(".headers .turn a:last-child"))
	b.waitAcross(
		`location.search.includes("skip=600") && document.querySelector("#tree .nm").textContent === "[600]" && ` + head,
	)

	// Without a list j and k lead to the neighbours.
	b.do(chromedp.Navigate(server.URL + "/m/7?view=full"))
	b.wait(`document.querySelector("#tree tr[tabindex='0']") !== null`)
	b.keys("j")
	b.waitAcross(`location.pathname === "/m/6" && document.querySelector("#inspector article").dataset.seq === "6"`)
	b.keys("k")
	b.waitAcross(`location.pathname === "/m/7" && document.querySelector("#inspector article").dataset.seq === "7"`)
}

// A key that leads to another page takes the focus along: to the same name, or into the list.
func TestFocusFollowsVerbs(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	b.do(chromedp.Navigate(server.URL + "/list"))
	b.wait(`document.querySelector("#rows a[tabindex='0']") !== null`)
	b.do(chromedp.Focus("#names h2 ~ h2 ~ ul .has"))
	b.keys("f")
	b.waitAcross(`location.search === "?q=tenant" && document.activeElement.querySelector("bdi")?.textContent === "tenant"`)
	b.do(chromedp.Navigate(server.URL + "/message"))
	b.wait(`document.querySelector("#tree tr[tabindex='0']") !== null`)
	b.do(chromedp.Focus(".props tr[data-path='$content_type'] .verbs a"))
	b.keys("f")
	b.waitAcross(`location.search.startsWith("?q=%24content_type") && document.activeElement.closest("#rows") !== null`)
}
