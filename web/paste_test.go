package web

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/sources"
)

// send posts the form of /inspect; fields holds name and value in turn, and a file under "file".
func (f *fixture) send(header []string, fields ...string) *response {
	f.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == "file" {
			part, err := form.CreateFormFile("file", "a.bin")
			if err != nil {
				f.t.Fatal(err)
			}
			if _, err := part.Write([]byte(fields[i+1])); err != nil {
				f.t.Fatal(err)
			}
			continue
		}
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		f.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/inspect", &b)
	r.Host = "localhost:8080"
	r.Header.Set("Content-Type", form.FormDataContentType())
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	resp := w.Result()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return &response{resp, f.t, body}
}

func TestInspect(t *testing.T) {
	f := newFixture(t)
	encoded := table("tenant", "acme", "<b>", "x")
	f.get("/inspect").want(http.StatusOK).wantText("Inspect bytes", `name="file"`)
	for _, q := range []string{
		"hex=" + hex.EncodeToString(encoded),
		"hex=" + url.QueryEscape("0x"+hex.EncodeToString(encoded[:9])+" \n"+hex.EncodeToString(encoded[9:])),
		"base64=" + url.QueryEscape(base64.StdEncoding.EncodeToString(encoded)),
		"base64=" + base64.RawURLEncoding.EncodeToString(encoded),
		"z=" + pack(encoded),
	} {
		before := f.FullDecodes()
		r := f.get("/inspect?"+q).
			want(http.StatusOK).
			wantText("read as a field table", "tenant", "&lt;b&gt;", "2 fields")
		if f.FullDecodes() != before+1 {
			t.Errorf("%s: %d full decodes", q, f.FullDecodes()-before)
		}
		if bytes.Contains(r.body, []byte("headers.bin")) || bytes.Contains(r.body, []byte("/m/0")) {
			t.Errorf("%s: the page offers what there is not", q)
		}
	}
	for q, status := range map[string]int{
		"hex=zz":                    400,
		"hex=0":                     400,
		"base64=%21%21":             400,
		"z=%21":                     400,
		"z=" + pack(encoded)[:8]:    400,
		"hex=00&as=header":          400,
		"hex=00000000&dialect=nope": 400,
	} {
		t.Run(q, func(t *testing.T) {
			f := f.in(t)
			f.get("/inspect?" + q).want(status)
		})
	}
}

// A content header and a bare table are told apart, and each is offered as the other.
func TestInspectAContentHeader(t *testing.T) {
	f := newFixture(t)
	payload := wire.AppendContentHeaderPayload(nil, 5, wire.Property{Name: "content_type", Raw: []byte("text/plain")},
		wire.Property{Name: "headers", Raw: table("tenant", "acme")})
	r := f.get("/inspect?hex="+hex.EncodeToString(payload)).
		want(http.StatusOK).
		wantText("read as a content header", "content_type", "text/plain", "tenant", "1 field")
	other, _ := attr(find(r.html(), "href", "/inspect?as=table&read=hex&z="+pack(payload)), "href")
	if other == "" {
		t.Fatal("no link to read it as a table")
	}
	f.get(other).want(http.StatusOK).wantText("read as a field table", "Damaged")
	f.get("/inspect?as=header&hex=" + hex.EncodeToString(table("a", "b"))).want(http.StatusBadRequest)
}

// Every link of the page that carries the bytes works, and shows the same bytes.
func TestInspectKeepsTheBytesInItsLinks(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.BasePath = "/glass" })
	big := encode.Table(func(e *encode.Encoder) {
		e.Array("samples", func(e *encode.Encoder) {
			for i := range 3000 {
				e.Int32("", int32(i))
			}
		})
		e.Str("after", "x")
	})
	page := f.get("/glass/inspect?z=" + pack(big)).want(http.StatusOK)
	links := 0
	for n := range page.html().Descendants() {
		href, _ := attr(n, "href")
		if !strings.HasPrefix(href, "/glass/inspect?") {
			continue
		}
		href, _, _ = strings.Cut(href, "#")
		links++
		f.get(href).want(http.StatusOK).wantText("after")
		part := f.get(href, "HX-Request", "true").want(http.StatusOK)
		if bytes.Contains(part.body, []byte("<html")) {
			t.Errorf("%s: a whole page where a part was asked for", href)
		}
	}
	if links < 5 {
		t.Errorf("%d links", links)
	}
	form := find(page.html(), "class", "dialect")
	if action, _ := attr(form, "action"); action != "/glass/inspect" {
		t.Errorf("the dialect's form goes to %s", action)
	}
	if z := find(form, "name", "z"); z == nil {
		t.Error("the dialect's form loses the bytes")
	}
}

