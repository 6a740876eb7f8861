//go:build unix

package main

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/headerglass/headerglass/web/browsertest"
)

// A feed that is dead does not look alive: not when the explorer stands still, not without a
// network, and not when it was started again and its numbers mean other messages.
func TestDeadFeedInBrowser(t *testing.T) {
	tab := browsertest.Start(t)
	ctx, cancel := context.WithTimeout(tab, 3*time.Minute)
	defer cancel()
	broker, c := peeking(t, 20, func(args ...string) *child { return startChild(t, nil, args...) })

	const (
		word = `document.querySelector("#live .word").textContent.trim()`
		news = `document.querySelector("#news").checkVisibility() && document.querySelector("#news").textContent`
		dead = `/^No news since \d\d:\d\d:\d\d$/.test(` + news + `) && ` + word + ` === "Reconnecting"`
		// The same amber stands on the state, which says "consuming" still.
		amber = `getComputedStyle(document.querySelector("#broker .state")).color === getComputedStyle(document.querySelector("#news")).color`
		well  = `document.querySelector("#news").hidden && ` + word + ` === "Live"`
	)
	do(t, ctx, "open the list", chromedp.Navigate(c.site+"/"))
	until(t, ctx, "it is live", well+` && document.querySelectorAll("#rows tr[data-seq]").length === 20`)
	loaded := eval[float64](t, ctx, `performance.timeOrigin`)

	offline := func(is bool) {
		t.Helper()
		_, err := chromedp.Call(ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{
			Offline: is, DownloadThroughput: -1, UploadThroughput: -1,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// The next beat, on this machine's own network, takes it back.
	do(t, ctx, "watch for it", chromedp.Evaluate[chromedp.Void](
		`new MutationObserver(() => { window.saidDead ||= `+dead+` }).observe(
			document.querySelector("#live .word"), { childList: true, characterData: true, subtree: true }), undefined`))
	offline(true)
	until(t, ctx, "no network is said at once", `window.saidDead === true`)
	offline(false)
	until(t, ctx, "it is live again", well)

	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, "silence is said", dead+` && `+amber)
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, "it is live again", well)
	if eval[float64](t, ctx, `performance.timeOrigin`) != loaded {
		t.Error("the page was loaded again, without a restart")
	}

	c.end(t)
	until(t, ctx, "the end is said", dead)
	again := startChild(t, nil, "serve", "--amqp", broker.URL(), "--queue", "q", "--listen", c.site[len("http://"):])
	until(t, ctx, "the restart is said", `/^The explorer was started again at \d\d:\d\d:\d\d$/.test(`+news+`)`)
	until(t, ctx, "it is live again", word+` === "Live" && document.querySelectorAll("#rows tr[data-seq]").length === 20`)
	if again.site != c.site {
		t.Errorf("started at %s, then at %s", c.site, again.site)
	}
}
