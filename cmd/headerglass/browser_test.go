package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/headerglass/headerglass/web/browsertest"
)

// lineWriter hands on each line that is written to it.
type lineWriter struct {
	lines chan string
	part  []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		line, rest, found := bytes.Cut(w.part, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.lines <- string(line)
		w.part = rest
	}
}

// demo runs `headerglass demo` in this process until the test ends and returns its address, without
// the slash at the end.
func demo(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out := &lineWriter{lines: make(chan string, 16)}
	var log bytes.Buffer
	done := make(chan int)
	go func() {
		done <- run(ctx, append([]string{"demo", "--listen", "127.0.0.1:0"}, args...), stdio{strings.NewReader(""), out, &log})
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != exitOK {
			t.Errorf("demo ended with exit code %d: %s", code, log.String())
		}
	})
	select {
	case line := <-out.lines:
		_, address, found := strings.Cut(line, "http://")
		if !found {
			t.Fatalf("demo printed %q", line)
		}
		return "http://" + strings.TrimSuffix(address, "/")
	case <-time.After(20 * time.Second):
		t.Fatal("demo printed no address")
		return ""
	}
}

// get returns the body of a page that must answer with the status.
func get(t *testing.T, url string, status int) []byte {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Fatalf("%s: %s, want %d: %s", url, resp.Status, status, body)
	}
	return body
}

// getJSON decodes what an API route answers.
func getJSON[T any](t *testing.T, url string) (v T) {
	t.Helper()
	if err := json.Unmarshal(get(t, url, http.StatusOK), &v); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return v
}

type status struct {
	Broker          struct{ State string }
	Stored, Evicted uint64 // kept, and no longer kept
	FullDecodes     uint64 `json:"full_decodes"`
}

// arrived is how many messages ever were stored.
func (s status) arrived() uint64 { return s.Stored + s.Evicted }

// awaitStored waits until the explorer has stored so many messages.
func awaitStored(t *testing.T, site string, n uint64) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(60 * time.Second)
	for {
		if s := getJSON[status](t, site+"/api/status"); s.Stored >= n {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d messages did not arrive", n)
		}
	}
}

// eval runs an expression in the page.
func eval[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true in the page, which may be one that is still to come.
func until(t *testing.T, ctx context.Context, what, expression string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Until(deadline))))
		if err == nil {
			return
		}
		// Leaving a page ends the polling in it; the page that follows is asked anew.
		if ctx.Err() != nil || errors.Is(err, chromedp.ErrPollingTimeout) || time.Now().After(deadline) {
			shot, _ := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			file := filepath.Join(os.TempDir(), "headerglass-failed.png")
			os.WriteFile(file, shot, 0o600)
			t.Fatalf("%s: %s: %v (picture: %s)", what, expression, err, file)
		}
	}
}

