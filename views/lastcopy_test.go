package views

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/headerglass/headerglass/static"
	"github.com/headerglass/headerglass/web/browsertest"
)

// A message that is evicted while it is open stays on the screen, and can be saved from there.
func TestLastCopy(t *testing.T) {
	b := tab{t, browsertest.Start(t)} // which complains of the answer 410
	if err := browsertest.Viewport(b.ctx, 1440, 900, "light"); err != nil {
		t.Fatal(err)
	}
	var gone atomic.Bool
	behind := fixtureServer(t, silent, nil).Config.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() && r.Header.Get("HX-Request") == "true" {
			http.Error(w, "evicted", http.StatusGone)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	assets, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, f := range fixtures(t, assets) {
		if f.name == "message" {
			want = f.page.Opened.Message.Headers
		}
	}
	dir := t.TempDir()
	saved, err := browsertest.Downloads(b.ctx, dir)
	if err != nil {
		t.Fatal(err)
	}

	b.do(chromedp.Navigate(server.URL + "/list"))
	b.wait(ready)
	b.do(chromedp.Click("#rows tr:nth-child(3) .route"))
	b.wait(`document.querySelector("#tree tr[data-path='tenant']") !== null && /f=1a2b3c4d/.test(location.search)`)
	gone.Store(true)
	address := b.text(`location.href`)
	b.do(chromedp.Click(`#inspector nav a[href*="tab=code"]`))
	b.wait(`document.querySelector(".lastcopy")?.checkVisibility() && document.querySelector("#tree tr[data-path='tenant']").checkVisibility()`)
	if got := b.text(`location.href`); got != address {
		t.Errorf("the address is %s, was %s", got, address)
	}
	browsertest.Axe(t, b.ctx, "last copy")
	for _, name := range []string{"headers-12338.bin", "message-12338.txt"} {
		b.do(chromedp.Click(`.lastcopy a[download="` + name + `"]`))
		select {
		case file := <-saved:
			got, err := os.ReadFile(filepath.Join(dir, file.GUID))
			if err != nil || file.Name != name {
				t.Fatal(file.Name, err)
			}
			if name == "headers-12338.bin" && !bytes.Equal(got, want) || !bytes.Contains(got, []byte("tenant")) {
				t.Errorf("%s is\n%q", name, got)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s was not saved", name)
		}
	}
	// Another message that is gone says so in its place.
	b.do(chromedp.Click("#rows tr:nth-child(4) .route"))
	b.wait(`document.querySelector("#inspector").textContent.trim() === "evicted"`)
}
