package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/sources"
)

// hostile is text that publishers have reason to try.
func hostile() []string {
	return []string{
		`"><script>alert(1)</script>`,
		`'><img src=x onerror=alert(1)>`,
		`<svg/onload=alert(1)>`,
		`</textarea></title></style></script><iframe src=javascript:alert(1)>`,
		`javascript:alert(1)`,
		`{{constructor.constructor('alert(1)')()}}`,
		"a\r\nSet-Cookie: x=1\r\n\r\n<b>",
		"\u202eevil\u2066\u200b\ufeff",
		"\x00\x1b[31m\x7f\u0085",
		"\xff\xfe\xc0<b>",
		`../../etc/passwd`,
		`CON`,
		`" onmouseover="alert(1)" x="`,
		`<base href="https://evil.example/">`,
		`<meta http-equiv="refresh" content="0;url=https://evil.example">`,
		strings.Repeat("<", 250),
		`&lt;script&gt;`,
		`<!--`,
		`]]>`,
	}
}

func (f *fixture) addHostile() {
	for _, h := range hostile() {
		f.add(message{exchange: h, key: h, consumer: h, body: []byte(h),
			headers: encode.Table(func(e *encode.Encoder) {
				e.Str(h, h)
				e.Str("value", h)
				e.Bytes("bytes", []byte(h))
				e.Str("dup", h)
				e.Str("dup", h)
				e.Nested("table", func(e *encode.Encoder) { e.Str(h, h) })
				e.Array("array", func(e *encode.Encoder) { e.Str("", h) })
				e.Value("bad", '<', []byte(h))
			}),
			props: []wire.Property{
				{Name: "content_type", Raw: []byte(h)},
				{Name: "correlation_id", Raw: []byte(h)},
				{Name: "reply_to", Raw: []byte(h)},
				{Name: "expiration", Raw: []byte(h)},
				{Name: "message_id", Raw: []byte(h)},
				{Name: "type", Raw: []byte(h)},
				{Name: "user_id", Raw: []byte(h)},
				{Name: "app_id", Raw: []byte(h)},
				{Name: "cluster_id", Raw: []byte(h)},
			}})
	}
}

// inert reports what in a document could run, fetch, navigate or deceive.
func inert(t *testing.T, where string, root *html.Node) {
	t.Helper()
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Errorf("%s: comment %q", where, n.Data)
		case html.TextNode:
			if !utf8.ValidString(n.Data) {
				t.Errorf("%s: the text %q is not UTF-8", where, n.Data)
			}
			for _, r := range n.Data {
				if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)) {
					t.Errorf("%s: the text %q holds U+%04X as it is", where, n.Data, r)
				}
			}
		case html.ElementNode:
			switch n.Data {
			case "iframe", "object", "embed", "base", "style", "img", "b-evil", "textarea", "foreignobject":
				t.Errorf("%s: element %s", where, n.Data)
			case "meta":
				if _, ok := attr(n, "http-equiv"); ok {
					t.Errorf("%s: meta http-equiv", where)
				}
			case "script":
				if src, ok := attr(n, "src"); !ok || !strings.HasPrefix(src, "/static/") {
					t.Errorf("%s: script %q %q", where, src, text(n))
				}
			}
			for _, a := range n.Attr {
				for _, r := range a.Val {
					if n.Data == "input" {
						break // what the address says, given back as it is
					}
					if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)) {
						t.Errorf("%s: attribute %s=%q of %s holds U+%04X as it is", where, a.Key, a.Val, n.Data, r)
					}
				}
				switch {
				case strings.HasPrefix(strings.ToLower(a.Key), "on"),
					a.Key == "style",
					strings.HasPrefix(a.Key, "hx-on"),
					a.Key == "srcdoc":
					t.Errorf("%s: attribute %s=%q of %s", where, a.Key, a.Val, n.Data)
				case a.Key == "href", a.Key == "src", a.Key == "action", a.Key == "hx-get":
					if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") ||
						strings.HasPrefix(a.Val, "//") {
						t.Errorf("%s: %s=%q leads away", where, a.Key, a.Val)
					}
				}
			}
		}
	}
}

