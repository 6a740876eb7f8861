package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
)

func TestHealth(t *testing.T) {
	state := source.Consuming
	f := newFixture(t, func(c *Config, _ *archive.Config) {
		c.Sources[0].Status = func() source.Status { return source.Status{State: state} }
	})
	for _, tt := range []struct {
		state source.State
		ready int
	}{
		{source.Consuming, 200}, {source.WindowFull, 200}, {source.Blocked, 200},
		{source.Connecting, 503}, {source.Reconnecting, 503}, {source.Stopped, 503}, {"", 503},
	} {
		t.Run(fmt.Sprint(tt.state), func(t *testing.T) {
			f := f.in(t)
			state = tt.state
			f.get("/healthz").want(http.StatusOK).wantText("ok")
			f.get("/readyz").want(tt.ready).wantText(string(tt.state))
		})
	}
}

func TestMetrics(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.Version = "v1.2.3" })
	f.fill(2)
	f.get("/m/1")
	f.get("/m/9")
	f.get("/nowhere")
	f.get("/metrics").want(http.StatusOK).wantText(
		"\nheaderglass_messages_stored{source=\"\"} 2\n",
		"\nheaderglass_messages_evicted_total{source=\"\"} 0\n",
		"\nheaderglass_archive_bytes{source=\"\"} ",
		"\nheaderglass_archive_max_bytes{source=\"\"} 2.68435456e+08\n",
		"\nheaderglass_ingest_rate{source=\"\"} 0\n",
		"\nheaderglass_full_decodes_total 1\n",
		"\nheaderglass_websocket_clients 0\n",
		"\nheaderglass_messages_held{source=\"\"} 3\n",
		"\nheaderglass_broker_state{source=\"\",state=\"consuming\"} 1\n",
		"\nheaderglass_broker_state{source=\"\",state=\"reconnecting\"} 0\n",
		"\nheaderglass_broker_state{source=\"\",state=\"idle\"} 0\n",
		"\nheaderglass_broker_state{source=\"\",state=\"paused\"} 0\n",
		"\nheaderglass_broker_state{source=\"\",state=\"spool full\"} 0\n",
		"\nheaderglass_broker_state{source=\"\",state=\"spool failed\"} 0\n",
		`headerglass_http_requests_total{route="/m/{seq}",status="200"} 1`,
		`headerglass_http_requests_total{route="/m/{seq}",status="404"} 1`,
		"\nheaderglass_build_info{version=\"v1.2.3\"} 1\n",
		"\ngo_goroutines ",
	)
	// A scan of made-up addresses must not make a series each.
	for i := range 50 {
		f.get(fmt.Sprintf("/made-up/%d", i))
	}
	if n := bytes.Count(f.get("/metrics").body, []byte("headerglass_http_requests_total{")); n > 6 {
		t.Errorf("%d series of requests", n)
	}
}

// Each line of the table comes out with its type and its help.
func TestMetricsAreThoseOfTheTable(t *testing.T) {
	page := string(newFixture(t).get("/metrics").want(http.StatusOK).body)
	for _, m := range slices.Concat(metrics(), sourceMetrics()) {
		kind := "gauge"
		if m.kind == prometheus.CounterValue {
			kind = "counter"
		}
		name := "headerglass_" + m.name
		want := "# HELP " + name + " " + m.help + "\n# TYPE " + name + " " + kind + "\n" + name
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
		if strings.HasSuffix(m.name, "_total") != (m.kind == prometheus.CounterValue) {
			t.Errorf("%s: a counter's name ends with _total, and only a counter's", m.name)
		}
	}
}

func TestMetricsOfAnUnknownState(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archive.Config) {
		c.Sources[0].Status = func() source.Status { return source.Status{State: "new"} }
	})
	f.get("/metrics").wantText(`headerglass_broker_state{source="",state="new"} 1`)
}

