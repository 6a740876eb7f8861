package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/headerglass/headerglass/web/browsertest"
)

// flood watches an open tab while messages arrive faster than anyone reads.
type flood struct {
	rate int // messages a second
	last time.Duration
	inp  time.Duration // bound on the 95th percentile from a key press to the next paint
}

func TestLiveFlood(t *testing.T) {
	flood{rate: 2000, last: 5 * time.Second, inp: 3 * time.Second}.run(t)
}

// What is counted on the page goes on with the messages: the total, the histogram and the values of
// a header.
func TestCountsFollowTheFeed(t *testing.T) {
	site := demo(t, "--rate", "200")
	awaitStored(t, site, 200)
	ctx := browsertest.Start(t)
	var complaints browsertest.Complaints
	if err := complaints.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	if err := browsertest.Viewport(ctx, 1440, 900, "light"); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, "open", chromedp.Navigate(site+"/?q=tenant&facet=tenant&cols=tenant"), chromedp.WaitReady("#facet li"))
	digits := func(selector string) string {
		return fmt.Sprintf(`Number(document.querySelector(%q).textContent.replace(/\D/g, ""))`, selector)
	}
	total, value := digits("#total strong"), digits("#facet li .n")
	bars := `document.querySelector("#chart svg").getAttribute("aria-label")`
	before := eval[[]float64](t, ctx, "["+total+","+value+"]")
	label := eval[string](t, ctx, bars)
	if before[0] == 0 || before[1] == 0 {
		t.Fatalf("nothing is counted at first: %v", before)
	}
	until(t, ctx, "the total grows", fmt.Sprintf("%s > %v", total, before[0]))
	until(t, ctx, "the values grow", fmt.Sprintf("%s > %v", value, before[1]))
	until(t, ctx, "the histogram grows", fmt.Sprintf("%s !== %q", bars, label))
	if n := eval[int](t, ctx, `document.querySelectorAll("#chart .s1").length`); n == 0 {
		t.Error("the bars are not in parts")
	}
	complaints.Check(t)
}

func (f flood) run(t *testing.T) {
	site := demo(t, "--rate", fmt.Sprint(f.rate))
	ctx := browsertest.Start(t)
	var complaints browsertest.Complaints
	if err := complaints.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	if err := browsertest.Viewport(ctx, 1440, 900, "light"); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, "open", chromedp.Navigate(site+"/"), chromedp.WaitReady("#rows tr[data-seq]"))
	do(t, ctx, "watch", chromedp.Evaluate[chromedp.Void](`
		window.seen = {rows: 0, tasks: [], events: []};
		new MutationObserver(() => seen.rows = Math.max(seen.rows, document.querySelector("#rows").children.length)).observe(document.querySelector("#rows"), {childList: true});
		new PerformanceObserver(list => seen.tasks.push(...list.getEntries().map(e => e.duration))).observe({type: "longtask"});
		new PerformanceObserver(list => seen.events.push(...list.getEntries().filter(e => e.name === "keydown").map(e => e.duration))).observe({type: "event", durationThreshold: 16});
		undefined`))
	before := getJSON[status](t, site+"/api/status").arrived()
	begin := time.Now()
	presses := 0
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for time.Since(begin) < f.last {
		<-tick.C
		// Every time in the list is written anew: as much as one key can ask for.
		do(t, ctx, "press t", chromedp.KeyEvent("t"))
		presses++
	}
	arrived := getJSON[status](t, site+"/api/status").arrived() - before
	rate := float64(arrived) / time.Since(begin).Seconds()
	until(
		t,
		ctx,
		"the page follows",
		fmt.Sprintf(`Number(document.querySelector("#rows tr[data-seq]").dataset.seq) >= %d`, before+arrived),
	)
	heap, err := chromedp.Call(ctx, runtime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	seen := eval[struct {
		Rows   int
		Tasks  []float64
		Events []float64
	}](t, ctx, `(seen.events.sort((a, b) => a - b), seen)`)
	var longest, sum float64
	for _, d := range seen.Tasks {
		longest, sum = max(longest, d), sum+d
	}
	// Presses that were answered within 16 ms are not reported.
	inp := 16.0
	if at := len(seen.Events) - presses/20 - 1; at >= 0 {
		inp = seen.Events[at]
	}
	t.Logf(
		"%.0f messages/s for %v: at most %d rows, heap %.1f MB, %d long tasks (longest %.0f ms, %.1f s in all), p95 of %d key presses %.0f ms",
		rate,
		f.last,
		seen.Rows,
		heap.UsedSize/1e6,
		len(seen.Tasks),
		longest,
		sum/1000,
		presses,
		inp,
	)
	if rate < 0.8*float64(f.rate) {
		t.Errorf("only %.0f messages/s arrived", rate)
	}
	if seen.Rows > 600 {
		t.Errorf("%d rows, want 600 or less", seen.Rows)
	}
	if heap.UsedSize > 150e6 {
		t.Errorf("the page's heap has %.0f MB, want less than 150", heap.UsedSize/1e6)
	}
	if d := time.Duration(inp * float64(time.Millisecond)); d > f.inp {
		t.Errorf("95 %% of the key presses were answered within %v, want %v", d, f.inp)
	}
	if n := getJSON[status](t, site+"/api/status").FullDecodes; n != 0 {
		t.Errorf("the live feed decoded %d messages", n)
	}
	complaints.Check(t)
}
