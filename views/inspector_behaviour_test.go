package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/headerglass/headerglass/web/browsertest"
)

// Bytes and fields show each other's place, and what is chosen is copied in three forms.
func TestBytesAreCopied(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	// What is copied is kept where the test can see it.
	spy := `Object.defineProperty(navigator, "clipboard", {value: {writeText: async (s) => { window.copied = s; }}}); window.copied = ""; null`
	copied := func(what string) {
		t.Helper()
		b.wait(`window.copied === ` + what)
	}
	b.do(chromedp.Navigate(server.URL+"/message"), chromedp.WaitReady("#hex b"), chromedp.Evaluate[chromedp.Void](spy))
	b.wait(`document.querySelector("#tree tr[tabindex='0']") !== null`)

	// A field that is pinned: its name's length, name, tag, length, value.
	b.do(chromedp.Click("#tree tr[data-path='tenant'] .type"))
	b.wait(`document.querySelector("#tree tr[data-path='tenant']").classList.contains("on")`)
	b.do(chromedp.Click(".copyas [data-as=hex]"))
	copied(`"06 74 65 6e 61 6e 74 53 00 00 00 04 61 63 6d 65"`)
	b.do(chromedp.Click(".copyas [data-as=ascii]"))
	copied(`".tenantS....acme"`)
	b.do(chromedp.Click(".copyas [data-as=base64]"))
	copied(`"BnRlbmFudFMAAAAEYWNtZQ=="`)

	// The link that means this message and no other.
	b.do(chromedp.Click("#link"))
	copied(`location.origin + "/m/12338?f=1a2b3c4d"`)

	// A selection by keys, drawn, in the address, and copied.
	b.do(chromedp.Focus("#hex"))
	b.keys(kb.Home)
	b.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(kb.ModifierShift)))
	b.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(kb.ModifierShift)))
	b.wait(`/[?&]b=\d+-\d+/.test(location.search) && CSS.highlights.get("bytes").size > 0`)
	b.wait(`document.querySelector("#where").textContent.startsWith("bytes ")`)
	b.do(chromedp.Click(".copyas [data-as=hex]"))
	b.wait(`/^([0-9a-f]{2} ){2}[0-9a-f]{2}$/.test(window.copied)`)

	// A selection by dragging, from the name to the value in the same row, in either column, and
	// taken along by the usual keys.
	at := func(column, byte int) (x, y float64) {
		t.Helper()
		place, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(`(() => {
			const runs = [...document.querySelectorAll("#hex b")].filter(e => +e.dataset.o <= %[2]d), start = Math.max(...runs.map(e => +e.dataset.o));
			const text = runs.filter(e => +e.dataset.o === start)[%[1]d].firstChild, n = %[2]d - start, r = document.createRange();
			const at = %[1]d ? n : [...text.data.matchAll(/\S\S/g)][n].index;
			r.setStart(text, at);
			r.setEnd(text, at + 1);
			const box = r.getBoundingClientRect();
			return [box.left + 2, box.top + box.height / 2];
		})()`, column, byte)))
		if err != nil {
			t.Fatal(err)
		}
		return place[0], place[1]
	}
	b.do(
		chromedp.Evaluate[chromedp.Void](
			`document.querySelector("#hex").scrollTop = 0; document.querySelector("#hex").scrollIntoView(); null`,
		),
	)
	for column := range 2 {
		x, y := at(column, 6)
		b.mouse(input.DispatchMouseEventTypeMousePressed, x, y, 1)
		x, y = at(column, 9)
		b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, 1)
		x, y = at(column, 13)
		b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, 1)
		b.mouse(input.DispatchMouseEventTypeMouseReleased, x, y, 0)
		b.wait(
			`location.search.includes("b=6-13") && document.querySelector("#where").textContent.startsWith("bytes 6 to 13, ")`,
		)
		b.wait(`getSelection().isCollapsed && document.activeElement.id === "hex"`)
		b.do(
			chromedp.Evaluate[chromedp.Void](
				`window.copied = ""; document.activeElement.dispatchEvent(new ClipboardEvent("copy", {bubbles: true, cancelable: true})); null`,
			),
		)
		b.wait(`window.copied.split(" ").length === 8`)
		b.mouse(input.DispatchMouseEventTypeMousePressed, x, y, 1)
		b.mouse(input.DispatchMouseEventTypeMouseReleased, x, y, 0)
		b.wait(`!CSS.highlights.has("bytes") && document.querySelector("#where").textContent.startsWith("offset 13, ")`)
	}

	// A selection ends with Esc, or with another choice in the tree; then that is what is copied.
	for column := range 2 {
		x, y := at(column, 6)
		b.mouse(input.DispatchMouseEventTypeMousePressed, x, y, 1)
		x, y = at(column, 13)
		b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, 1)
		b.mouse(input.DispatchMouseEventTypeMouseReleased, x, y, 0)
		b.wait(`location.search.includes("b=6-13") && CSS.highlights.has("bytes")`)
		if column == 0 {
			b.keys(kb.Escape)
		} else {
			b.do(chromedp.Click("#tree tr[data-path='tenant'] .type"), chromedp.Click(".copyas [data-as=ascii]"))
			copied(`".tenantS....acme"`)
		}
		b.wait(
			`!location.search.includes("b=") && !CSS.highlights.has("bytes") && document.documentElement.dataset.view === "message"`,
		)
	}

	// By key: a text as it is, a table and an array as their bytes, which begin with their length.
	whole := `window.copied.split(" ").length === 4 + parseInt(window.copied.slice(0, 11).replaceAll(" ", ""), 16)`
	for path, want := range map[string]string{
		"tenant":     `window.copied === "acme"`,
		"x-death":    whole,
		"x-death[0]": whole,
	} {
		b.do(
			chromedp.Evaluate[chromedp.Void](
				`window.copied = ""; document.querySelector("#tree tr[data-path='` + path + `']").focus()`,
			),
		)
		b.keys("y")
		b.wait(want)
	}
	b.wait(
		`!document.querySelector("#toast").hidden && document.querySelector("#toast").textContent.endsWith("copied")`,
	)

	b.do(
		chromedp.Evaluate[chromedp.Void](
			`document.querySelector("#tree tr[data-path='x-death[0].reason'] .copypath").click()`,
		),
	)
	copied(`"x-death[0].reason"`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#tree tr[data-path='tenant'] .copy").click()`))
	copied(`"acme"`)

	b.do(chromedp.Navigate(server.URL+"/code-go"), chromedp.WaitReady(".copycode"))
	// Without a clipboard the focus still stays where it is.
	b.do(
		chromedp.Evaluate[chromedp.Void](
			`navigator.clipboard.writeText = () => Promise.reject(); document.querySelector("#toast").hidden = true; document.querySelector("#mark").focus(); document.querySelector(".copycode").click()`,
		),
	)
	b.wait(`!document.querySelector("#toast").hidden && document.activeElement.id === "mark"`)
	b.do(chromedp.Evaluate[chromedp.Void](spy), chromedp.Click(".copycode"))
	b.wait(
		`window.copied === document.querySelector("pre.code").textContent && window.copied.includes("\nerr := ch.PublishWithContext(ctx, \"amq.topic\"")`,
	)
}