func TestHostileTextIsInert(t *testing.T) {
	f := newFixture(t)
	f.addHostile()
	paths := []string{"/", "/?q=value", "/nowhere/%3Cscript%3E"}
	for seq := range f.stored {
		paths = append(
			paths,
			fmt.Sprintf("/m/%d", seq+1),
			fmt.Sprintf("/m/%d?view=full&order=az", seq+1),
			fmt.Sprintf("/m/%d?tab=readings", seq+1),
		)
	}
	for _, h := range hostile() {
		e := url.QueryEscape(h)
		paths = append(
			paths,
			"/?q="+e,
			"/?q=%22"+e,
			"/?cols="+e,
			"/?tz="+e,
			"/?dialect="+e,
			"/?before="+e,
			"/m/1?tab="+e,
			"/m/"+url.PathEscape(h),
			"/?q=value&cols=value,%22"+e+"%22",
		)
	}
	for _, p := range paths {
		r := f.get(p, "Accept", "text/html")
		if r.StatusCode >= 500 {
			t.Errorf("%s: status %d", p, r.StatusCode)
			continue
		}
		inert(t, p, r.html())
		for _, vs := range r.Header {
			for _, v := range vs {
				if strings.ContainsAny(v, "\r\n") {
					t.Errorf("%s: header %q", p, v)
				}
			}
		}
	}
	for _, path := range []string{"/", "/m/1", "/?cols=value"} {
		if got := text(f.get(path, "Accept", "text/html").html()); !strings.Contains(got, hostile()[0]) {
			t.Errorf("%s does not show the text exactly", path)
		}
	}
	for seq := range f.stored {
		for _, part := range []string{"headers", "content-header", "body"} {
			f.get(fmt.Sprintf("/m/%d/%s.bin", seq+1, part)).want(http.StatusOK).
				wantHeader("Content-Disposition", fmt.Sprintf(`attachment; filename="headerglass-%d-%s.bin"`, seq+1, part))
		}
	}
}

func TestHostileTextIsInertInTheFeed(t *testing.T) {
	f := newFixture(t)
	f.addHostile()
	b := f.dialLive(t, "after=0&cols=value,%22%3Cb%3E%22")
	m := b.read()
	fragment := fmt.Sprint(m["html"]) + fmt.Sprint(m["keys"])
	rows := b.rows()
	if rows["count"] != float64(len(hostile())) {
		t.Fatalf("%v rows, want %d", rows["count"], len(hostile()))
	}
	doc, err := html.Parse(
		strings.NewReader(
			"<!DOCTYPE html><html><body>" + fragment + "<table><tbody>" + fmt.Sprint(rows["html"]) + "</tbody></table>",
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	inert(t, "live", doc)
}

// Whatever a request says, the server answers it and does not fail.
func FuzzRequest(f *testing.F) {
	for _, s := range []struct{ path, query string }{
		{"/", "q=tenant"},
		{"/", "q=%28"},
		{"/", "before=3&limit=2"},
		{"/", "after=1&cols=value"},
		{"/", "from=2026-03-01&to=2026-03-02&tz=Asia/Tokyo"},
		{"/m/1", "dialect=qpid-336&order=az"},
		{"/m/2", "at=9&skip=1&hex=16&b=3-9&body=1&tab=readings"},
		{"/m/3/headers.bin", ""},
		{"/m/99", ""},
		{"/api/messages", "q=$size>1&cols=table,array[0]"},
		{"/api/messages/4", "dialect=spec-0-8"},
		{"/api/keys", ""},
		{"/export.jsonl", "limit=3"},
		{"/export.csv", "cols=table,array[0]"},
		{"/export.zip", "limit=1"},
		{"/export.pcapng", "q=$size>1"},
		{"/static/x", ""},
		{"/live", ""},
		{"/m/%", "%"},
		{"//", ";"},
		{"", "="},
	} {
		f.Add(s.path, s.query)
	}
	a := archive.New(archive.Config{})
	srv, err := New(Config{Sources: []sources.Source{{Archive: a}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(srv.Close)
	fix := &fixture{Server: srv, archive: a}
	fix.addHostile()
	fix.addSpecimens()
	f.Fuzz(func(t *testing.T, path, query string) {
		for _, header := range []http.Header{{}, {"Accept": {"text/html"}}, {"Hx-Request": {"true"}}} {
			r := &http.Request{
				Method:     http.MethodGet,
				Host:       "localhost",
				Header:     header,
				RequestURI: path + "?" + query,
				URL:        &url.URL{Path: path, RawQuery: query},
				RemoteAddr: "127.0.0.1:1",
				ProtoMajor: 1,
				ProtoMinor: 1,
			}
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, r.WithContext(t.Context()))
			if w.Code >= 500 {
				t.Errorf("%q ? %q: status %d: %.300s", path, query, w.Code, w.Body)
			}
		}
	})
}

// TestAddressesThatAreNotUTF8: no octet of an address gets into a page raw.
func TestAddressesThatAreNotUTF8(t *testing.T) {
	f := newFixture(t)
	f.fill(3)
	for _, path := range []string{"/", "/m/1", "/m/1/body", "/diff", "/inspect", "/api/messages", "/api/complete", "/live", "/summary", "/export.csv", "/nowhere%ff"} {
		for _, name := range []string{
			"q", "facet", "cols", "sort", "from", "to", "tz", "dialect", "before", "after", "limit", "tab", "order", "at", "skip", "b", "lang", "m", "hex", "input", "format", "%ff",
		} {
			for _, query := range []string{name + "=%ff", name + "=a%e9b&facet=tenant", name + "=\xff"} {
				for _, accept := range []string{"text/html", "*/*"} {
					r := f.get(path+"?"+query, "Accept", accept)
					if !utf8.Valid(r.body) {
						t.Errorf("%s?%s: a raw octet", path, query)
					}
				}
			}
		}
	}
}
