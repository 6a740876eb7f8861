package web

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/html"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/sources"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when the first message of a fixture is received; each next one
// comes a second later.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a Server over an archive that the test fills.
type fixture struct {
	*Server
	t       *testing.T
	archive *archive.Archive
	stored  int
	log     bytes.Buffer
}

func newFixture(t *testing.T, change ...func(*Config, *archive.Config)) *fixture {
	t.Helper()
	f := &fixture{t: t}
	var acfg archive.Config
	cfg := Config{
		Sources: []sources.Source{{Status: func() source.Status {
			return source.Status{
				State: source.Consuming,
				Since: noon,
				Mode:  source.Peek,
				Name:  "orders.dlq",
				Held:  3,
			}
		}}},
		Now: func() time.Time { return noon.Add(time.Hour) },
		Remedies: Remedies{
			Host:   "name it with --allow-host to allow it",
			Memory: "a larger --memory keeps more",
			Paste:  "the command headerglass decode takes more",
			Body:   "A larger --body-limit keeps whole bodies of the messages to come.",
		},
		Logger: slog.New(slog.NewTextHandler(&f.log, nil)),
	}
	for _, c := range change {
		c(&cfg, &acfg)
	}
	f.archive = archive.New(acfg)
	cfg.Sources[0].Archive = f.archive
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.Server = s
	t.Cleanup(s.Close)
	return f
}

// in is the fixture in a test below its own.
func (f *fixture) in(t *testing.T) *fixture {
	return &fixture{Server: f.Server, t: t, archive: f.archive, stored: f.stored}
}

// message is one to store; the zero value has no headers property.
type message struct {
	exchange, key, consumer string
	redelivered             bool
	headers                 []byte // an encoded table
	props                   []wire.Property
	payload                 []byte // instead of headers and props
	body                    []byte
}

func (f *fixture) add(m message) uint64 {
	payload := m.payload
	if payload == nil {
		props := m.props
		if m.headers != nil {
			props = append(props, wire.Property{Name: "headers", Raw: m.headers})
		}
		payload = wire.AppendContentHeaderPayload(nil, uint64(len(m.body)), props...)
	}
	w := f.archive.Writer()
	w.Begin(&wire.Delivery{
		DeliveryTag: uint64(f.stored + 1), Redelivered: m.redelivered, ConsumerTag: []byte(m.consumer),
		Exchange: []byte(m.exchange), RoutingKey: []byte(m.key), Header: payload, BodySize: uint64(len(m.body)),
	}, noon.Add(time.Duration(f.stored)*time.Second))
	w.Body(m.body)
	f.stored++
	return w.Commit()
}

// table is an encoded table of text fields.
func table(pairs ...string) []byte {
	return encode.Table(func(e *encode.Encoder) {
		for i := 0; i < len(pairs); i += 2 {
			e.Str(pairs[i], pairs[i+1])
		}
	})
}

type response struct {
	*http.Response
	t    *testing.T
	body []byte
}

// get asks the server; header holds name and value in turn.
func (f *fixture) get(path string, header ...string) *response {
	f.t.Helper()
	return f.do(http.MethodGet, path, header...)
}

func (f *fixture) do(method, path string, header ...string) *response {
	f.t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Host = "localhost:8080"
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	resp := w.Result()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return &response{resp, f.t, b}
}

func (r *response) want(status int) *response {
	r.t.Helper()
	if r.StatusCode != status {
		r.t.Fatalf("status %d, want %d; body %.300s", r.StatusCode, status, r.body)
	}
	return r
}

func (r *response) wantHeader(name, value string) *response {
	r.t.Helper()
	if got := r.Header.Get(name); got != value {
		r.t.Errorf("%s: %q, want %q", name, got, value)
	}
	return r
}

func (r *response) wantText(parts ...string) *response {
	r.t.Helper()
	for _, p := range parts {
		if !strings.Contains(string(r.body), p) {
			r.t.Errorf("no %q in %.2000s", p, r.body)
		}
	}
	return r
}

func (r *response) json() map[string]any {
	r.t.Helper()
	r.wantHeader("Content-Type", "application/json")
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		r.t.Fatalf("%v in %s", err, r.body)
	}
	return v
}

// html parses the body as a document.
func (r *response) html() *html.Node {
	r.t.Helper()
	if ct := r.Header.Get("Content-Type"); ct != "text/html; charset=utf-8" {
		r.t.Fatalf("content type %q", ct)
	}
	n, err := html.Parse(bytes.NewReader(r.body))
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// rows are the sequence numbers of the list's rows, as its elements say.
func (r *response) rows() []string {
	r.t.Helper()
	var seqs []string
	for n := range r.html().Descendants() {
		if n.Type == html.ElementNode && n.Data == "tr" {
			if seq, ok := attr(n, "data-seq"); ok {
				seqs = append(seqs, seq)
			}
		}
	}
	return seqs
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// find returns the first element that has the attribute with this value.
func find(root *html.Node, name, value string) *html.Node {
	for n := range root.Descendants() {
		if v, ok := attr(n, name); ok && n.Type == html.ElementNode && v == value {
			return n
		}
	}
	return nil
}

// text is what a reader sees of n.
func text(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	if n.Type == html.TextNode {
		return n.Data
	}
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func TestConfigNeedsACleanBase(t *testing.T) {
	for _, base := range []string{"x", "//x", "/x//y", "/../x", "/x y", `/"`} {
		if _, err := New(Config{
			Sources:  []sources.Source{{Archive: archive.New(archive.Config{})}},
			BasePath: base,
		}); err == nil {
			t.Errorf("base path %q was accepted", base)
		}
	}
}
