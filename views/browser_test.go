package views

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/static"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/web/browsertest"
)

var shots = flag.String("shots", "", "folder that TestScreens writes a picture of every state into")

var only = flag.String("only", "", "states that TestScreens visits, separated by commas")

const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// fixtureServer serves each fixture at /NAME, and the list also at /, under the policy that the
// explorer sets. feed answers the live feed; each request for one is put into opens, if there is
// one.
func fixtureServer(t testing.TB, feed func(*websocket.Conn), opens chan<- *http.Request) *httptest.Server {
	t.Helper()
	assets, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, f := range fixtures(t, assets) {
		page := fixturePage(f)
		serve := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if err := page.Render(r.Context(), w); err != nil && r.Context().Err() == nil {
				t.Error(err)
			}
		}
		mux.HandleFunc("GET /"+f.name, serve)
		if f.name == "list" {
			mux.HandleFunc("GET /{$}", serve)
		}
		if f.page.Opened != nil && f.name == "message" {
			mux.HandleFunc("GET /m/{seq}", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				component := page
				if r.Header.Get("HX-Request") == "true" {
					component = InspectorPane(f.page.Links, f.page.Opened, nil)
				}
				if err := component.Render(r.Context(), w); err != nil && r.Context().Err() == nil {
					t.Error(err)
				}
			})
		}
	}
	mux.HandleFunc("GET /static/{name}", func(w http.ResponseWriter, r *http.Request) {
		f, ok := assets.Lookup(r.PathValue("name"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.Type)
		w.Write(f.Body)
	})
	mux.HandleFunc("GET /summary", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"chart":"","facet":"","total":""}`))
	})
	mux.HandleFunc("GET /api/complete", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(
			[]byte(
				`{"start":0,"items":[{"insert":"tenant","name":"tenant","meaning":"","count":12000},{"insert":"\"<b>tenants</b>\"","name":"<b>tenants</b>","meaning":"","count":3}]}`,
			),
		)
	})
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		if opens != nil {
			opens <- r
		}
		feed(ws)
	})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", csp)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	}))
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// silent is a live feed without news.
func silent(ws *websocket.Conn) {
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			return
		}
	}
}

// TestScreens looks at every state in both themes at five widths: nothing is wider than the window,
// what has panes is not higher either, and the page has nothing to complain of.
func TestScreens(t *testing.T) {
	ctx := browsertest.Start(t)
	server := fixtureServer(t, silent, nil)
	var c browsertest.Complaints
	if err := c.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	assets, _ := static.New()
	for _, f := range fixtures(t, assets) {
		if *only != "" && !strings.Contains(","+*only+",", ","+f.name+",") {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			for _, scheme := range []string{"light", "dark"} {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				if err := browsertest.Viewport(ctx, 1440, 900, scheme); err != nil {
					t.Fatal(err)
				}
				page := server.URL + "/" + f.name
				if err := chromedp.Do(ctx, chromedp.Navigate(page), chromedp.WaitReady("#announce")); err != nil {
					t.Fatal(err)
				}
				for _, size := range [][2]int64{{1440, 900}, {900, 800}, {375, 760}, {320, 640}, {2560, 1200}} {
					if err := browsertest.Viewport(ctx, size[0], size[1], scheme); err != nil {
						t.Fatal(err)
					}
					overflow, err := chromedp.Run(
						ctx,
						chromedp.Evaluate[int](
							`new Promise(done => requestAnimationFrame(() => done(document.scrollingElement.scrollWidth - innerWidth)))`,
							chromedp.EvalAwaitPromise,
						),
					)
					if err != nil {
						t.Fatal(err)
					}
					if overflow > 0 {
						t.Errorf("at %d px the page is %d px too wide", size[0], overflow)
					}
					if size[0] >= 900 {
						below, err := chromedp.Run(
							ctx,
							chromedp.Evaluate[int](`document.scrollingElement.scrollHeight - innerHeight`),
						)
						if err != nil {
							t.Fatal(err)
						}
						if below > 0 {
							t.Errorf("at %d px the page itself scrolls by %d px, beside its panes", size[0], below)
						}
					}
					if *shots == "" {
						continue
					}
					png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
					if err != nil {
						t.Fatal(err)
					}
					name := filepath.Join(*shots, f.name+"-"+scheme+"-"+kit.Itoa(size[0])+".png")
					if err := errors.Join(os.MkdirAll(*shots, 0o755), os.WriteFile(name, png, 0o644)); err != nil {
						t.Fatal(err)
					}
				}
			}
			c.Check(t)
		})
	}
}
