package views

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/static"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/views/viewtest"
	"github.com/headerglass/headerglass/web/browsertest"
)

// ready is when the scripts of a page have run: the event load waits for modules.
const ready = `document.readyState === "complete"`

// tab is one browser tab with what tests ask of it.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// newTab is a tab of a browser of its own, in the light scheme. What the page complains of fails
// the test at its end.
func newTab(t *testing.T, width, height int64) tab {
	t.Helper()
	ctx := browsertest.Start(t)
	c := new(browsertest.Complaints)
	if err := c.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	if err := browsertest.Viewport(ctx, width, height, "light"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Check(t) })
	return tab{t, ctx}
}

func (b tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// wait waits until an expression is true.
func (b tab) wait(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression)); err != nil {
		b.t.Fatalf("%s does not come true: %v", expression, err)
	}
}

func (b tab) text(expression string) string {
	b.t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return s
}

func (b tab) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// feedLine is the server's end of a live feed in the hands of a test.
type feedLine struct {
	t     *testing.T
	opens chan *http.Request
	out   chan string
	acks  chan uint64
}

func newFeed(t *testing.T) *feedLine {
	return &feedLine{t: t, out: make(chan string), acks: make(chan uint64, 1000), opens: make(chan *http.Request, 100)}
}

// serve sends what is in out; an empty text ends the connection.
func (f *feedLine) serve(ws *websocket.Conn) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			var m struct{ Ack uint64 }
			if err := ws.ReadJSON(&m); err != nil {
				return
			}
			f.acks <- m.Ack
		}
	}()
	for {
		select {
		case s := <-f.out:
			if s == "" {
				return
			}
			if err := ws.WriteMessage(websocket.TextMessage, []byte(s)); err != nil {
				return
			}
		case <-gone:
			return
		}
	}
}

func (f *feedLine) send(m map[string]any) {
	f.t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		f.t.Fatal(err)
	}
	select {
	case f.out <- string(b):
	case <-time.After(10 * time.Second):
		f.t.Fatal("nobody is connected")
	}
}

// rows sends the messages (from, to] and waits for the acknowledgement.
func (f *feedLine) rows(from, to uint64, skipped int) {
	f.t.Helper()
	var l listing.List
	for seq := to; seq > from; seq-- {
		l.Rows = append(l.Rows, listing.Row{
			Seq:         seq,
			Received:    viewtest.Now,
			RoutingKey:  []byte("<b>live</b>"),
			HeaderCount: 1,
			New:         true,
		})
	}
	f.send(map[string]any{
		"t":       "rows",
		"from":    from,
		"to":      to,
		"html":    viewtest.Render(f.t, listing.LiveRows(l, address.Links{})),
		"count":   len(l.Rows),
		"skipped": skipped,
		"rate":    1,
	})
	select {
	case ack := <-f.acks:
		if ack != to {
			f.t.Fatalf("acknowledged %d, want %d", ack, to)
		}
	case <-time.After(10 * time.Second):
		f.t.Fatalf("%d is not acknowledged", to)
	}
}