func TestUpload(t *testing.T) {
	f := newFixture(t)
	encoded := table("tenant", "acme")
	dump := hex.Dump(encoded)
	for name, fields := range map[string][]string{
		"hexdump":        {"bytes", dump},
		"hexdump file":   {"file", dump},
		"hex":            {"bytes", hex.EncodeToString(encoded)},
		"base64":         {"bytes", base64.StdEncoding.EncodeToString(encoded) + "\r\n"},
		"file":           {"bytes", "", "file", string(encoded)},
		"file of hex":    {"file", hex.EncodeToString(encoded) + "\n"},
		"file over text": {"bytes", "00000000", "file", string(encoded)},
	} {
		t.Run(name, func(t *testing.T) {
			f := f.in(t)
			read, said := "", "Nothing of it is stored"
			switch name {
			case "hexdump", "hexdump file":
				read, said = "read=hexdump&", "Given as hexdump."
			case "hex", "file of hex":
				read, said = "read=hex&", "Given as hex."
			case "base64":
				read, said = "read=base64&", "Given as base64."
			}
			r := f.send(nil, append(slices.Clone(fields), "dialect", "lenient")...).
				want(http.StatusSeeOther).
				wantHeader("Location", "/inspect?"+read+"z="+pack(encoded))
			f.get(r.Header.Get("Location")).want(http.StatusOK).wantText(said, "acme")
		})
	}
	f.send(nil, "file", string(encoded), "dialect", "rabbitmq").
		wantHeader("Location", "/inspect?z="+pack(encoded)+"&dialect=rabbitmq")
	f.send([]string{"Accept", "text/html"}, "bytes", "not <bytes>").
		want(http.StatusBadRequest).
		wantText("neither hex nor base64", "not &lt;bytes&gt;")
	if r := f.send(nil, "bytes", "not <bytes>").want(http.StatusBadRequest); string(
		r.body,
	) != "These characters are neither hex nor base64.\n" {
		t.Errorf("who is no browser reads %s", r.body)
	}
	f.send([]string{"Accept", "text/html"}).want(http.StatusBadRequest).wantText("choose a file")
	f.send(nil, "file", "\x1f\x8b\x08\x00").
		want(http.StatusBadRequest).
		wantText("compressed with gzip", "headerglass replay")
	f.send(nil, "bytes", "00000000", "dialect", "nope").want(http.StatusBadRequest)

	// What does not fit into a header of the answer is shown at once, and what fits into no address
	// without links to itself.
	noise := make([]byte, 9<<10)
	x := uint32(1)
	for i := range noise {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	middle := encode.Table(func(e *encode.Encoder) { e.Bytes("noise", noise) })
	f.send(nil, "file", string(middle)).want(http.StatusOK).wantText("read as a field table")
	large := append(append(append(noise[:len(noise):len(noise)], noise...), noise...), noise...)
	for i := range large { // no two parts alike, or they would pack well
		x = x*1664525 + 1013904223
		large[i] ^= byte(x >> 24)
	}
	large = encode.Table(func(e *encode.Encoder) { e.Bytes("noise", large); e.Str("<last>", "x") })
	r := f.send(nil, "file", string(large), "dialect", "rabbitmq").want(http.StatusOK).
		wantText("too many for an address", "dialect rabbitmq,", "&lt;last&gt;", "headerglass decode")
	if bytes.Contains(r.body, []byte("/inspect?")) {
		t.Error("a page that is in no address has links to itself")
	}
	huge := strings.Repeat("x", maxPaste+1)
	f.send(nil, "file", huge).want(http.StatusRequestEntityTooLarge).wantText("headerglass decode")

	// A bomb in an address unpacks to no more than the bound.
	f.get("/inspect?z=" + pack(make([]byte, maxPaste+1))).want(http.StatusRequestEntityTooLarge)
}

// The one route that takes a POST takes it from the explorer's own pages only, and only there.
func TestUploadComesFromHere(t *testing.T) {
	f := newFixture(t)
	f.send([]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, "bytes", "00000000").
		want(http.StatusForbidden)
	f.send([]string{"Origin", "https://evil.example"}, "bytes", "00000000").want(http.StatusForbidden)
	f.send([]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:8080"}, "bytes", "00000000").
		want(http.StatusSeeOther)
	for _, method := range []string{"PUT", "DELETE", "PATCH"} {
		f.do(method, "/inspect").want(http.StatusMethodNotAllowed).wantHeader("Allow", "GET, HEAD, POST")
	}
	f.do(http.MethodPut, "/inspect").wantText("use GET, HEAD or POST")
	f.do(http.MethodPost, "/inspect/").want(http.StatusNotFound)
	f.do(http.MethodPost, "/inspect").want(http.StatusBadRequest)
	if f.archive.Stats().Stored != 0 {
		t.Error("something was stored")
	}
}

func TestTraceURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"":                                true,
		"https://tempo.example/t/{trace}": true,
		"http://10.0.0.1:16686/trace/{trace}?uiFind={span}": true,
		"https://tempo.example/":                            false,
		"javascript:alert('{trace}')":                       false,
		"data:text/html,{trace}":                            false,
		"//tempo.example/{trace}":                           false,
		"https://{trace}.example/":                          false,
		"/{trace}":                                          false,
	} {
		t.Run(address, func(t *testing.T) {
			if _, err := New(Config{
				Sources:  []sources.Source{{Archive: archive.New(archive.Config{})}},
				TraceURL: address,
			}); (err == nil) != ok {
				t.Errorf("%q: %v", address, err)
			}
		})
	}
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.TraceURL = "https://tempo.example/t/{trace}" })
	f.add(message{headers: table("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")})
	f.get("/m/1").want(http.StatusOK).wantText(`href="https://tempo.example/t/4bf92f3577b34da6a3ce929d0e0e4736"`)
}