// do runs actions that must succeed.
func do(t *testing.T, ctx context.Context, what string, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// The main job as a person does it: open the page, filter by a key, open a message, compare what is
// shown with what the API says, download the raw bytes.
func TestDemoInBrowser(t *testing.T) {
	tab := browsertest.Start(t)
	ctx, cancel := context.WithTimeout(tab, 2*time.Minute)
	defer cancel()
	site := demo(t, "--rate", "0", "--messages", "300")
	awaitStored(t, site, 300)

	var complaints browsertest.Complaints
	if err := complaints.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	if err := browsertest.Viewport(ctx, 1440, 900, "light"); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, "open the list", chromedp.Navigate(site+"/"))
	until(t, ctx, "rows, newest first", `document.querySelector("#rows tr[data-seq]")?.dataset.seq === "300"`)

	do(t, ctx, "click the key x-death", chromedp.Evaluate[chromedp.Void](
		`[...document.querySelectorAll("#keys a")].find(a => a.textContent.trim().startsWith("x-death")).click()`))
	const withIt = `[...document.querySelectorAll("#keys p.do a")].find(a => a.textContent === "with it")`
	until(t, ctx, "its values are shown", withIt+` !== undefined`)
	do(t, ctx, "click with it", chromedp.Evaluate[chromedp.Void](withIt+`.click()`))
	until(
		t,
		ctx,
		"the filter is in the address and in the input",
		`new URL(location).searchParams.get("q") === "x-death" && document.querySelector("input[name=q]").value === "x-death"`,
	)
	type listing struct {
		Messages []struct{ Seq uint64 }
	}
	want := getJSON[listing](t, site+"/api/messages?q=x-death&limit=100")
	var seqs []string
	for _, m := range want.Messages {
		seqs = append(seqs, fmt.Sprint(m.Seq))
	}
	if len(seqs) == 0 {
		t.Fatal("nothing in the demo has x-death")
	}
	until(
		t,
		ctx,
		"the rows are the API's",
		fmt.Sprintf(
			`[...document.querySelectorAll("#rows tr[data-seq]")].map(r => r.dataset.seq).join() === %q`,
			strings.Join(seqs, ","),
		),
	)
	if n := getJSON[status](t, site+"/api/status").FullDecodes; n != 0 {
		t.Errorf("listing and filtering decoded %d messages", n)
	}

	do(t, ctx, "open the first", chromedp.Click(`#rows tr[data-seq] a`))
	until(
		t,
		ctx,
		"the inspector shows it",
		fmt.Sprintf(
			`document.querySelector("#inspector article")?.dataset.seq === %q && location.pathname === "/m/%s"`,
			seqs[0],
			seqs[0],
		),
	)
	if n := getJSON[status](t, site+"/api/status").FullDecodes; n != 1 {
		t.Errorf("opening one message decoded %d", n)
	}
	until(t, ctx, "the address means this message", `/[?&]f=[0-9a-f]{8}(&|$)/.test(location.search)`)
	get(t, site+"/m/"+seqs[0]+"?f=00000000", http.StatusGone)
	if shown := eval[string](t, ctx, `document.querySelector("#inspector .headers").textContent`); !strings.Contains(
		shown,
		"x-death",
	) ||
		!strings.Contains(shown, "reason") {
		t.Errorf("the nested death is not shown: %s", shown)
	}

	dir := t.TempDir()
	finished, err := browsertest.Downloads(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"headers.bin", "content-header.bin", "body.bin"} {
		do(t, ctx, "download "+name, chromedp.Click(fmt.Sprintf(`.downloads a[href$=%q]`, name)))
		select {
		case file := <-finished:
			got, err := os.ReadFile(filepath.Join(dir, file.GUID))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, get(t, site+"/m/"+seqs[0]+"/"+name, http.StatusOK)) {
				t.Errorf("%s: the saved file differs from what the address gives", name)
			}
			if !strings.HasSuffix(file.Name, name) || !strings.Contains(file.Name, seqs[0]) {
				t.Errorf("%s is offered as %q", name, file.Name)
			}
		case <-ctx.Done():
			t.Fatalf("%s was not saved", name)
		}
	}

	// A file that is dropped on the list, as another tab saved it, is laid open.
	dropped := filepath.Join(dir, "from-elsewhere.bin")
	if err := os.WriteFile(dropped, get(t, site+"/m/"+seqs[0]+"/headers.bin", http.StatusOK), 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, "back to the list", chromedp.Navigate(site+"/"), chromedp.WaitReady("#rows a"))
	until(t, ctx, "its scripts", `document.readyState === "complete"`)
	for _, kind := range []input.DispatchDragEventType{
		input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop,
	} {
		_, err := chromedp.Call(ctx, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: 700, Y: 500,
			Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{dropped}, DragOperationsMask: 1},
		})
		if err != nil {
			t.Fatal(kind, err)
		}
	}
	until(t, ctx, "the file is laid open",
		`location.pathname === "/inspect" && document.querySelector("#inspector .tree, .tree")?.textContent.includes("x-death")`)

	// Every message of the demo, damaged ones included, opens without an error of the page.
	for _, m := range getJSON[listing](t, site+"/api/messages?limit=40").Messages {
		do(
			t,
			ctx,
			fmt.Sprintf("open message %d", m.Seq),
			chromedp.Navigate(fmt.Sprintf("%s/m/%d", site, m.Seq)),
			chromedp.WaitReady("#inspector article"),
		)
	}
	complaints.Check(t)
}