func TestLiveFeed(t *testing.T) {
	b := newTab(t, 1440, 900)
	feed := newFeed(t)
	server := fixtureServer(t, feed.serve, feed.opens)
	first := `document.querySelector("#rows tr").dataset.seq`
	rows := `document.querySelectorAll("#rows tr[data-seq]").length`
	pill := `document.querySelector("#pill button").textContent`
	hidden := `document.querySelector("#pill").hidden`

	b.do(chromedp.Navigate(server.URL + "/list"))
	if q := (<-feed.opens).URL.Query(); q.Get("after") != "12340" || q.Get("slow") != "1" {
		t.Errorf("connects with %v", q)
	}
	feed.rows(12340, 12342, 0)
	b.wait(first + ` === "12342" && ` + rows + ` === 102`)
	if got := b.text(`document.querySelector("#rows tr .k").textContent`); got != "<b>live</b>" {
		t.Errorf("a live row's key is %q", got)
	}
	if got := b.text(`document.querySelector("#shown").textContent`); got != "12\u202f241 – 12\u202f342" {
		t.Errorf("the pager says %q", got)
	}

	// By hand: nothing moves until it is asked for.
	b.do(chromedp.Click("#live"))
	feed.rows(12342, 12345, 0)
	b.wait(`!` + hidden + ` && ` + pill + ` === "Paused · 3 new (u)"`)
	if got := b.text(first); got != "12342" {
		t.Errorf("paused, and the first row is %s", got)
	}
	b.keys("u")
	b.wait(first + ` === "12345" && ` + hidden)
	feed.rows(12345, 12346, 0)
	b.wait(pill + ` === "Paused · 1 new (u)"`)
	b.do(chromedp.Click("#live"))
	b.wait(first + ` === "12346"`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))

	// By itself: focus in the rows, a scroll away from the top, a selection.
	for name, step := range map[string][2]string{
		"focus":     {`document.querySelector("#rows a").focus()`, `document.activeElement.blur()`},
		"scroll":    {`document.querySelector("#scroll").scrollTop = 300`, `document.querySelector("#scroll").scrollTop = 0`},
		"selection": {`getSelection().selectAllChildren(document.querySelector("#rows .k"))`, `getSelection().removeAllRanges()`},
	} {
		seq := b.text(first)
		var n uint64
		fmt.Sscan(seq, &n)
		b.do(chromedp.Evaluate[chromedp.Void](step[0]))
		b.wait(`document.querySelector("#live").getAttribute("aria-pressed") === "false"`)
		feed.rows(n, n+1, 0)
		b.wait(`!` + hidden)
		if got := b.text(first); got != seq {
			t.Errorf("%s: rows move under the reader", name)
		}
		b.do(chromedp.Evaluate[chromedp.Void](step[1]))
		b.wait(first + ` === "` + kit.Itoa(n+1) + `"`)
	}

	// A gap is a row with a way to what is behind it.
	columns := `[...document.querySelectorAll(".rows thead th")].map(th => th.offsetWidth).join(" ")`
	widths := b.text(columns)
	feed.rows(12349, 12352, 41)
	b.wait(`document.querySelectorAll("#rows .gap").length === 1`)
	if got := b.text(`document.querySelector("#rows .gap").textContent`); got != "41 messages not shown" {
		t.Errorf("the gap says %q", got)
	}
	if got := b.text(columns); got != widths {
		t.Errorf("the gap changes the widths of the columns from %s to %s", widths, got)
	}
	if got := b.text(`document.querySelector("#rows .gap a").href`); !strings.HasSuffix(got, "before=12350") {
		t.Errorf("the gap leads to %s", got)
	}
	if got := b.text(`[...document.querySelectorAll("#rows tr")].slice(0, 5).map(r => r.dataset.seq || "gap").join(" ")`); got != "12352 12351 12350 gap 12349" {
		t.Errorf("rows are %s", got)
	}

	// However much comes, the page stays small; also what waits does.
	seq := uint64(12352)
	for range 15 {
		feed.rows(seq, seq+50, 0)
		seq += 50
	}
	b.wait(first + ` === "` + kit.Itoa(seq) + `" && document.querySelectorAll("#rows tr").length === 600`)
	b.do(chromedp.Click("#live"))
	for range 20 {
		feed.rows(seq, seq+50, 0)
		seq += 50
	}
	b.wait(pill + ` === "Paused · 1000 new (u)"`)
	b.do(chromedp.Click("#live"))
	b.wait(first + ` === "` + kit.Itoa(seq) + `" && document.querySelectorAll("#rows tr").length === 600`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))

	// The strip and the keys follow, unless the reader is in them.
	strip := viewtest.Render(t, shell.BrokerStrip(source.Status{
		State: source.Blocked,
		Name:  "q<1>",
		Mode:  "drain",
	}, viewtest.Now))
	feed.send(map[string]any{
		"t":    "status",
		"html": strip,
		"keys": viewtest.Render(t, listing.KeyPanel(listing.KeyList{}, nil, listing.Histogram{}, address.Links{})),
	})
	b.wait(
		`document.querySelector("#broker .state").textContent.trim() === "blocked" && document.querySelector("#broker .queue").textContent.trim() === "q<1>"`,
	)
	b.wait(`document.querySelectorAll("#keys li").length === 0`)

	// A lost connection is made again where it ended.
	feed.out <- ""
	select {
	case r := <-feed.opens:
		if got := r.URL.Query().Get("after"); got != kit.Itoa(seq) {
			t.Errorf("comes back with after=%s, want %d", got, seq)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("does not come back")
	}
	feed.rows(seq, seq+1, 0)
	b.wait(first + ` === "` + kit.Itoa(seq+1) + `"`)
}

