package views

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/viewtest"
	"github.com/headerglass/headerglass/web/browsertest"
	"github.com/headerglass/headerglass/web/eventually"
	"github.com/headerglass/headerglass/web/export"
)

// The filter's input offers names, by keyboard and pointer, and leaves alone what stands around the
// word.
func TestCompletion(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	open := `document.querySelector("#q").getAttribute("aria-expanded") === "true"`
	value := `document.querySelector("#q").value`
	b.do(chromedp.Navigate(server.URL+"/list"), chromedp.WaitReady("#rows a"))
	b.do(chromedp.Focus("#q"))
	b.keys("t", "e") // maybe before the script of the names is there
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
			b.wait(ready)
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
		strings.Count(got, "q=tenant") != len(export.Formats()) ||
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
	eventually.True(b.t, 20*time.Second, expression, func() bool {
		// Between two pages there is nothing to ask.
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
		return err == nil && ok
	})
}

// A drag over the histogram asks for that time, whether there are bars in it or not.
func TestBrush(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	b.do(chromedp.Navigate(server.URL+"/demo"), chromedp.WaitReady("#chart svg"))
	b.wait(ready)
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
	open := address.Links{State: address.State{Facet: "tenant"}}
	chart := listing.Histogram{Histogram: query.Histogram{
		Start: viewtest.Now, Width: time.Second, Counts: []uint64{1, 77}, Complete: true,
	}}
	feed.send(map[string]any{
		"t":     "status",
		"chart": viewtest.Render(t, listing.Chart(chart, address.Links{})),
		"keys":  viewtest.Render(t, listing.KeyPanel(fixtureKeys(), nil, listing.Histogram{}, open)),
		"facet": viewtest.Render(t, listing.FacetPanel(fixtureFacet(), chart, open)),
	})
	b.wait(
		`document.querySelectorAll("#chart svg a").length === 2 && document.querySelector("#chart .axis").textContent.includes("peak 77")`,
	)
	b.wait(`document.querySelectorAll("#names .open #facet li").length === 9`)
	b.keys("t")
	b.wait(`document.querySelector("#chart time").textContent.length === 8`)
	feed.send(map[string]any{"t": "reset"})
	select {
	case <-feed.opens:
	case <-time.After(20 * time.Second):
		t.Fatal("the page is not loaded again")
	}
}