// New arrivals come by themselves, stop when told to, and go on. Every message is a row, or is
// counted in its place as not shown: a batch has room for 50.
func TestDemoLiveInBrowser(t *testing.T) {
	tab := browsertest.Start(t)
	ctx, cancel := context.WithTimeout(tab, 2*time.Minute)
	defer cancel()
	site := demo(t, "--rate", "40")
	awaitStored(t, site, 5)

	var complaints browsertest.Complaints
	if err := complaints.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	if err := browsertest.Viewport(ctx, 1440, 900, "dark"); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, "open the list", chromedp.Navigate(site+"/"))
	const newest = `Number(document.querySelector("#rows tr[data-seq]").dataset.seq)`
	until(t, ctx, "rows", newest+` > 0`)
	start := eval[int](t, ctx, newest)
	until(t, ctx, "new rows come by themselves", fmt.Sprintf(`%s > %d`, newest, start+20))

	do(t, ctx, "pause", chromedp.Click("#live"))
	until(
		t,
		ctx,
		"the pill counts what is new",
		`!document.querySelector("#pill").hidden && /\d+ new/.test(document.querySelector("#pill").textContent)`,
	)
	paused := eval[int](t, ctx, newest)
	awaitStored(t, site, uint64(paused+60))
	if now := eval[int](t, ctx, newest); now != paused {
		t.Errorf("the list moved from %d to %d while paused", paused, now)
	}
	do(t, ctx, "resume", chromedp.Click("#live"))
	until(
		t,
		ctx,
		"the list catches up",
		fmt.Sprintf(`%s > %d && document.querySelector("#pill").hidden`, newest, paused+60),
	)
	// The page does nothing until more has arrived than three batches have room for.
	stalled := eval[int](t, ctx, `(() => {
		const status = () => {
			const r = new XMLHttpRequest();
			r.open("GET", "/api/status", false);
			r.send();
			return JSON.parse(r.responseText);
		};
		const most = status().stored + 200;
		while (status().stored < most);
		return most;
	})()`)
	until(t, ctx, "the list goes on", fmt.Sprintf(`%s > %d`, newest, stalled))
	// As the page has them, each row's number and, negative, how many each gap says are not shown.
	shown := eval[[]int](t, ctx, `[...document.querySelector("#rows").children].map((r) =>
		Number(r.dataset.seq ?? -r.textContent.match(/^([\d,\s]+) messages? not shown$/)[1].replace(/\D/g, "")))`)
	next, gaps := shown[0], 0
	for _, n := range shown {
		switch {
		case n < 0:
			next += n
			gaps++
		case n != next:
			t.Fatalf("%d stands where %d should: a row is missing or twice in %v", n, next, shown)
		default:
			next--
		}
	}
	if gaps == 0 {
		t.Errorf("nothing says what was not shown while the page stood still: %v", shown)
	}
	if n := getJSON[status](t, site+"/api/status").FullDecodes; n != 0 {
		t.Errorf("the live feed decoded %d messages", n)
	}
	complaints.Check(t)
}

// Behind a proxy that does not pass websockets the page says so and asks for new rows.
func TestRowsComeWithoutWebsockets(t *testing.T) {
	ctx := browsertest.Start(t)
	target, err := url.Parse(demo(t, "--rate", "20"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Upgrade")
		r.Out.Header.Del("Connection")
	}})
	defer proxy.Close()
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(proxy.URL+"/")); err != nil {
		t.Fatal(err)
	}
	for _, until := range []string{
		`document.querySelector("#live .word").textContent === "Every 5 s"`,
		`document.querySelector("#toast").textContent.startsWith("Websockets do not get through")`,
		`(window.newest = +document.querySelector("#rows tr").dataset.seq) > 0`,
		`+document.querySelector("#rows tr").dataset.seq > window.newest`,
	} {
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](until)); err != nil {
			t.Fatalf("%s does not come true: %v", until, err)
		}
	}
	rows := `[...document.querySelectorAll("#rows tr")].map((row) => +row.dataset.seq)`
	inOrder := `((seqs) => seqs.every((seq, i) => !i || seq === seqs[i - 1] - 1))(` + rows + `)`
	if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](inOrder)); err != nil || !ok {
		t.Errorf("rows are missing or twice (%v)", err)
	}
}