// From the list to one value and its bytes without a pointer.
func TestKeyboardWalk(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	active := `document.activeElement.closest("tr")`
	b.do(chromedp.Navigate(server.URL+"/list"), chromedp.WaitReady("#rows a"))
	b.wait(`document.querySelectorAll("#rows a[tabindex='0']").length === 1`)

	b.keys("j")
	b.wait(active + `?.dataset.seq === "12340"`)
	b.keys("j", "j", "k")
	b.wait(active + `.dataset.seq === "12339"`)
	b.keys("G")
	b.wait(active + `.dataset.seq === "12241"`)
	b.keys("g", "g")
	b.wait(active + `.dataset.seq === "12340"`)
	b.keys("j", "j", kb.Enter)
	b.wait(
		`document.documentElement.dataset.view === "message" && document.querySelector("#inspector article")?.dataset.seq === "12338"`,
	)
	b.wait(`location.pathname === "/m/12338" && document.title.startsWith("#12338 · ")`)
	b.wait(`document.querySelector("#rows tr.sel").dataset.seq === "12338"`)

	// The tree.
	b.do(chromedp.Focus("#tree tr[data-f]"))
	b.keys(kb.ArrowDown)
	b.wait(active + `.dataset.path === "x-death[0]"`)
	b.keys(kb.ArrowLeft)
	b.wait(active + `.getAttribute("aria-expanded") === "false"`)
	b.keys(kb.ArrowDown)
	b.wait(active + `.dataset.path === "x-death[1]"`)
	b.keys(kb.ArrowUp, kb.ArrowRight, kb.ArrowRight, kb.ArrowDown)
	b.wait(active + `.dataset.path === "x-death[0].reason"`)
	// Its bytes are marked: the length, the name, the tag, the length, the value.
	b.wait(`[...document.querySelectorAll("#hex .ha .on")].map(e => e.textContent).join("") === "·reasonS····expired"`)
	b.wait(`document.querySelector("#where").textContent.includes("x-death[0].reason")`)
	b.keys(kb.End)
	b.wait(active + `.dataset.path === "nothing-in-it"`)

	// The bytes, one by one.
	b.keys("h")
	b.wait(`document.activeElement.id === "hex"`)
	// They begin at the row that was in focus.
	b.keys(kb.ArrowRight)
	b.wait(`/^offset \d+, 0x6e, name of nothing-in-it$/.test(document.querySelector("#where").textContent)`)
	b.keys(kb.PageUp, kb.PageUp, kb.PageUp, kb.ArrowRight)
	b.wait(`document.querySelector("#where").textContent === "offset 1, 0x00, length of the table"`)
	b.keys(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
	b.wait(`document.querySelector("#where").textContent === "offset 5, 0x78, name of x-death"`)
	b.keys(kb.ArrowDown)
	b.wait(`document.querySelector("#where").textContent.startsWith("offset 21, ")`)
	b.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(kb.ModifierShift)))
	b.wait(`location.search.includes("b=21-22")`)

	// A value's own filter, the panel, and back.
	if got := b.text(`document.querySelector("#tree tr[data-path='tenant'] .verbs .is").getAttribute("href")`); got != "/?q=tenant+%3D+%27acme%27" {
		t.Errorf("filter by tenant is %s", got)
	}
	if got := b.text(`document.querySelector("#download").getAttribute("href")`); got != "/m/12338/headers.bin" {
		t.Errorf("download is %s", got)
	}
	b.keys("?")
	b.wait(`document.querySelector("#help").matches(":popover-open")`)
	b.keys(kb.Escape)
	b.wait(`!document.querySelector("#help").matches(":popover-open")`)
	b.keys("]")
	b.wait(`document.documentElement.dataset.density === "comfortable"`)
	b.keys("t")
	b.wait(
		`document.documentElement.dataset.zone === "local" && document.querySelector(".rows .zone").textContent.startsWith("UTC+")`,
	)
	b.do(chromedp.Reload(), chromedp.WaitReady("#rows a"))
	b.wait(
		`document.documentElement.dataset.density === "comfortable" && document.documentElement.dataset.zone === "local"`,
	)
	b.do(chromedp.Focus("#splitter"))
	width := b.text(`document.querySelector("#list").offsetWidth`)
	b.keys(kb.ArrowRight)
	b.wait(`document.querySelector("#list").offsetWidth > ` + width)
	b.keys(kb.Escape)
	b.wait(`document.documentElement.dataset.view === "list" && document.querySelectorAll("#rows tr.sel").length === 0`)
	b.keys("/")
	b.wait(`document.activeElement.id === "q"`)
	b.keys("j")
	// The browser's protocol types the slash as well, which a keyboard does not once the key is
	// handled.
	if got := b.text(`document.activeElement.value`); !strings.HasSuffix(got, "j") {
		t.Errorf("the filter holds %q", got)
	}
}

// TestAxe runs axe-core on every state, theme and width, and on the panels of the list. Themes are
// different in nothing but colours.
func TestAxe(t *testing.T) {
	b := tab{t, browsertest.Start(t)}
	server := fixtureServer(t, silent, nil)
	assets, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fixtures(t, assets) {
		if *only != "" && !strings.Contains(","+*only+",", ","+f.name+",") {
			continue
		}
		for _, width := range []int64{1440, 900, 375} {
			scheme := func(name string) {
				if err := browsertest.Viewport(b.ctx, width, 900, name); err != nil {
					t.Fatal(err)
				}
			}
			scheme("light")
			b.do(chromedp.Navigate(server.URL+"/"+f.name), chromedp.WaitReady("#announce"))
			look := func(state string) {
				scheme("light")
				browsertest.Axe(t, b.ctx, fmt.Sprint(f.name, state, " light ", width))
				scheme("dark") // of which only style sheets know
				browsertest.AxeColors(t, b.ctx, fmt.Sprint(f.name, state, " dark ", width))
			}
			look("")
			if f.name == "shared" {
				b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("safety").showPopover()`))
				look(" safety")
			}
			if f.name == "list" {
				b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("help").showPopover()`))
				look(" help")
			}
		}
	}
}
