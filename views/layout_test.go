package views

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/compare"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/listing"
	"github.com/headerglass/headerglass/views/shell"
	"github.com/headerglass/headerglass/views/viewtest"
	"github.com/headerglass/headerglass/web/browsertest"
)

// What is pointed at stays where it is and in sight, and what is narrow gives way in the right
// order.
func TestLayout(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	size := func(width, height int64) {
		t.Helper()
		if err := browsertest.Viewport(b.ctx, width, height, "light"); err != nil {
			t.Fatal(err)
		}
	}
	is := func(what, expression, want string) {
		t.Helper()
		if got := b.text(expression); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	point := func(selector string) {
		t.Helper()
		at, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]float64](`(() => {
			const box = document.querySelector("`+selector+`").getBoundingClientRect();
			return [box.left + 12, (box.top + box.bottom) / 2];
		})()`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chromedp.Call(b.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: input.DispatchMouseEventTypeMouseMoved,
			X:    at[0],
			Y:    at[1],
		}); err != nil {
			t.Fatal(err)
		}
	}

	size(1440, 900)
	b.do(chromedp.Navigate(server.URL+"/message"), chromedp.WaitReady("#tree tr[tabindex='0']"))
	is("rows of the strip", `new Set([...document.querySelectorAll(".strip > div")].map(e => e.offsetTop)).size`, "1")
	is("a tag's name", `document.querySelector("#tree .kind").offsetWidth`, "1")
	point("#tree tr[data-path='x-death[0].reason'] .value")
	b.wait(`document.querySelector("#where").textContent.endsWith("x-death[0].reason")`)
	is(
		"a field's ancestors",
		`[...document.querySelectorAll("#tree tr.near")].map(e => e.dataset.path + " " + getComputedStyle(e).display).join()`,
		"x-death table-row,x-death[0] table-row",
	)
	is(
		"bytes around a field",
		`new Set([...document.querySelectorAll("#hex .near")].map(e => getComputedStyle(e).display)).values().toArray().join()`,
		"inline",
	)
	is(
		"where the pointer is",
		`(() => { const e = document.querySelector("#where"); return e.scrollWidth <= e.clientWidth && e.textContent; })()`,
		"byte 37 (0x25), length of x-death[0].reason",
	)
	is("the verbs over the value", `(() => {
		const row = document.querySelector("#tree tr[data-path='x-death[0].reason']"), text = row.querySelector(".v").getBoundingClientRect(), verbs = row.querySelector(".verbs").getBoundingClientRect();
		return getComputedStyle(row.querySelector(".verbs")).opacity + " " + (verbs.bottom > text.top && verbs.right > text.left);
	})()`, "1 false")
	point("#tree tr[data-path='x-death[0].reason'] .verbs .copy")
	is(
		"verbs that are pointed at",
		`getComputedStyle(document.querySelector("#tree tr[data-path='x-death[0].reason'] .verbs")).opacity`,
		"1",
	)

	is(
		"a zone in the head of the list",
		`(() => { const zone = document.querySelector(".rows .zone"); zone.textContent = "UTC+12:45"; return zone.parentNode.scrollWidth <= zone.parentNode.clientWidth; })()`,
		"true",
	)

	long := func(number string) {
		t.Helper()
		is(
			"room for "+number,
			`(() => { const a = document.querySelector("#rows th.seq a"); a.textContent = "`+number+`"; return a.parentNode.scrollWidth <= a.parentNode.clientWidth; })()`,
			"true",
		)
	}
	long("88\u202f888\u202f888")

	// Dumps in a narrow column are whole lines.
	lines := `Math.round(document.querySelector("#tree tr[data-path='digest'] .dump").offsetHeight / 20)`
	is("lines of a dump", lines, "2")
	size(375, 900)
	is("lines of a narrow dump", lines, "4") // the bytes, and the characters under them
	size(1440, 900)

	b.do(chromedp.Navigate(server.URL+"/damaged"), chromedp.WaitReady("#hex b"))
	forced := []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}
	media := emulation.SetEmulatedMediaParams{Features: forced}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	is(
		"a tab in forced colours",
		`[...document.querySelectorAll(".tabs a")].map(e => getComputedStyle(e).borderBottomColor === "rgb(255, 255, 255)").join()`,
		"false,true,true",
	)
	is(
		"damage in forced colours",
		`getComputedStyle(document.querySelector("#hex .r")).textDecorationLine`,
		"line-through",
	)

	size(1440, 900)
	b.do(chromedp.Navigate(server.URL+"/range"), chromedp.WaitReady(".range summary"), chromedp.Click(".range summary"))
	is(
		"the sheet of times",
		`(() => { const e = document.querySelector(".range .sheet"); return e.scrollWidth <= e.clientWidth && getComputedStyle(e.querySelector("button")).justifyContent; })()`,
		"center",
	)
	b.do(chromedp.Navigate(server.URL+"/nomatch"), chromedp.WaitReady("#empty"))
	is("a pager without pages", `document.querySelector(".pager").offsetHeight`, "0")
	is(
		"close names",
		`[...document.querySelectorAll(".near a")].map(e => e.textContent.trim() + " " + e.getAttribute("href")).join()`,
		"tenant = 'acme' /?q=tenant+%3D+%27acme%27,tenant-id = 'acme' /?q=tenant-id+%3D+%27acme%27",
	)
	b.do(chromedp.Navigate(server.URL+"/down"), chromedp.WaitReady("#live"))
	is(
		"live without a broker",
		`getComputedStyle(document.querySelector("#live")).borderColor === getComputedStyle(document.querySelector("#q")).borderColor`,
		"true",
	)

	size(375, 760)
	b.do(chromedp.Navigate(server.URL+"/filtered"), chromedp.WaitReady("#rows a"))
	is(
		"columns in a narrow list",
		`[...document.querySelectorAll("thead th")].filter(e => e.offsetWidth > 1).map(e => e.className).join()`,
		"seq,route,col,marks",
	)
	long("8\u202f888\u202f888")
}

func zoned(zone string, now time.Time) Page {
	return Page{Page: listing.Page{Frame: shell.Frame{
		Links: address.Links{State: address.State{Zone: zone}},
		Now:   now,
	}}}
}

// Sentences have spaces between their words and say what is meant.
func TestWords(t *testing.T) {
	d := compare.Build([]facts.Message{{
		Seq:        12338,
		HasHeaders: true,
		Headers:    encode.Table(func(*encode.Encoder) {}),
	}}, nil, address.Links{})
	for _, tt := range []struct {
		name string
		page templ.Component
		want string
	}{
		{"one to compare", compare.Page(shell.Frame{}, d), "Message 12 338 is held for comparison. Add a second one."},
		{"zone with a name", Document(zoned("Asia/Kolkata", viewtest.Now)), "Time IST"},
		{"zone without one", Document(zoned("America/Sao_Paulo", viewtest.Now)), "Time UTC-03"},
		{"zone, no time", Document(zoned("Asia/Kolkata", time.Time{})), "Times Asia/KolkataThis computer's zone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := viewtest.Words(viewtest.Render(t, tt.page)); !strings.Contains(got, tt.want) {
				t.Errorf("no %q in %s", tt.want, got)
			}
		})
	}
}