func TestBasePath(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.BasePath = "/glass/" })
	f.fill(60)
	// the proxy keeps the base path, or takes it off
	for _, path := range []string{"/glass/", "/"} {
		page := f.get(path).want(http.StatusOK)
		if got := page.rows(); len(got) != 50 {
			t.Errorf("%s: %d rows", path, len(got))
		}
		for n := range page.html().Descendants() {
			for _, name := range []string{"href", "src", "action", "hx-get", "data-url"} {
				if v, ok := attr(n, name); ok && strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "/glass/") {
					t.Errorf("%s=%q leaves the base path", name, v)
				}
			}
		}
		if next := follow(page, "next"); next == "" {
			t.Error("no next page")
		} else {
			f.get(next).want(http.StatusOK)
		}
	}
	f.get("/glass?q=x").
		want(http.StatusPermanentRedirect).
		wantHeader("Location", "/glass/?q=x").
		wantHeader("X-Content-Type-Options", "nosniff")
	f.get("/glass/m/1/body.bin").want(http.StatusOK)
	f.get("/glass/api/status").want(http.StatusOK)
	f.get("/glass/api/nowhere").want(http.StatusNotFound).json()
	f.get("/glassy/").want(http.StatusNotFound)
	f.get("/glass", "Host", "evil.example").want(http.StatusForbidden)
	f.get("/glass/"+strings.TrimPrefix("/static/"+f.assets.URL("app.css"), "/")).
		want(http.StatusOK).
		wantHeader("Content-Type", "text/css; charset=utf-8")
}

func TestAssets(t *testing.T) {
	f := newFixture(t)
	page := f.get("/").html()
	n := 0
	for d := range page.Descendants() {
		for _, name := range []string{"href", "src"} {
			v, ok := attr(d, name)
			if !ok || !strings.HasPrefix(v, "/static/") {
				continue
			}
			n++
			plain := f.get(v).
				want(http.StatusOK).
				wantHeader("Vary", "Accept-Encoding").
				wantHeader("Content-Encoding", "")
			packed := f.get(v, "Accept-Encoding", "br, gzip").want(http.StatusOK)
			if packed.Header.Get("Content-Encoding") == "gzip" {
				packed.body = gunzip(t, packed.body)
			}
			if !bytes.Equal(plain.body, packed.body) {
				t.Errorf("%s differs when compressed", v)
			}
			f.get(v, "Accept-Encoding", "gzip;q=0").wantHeader("Content-Encoding", "")
			if head := f.do(http.MethodHead, v).want(http.StatusOK); len(head.body) != 0 {
				t.Errorf("HEAD %s has a body", v)
			}
		}
	}
	if n == 0 {
		t.Error("the page has no assets")
	}
	f.get("/static/app.css").want(http.StatusNotFound)
}

func gunzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestPagesAreCompressed(t *testing.T) {
	f := newFixture(t)
	f.fill(100)
	for _, path := range []string{"/", "/m/1", "/api/messages"} {
		plain := f.get(path)
		packed := f.get(path, "Accept-Encoding", "gzip").want(http.StatusOK).wantHeader("Content-Encoding", "gzip")
		if len(packed.body)*3 > len(plain.body) {
			t.Errorf("%s: %d of %d bytes", path, len(packed.body), len(plain.body))
		}
		gunzip(t, packed.body)
	}
}

func TestHead(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	for _, path := range []string{"/", "/m/1", "/api/messages", "/export.jsonl", "/healthz", "/metrics"} {
		if r := f.do(http.MethodHead, path).want(http.StatusOK); path != "/metrics" && path != "/healthz" &&
			path != "/api/messages" &&
			len(r.body) != 0 {
			t.Errorf("HEAD %s has a body", path)
		}
	}
	f.do(http.MethodHead, "/m/2").want(http.StatusNotFound)
}

func TestMessagePage(t *testing.T) {
	f := newFixture(t)
	f.fill(200)
	for _, seq := range []string{"1", "60", "200"} {
		full := f.get("/m/" + seq).want(http.StatusOK)
		rows := full.rows()
		if !slices.Contains(rows, seq) {
			t.Errorf("the list beside message %s shows %v", seq, rows)
		}
		current := find(full.html(), "aria-current", "true")
		if href, _ := attr(current, "href"); !strings.HasPrefix(href, "/m/"+seq) {
			t.Errorf("message %s: %q is marked as current", seq, href)
		}
		part := f.get("/m/"+seq, "HX-Request", "true").want(http.StatusOK)
		if bytes.Contains(part.body, []byte("<html")) || len(part.rows()) > 0 {
			t.Errorf("the partial of %s has the whole page", seq)
		}
		if whole := f.get("/m/"+seq, "HX-Request", "true", "HX-History-Restore-Request", "true"); !bytes.Contains(
			whole.body,
			[]byte("<html"),
		) {
			t.Errorf("restoring history gives only a part of %s", seq)
		}
	}
	f.get("/m/60?q=%28").want(http.StatusOK) // a broken filter does not hide the message
}

func requestFor(t *testing.T, target string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