// Messages are marked with x and compared with =; the marks outlive the page.
func TestMarks(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	b.do(chromedp.Navigate(server.URL+"/list"), chromedp.WaitReady("#rows a"))
	b.wait(`document.querySelectorAll("#rows a[tabindex='0']").length === 1`)
	toast := `!document.querySelector("#toast").hidden && document.querySelector("#toast").textContent`
	b.keys("=")
	b.wait(toast + ` === "Mark two messages with x first"`)
	b.keys("y")
	b.wait(toast + ` === "Point at a header first, or move the focus to one"`)
	b.keys("j", "x")
	b.wait(toast + ` === "Message 12340 marked, 1 message in all"`)
	b.wait(
		`document.querySelector("#marks span")?.textContent === "1 marked" && document.querySelector("#marks a").hidden`,
	)
	b.keys("j", "x")
	b.wait(`document.querySelector("#marks span")?.textContent === "2 marked"`)
	b.wait(`[...document.querySelectorAll("#rows tr.marked")].map(r => r.dataset.seq).join() === "12340,12339"`)
	b.wait(`getComputedStyle(document.querySelector("#rows tr.marked > .seq")).boxShadow !== "none"`)
	browsertest.Axe(t, b.ctx, "marks")
	b.keys("x")
	b.wait(`document.querySelector("#marks span")?.textContent === "1 marked"`)
	b.keys("j", "x")
	b.wait(`document.querySelector("#marks span")?.textContent === "2 marked"`)
	b.do(chromedp.Reload(), chromedp.WaitReady("#marks a"))
	if got := b.text(`document.querySelector("#marks a").getAttribute("href")`); got != "/diff?m=12340&m=12338" {
		t.Errorf("compares %s", got)
	}
	b.keys("=")
	b.do(chromedp.WaitReady(".page table.diff"))
	if got := b.text(`location.pathname + location.search`); got != "/diff?m=12340&m=12338" {
		t.Errorf("= leads to %s", got)
	}
	b.do(chromedp.Navigate(server.URL+"/list"), chromedp.WaitReady("#marks button"), chromedp.Click("#marks button"))
	b.wait(`!document.querySelector("#marks") && !document.querySelector("#rows tr.marked")`)

	// By pointer, on the opened message.
	b.do(chromedp.Navigate(server.URL+"/message"), chromedp.WaitReady("#mark"), chromedp.Click("#mark"))
	b.wait(
		`document.querySelector("#mark").ariaPressed === "true" && document.querySelector("#marks span")?.textContent === "1 marked"`,
	)
	b.wait(`document.querySelector("#rows tr.marked")?.dataset.seq === "12338"`)
	browsertest.Axe(t, b.ctx, "a marked message")
	b.do(chromedp.Click("#mark"))
	b.wait(`document.querySelector("#mark").ariaPressed === "false" && !document.querySelector("#marks")`)
}

// A link inside the inspector replaces it, and the focus stays where it was.
func TestFocusStaysInPlace(t *testing.T) {
	b := newTab(t, 1440, 900)
	server := fixtureServer(t, silent, nil)
	b.do(chromedp.Navigate(server.URL+"/message"), chromedp.WaitReady("#hex b"))
	for _, selector := range []string{`.tabs a[href*="tab=readings"]`, `.title nav a[rel=next]`, `.tabs a[href*="tab=code"]`} {
		b.do(
			chromedp.Evaluate[chromedp.Void](
				`window.before = document.querySelector("#inspector article"); (() => { const a = document.querySelector(` + "`" + selector + "`" + `); a.focus(); a.click(); })()`,
			),
		)
		b.wait(`document.querySelector("#inspector article") !== window.before`)
		b.wait(
			`document.activeElement === document.querySelector(` + "`" + selector + "`" + `) || document.activeElement.matches(` + "`" + selector[strings.LastIndex(selector, " ")+1:] + "`" + `)`,
		)
	}
}
