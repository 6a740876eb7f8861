package web

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/web/budget"
	"github.com/headerglass/headerglass/web/capture"
	"github.com/headerglass/headerglass/web/demoserver/traffic"
	"github.com/headerglass/headerglass/web/export"
)

func exportPaths() (paths []string) {
	for _, f := range export.Formats() {
		paths = append(paths, "/export."+f.Extension)
	}
	return paths
}

// readablePaths are those of the files that these tests can read back.
func readablePaths() []string {
	return []string{"/export.jsonl", "/export.csv", "/export.zip", "/export.pcapng"}
}

// exportedKeys are the routing keys of an export, in its order.
func exportedKeys(t *testing.T, path string, body []byte) (keys []string) {
	t.Helper()
	if strings.HasPrefix(path, "/export.csv") {
		lines, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines[1:] {
			keys = append(keys, l[3])
		}
		return keys
	}
	if len(body) == 0 {
		return nil // no lines
	}
	for m := range reread(t, body).Snapshot().Forward(0) {
		keys = append(keys, string(m.RoutingKey()))
	}
	return keys
}

// reread puts an export into a new archive.
func reread(t *testing.T, export []byte) *archive.Archive {
	t.Helper()
	a, _ := replayed(t, export)
	return a
}

// replayed is reread with what was found.
func replayed(t *testing.T, export []byte) (*archive.Archive, capture.Report) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export")
	if err := os.WriteFile(path, export, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := capture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := archive.New(archive.Config{})
	report, err := f.Read(t.Context(), capture.Config{Archive: a, BodyLimit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return a, report
}

func orders(from, to int) (keys []string) {
	for i := from; i <= to; i++ {
		keys = append(keys, "order."+strconv.Itoa(i))
	}
	return keys
}

func TestExportsHoldWhatTheFilterMatches(t *testing.T) {
	f := newFixture(t)
	f.fill(450)
	var third []string // every third from the first has the tenant t0
	for i := 1; i <= 450; i += 3 {
		third = append(third, "order."+strconv.Itoa(i))
	}
	for _, path := range readablePaths() {
		name := "headerglass-export" + strings.TrimPrefix(path, "/export")
		for _, tt := range []struct {
			query string
			want  []string
			name  string
		}{
			{"", orders(1, 450), name},
			{"?q=tenant%3Dt0", third, name},
			{"?q=absent", nil, name},
			{"?limit=7", orders(444, 450), "headerglass-export-newest-7" + strings.TrimPrefix(path, "/export")},
			{"?limit=1450", orders(1, 450), name},
			{"?limit=450", orders(1, 450), name},
			{"?q=tenant%3Dt0&limit=2", []string{"order.445", "order.448"}, "headerglass-export-newest-2" + strings.TrimPrefix(path, "/export")},
			{"?before=5", orders(1, 4), name},
			{"?after=448", orders(449, 450), name},
			{"?after=5&before=8", orders(6, 7), name},
			{"?from=2026-03-01T12:00:10Z&to=2026-03-01T12:00:12Z", orders(11, 12), name},
		} {
			t.Run(tt.query, func(t *testing.T) {
				f := f.in(t)
				r := f.get(path+tt.query).
					want(http.StatusOK).
					wantHeader("Content-Disposition", `attachment; filename="`+tt.name+`"`)
				if got := exportedKeys(t, path, r.body); !slices.Equal(got, tt.want) {
					t.Errorf("%s%s holds %v, want %v", path, tt.query, got, tt.want)
				}
				head := f.do(http.MethodHead, path+tt.query).
					want(http.StatusOK).
					wantHeader("Content-Disposition", `attachment; filename="`+tt.name+`"`)
				if len(head.body) != 0 {
					t.Errorf("HEAD %s has a body", path)
				}
			})
		}
		f.get(path + "?q=%28").want(http.StatusBadRequest)
		f.get(path + "?dialect=klingon").want(http.StatusBadRequest)
		f.get(path + "?limit=all").want(http.StatusBadRequest)
	}
	f.cfg.ExportLimit = 3
	for _, path := range readablePaths() {
		if got := exportedKeys(t, path, f.get(path+"?limit=10").body); !slices.Equal(got, orders(448, 450)) {
			t.Errorf("%s past a limit of 3: %v", path, got)
		}
	}
}

func TestExportOfNothing(t *testing.T) {
	f := newFixture(t)
	for _, path := range exportPaths() {
		f.get(path).want(http.StatusOK)
	}
	if r := f.get("/export.csv"); string(
		r.body,
	) != "seq,received,exchange,routing_key,redelivered,header_count,header_bytes,body_bytes\n" {
		t.Errorf("the empty csv is %q", r.body)
	}
}

func TestNoExports(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archive.Config) { c.NoExports = true })
	f.fill(1)
	for _, path := range exportPaths() {
		if r := f.get(path).want(http.StatusForbidden); string(
			r.body,
		) != "Exports are switched off on this explorer.\n" {
			t.Errorf("%s: %q", path, r.body)
		}
	}
	f.get("/m/1/headers.bin").want(http.StatusOK)
}

func TestExportsWaitTheirTurn(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	f.sources.Queries = budget.NewLimiter(1, 0)
	release, err := f.sources.Queries.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range exportPaths() {
		f.get(path).want(http.StatusServiceUnavailable).wantHeader("Content-Disposition", "")
	}
	release()
	for _, path := range exportPaths() {
		f.get(path).want(http.StatusOK)
	}
}

// leaver is a browser that goes away, or just ends the request, after some writes.
type leaver struct {
	*httptest.ResponseRecorder
	after  int
	leave  func()
	broken error
}

func (l *leaver) Write(b []byte) (int, error) {
	if l.after--; l.after < 0 {
		l.leave()
		if l.broken != nil {
			return 0, l.broken
		}
	}
	return l.ResponseRecorder.Write(b)
}

func (l *leaver) WriteString(s string) (int, error) { return l.Write([]byte(s)) }

// An export that cannot be finished is cut off, so that nobody takes it for whole, and goes no
// further.
func TestExportIsCutOff(t *testing.T) {
	f := newFixture(t)
	for range 3000 {
		f.add(message{headers: table("k", strings.Repeat("v", 500))})
	}
	for _, path := range readablePaths() {
		if path == "/export.csv" {
			path += "?cols=k" // more than one buffer
		}
		for _, broken := range []error{nil, errors.New("connection reset")} {
			ctx, cancel := context.WithCancel(t.Context())
			w := &leaver{ResponseRecorder: httptest.NewRecorder(), after: 1, leave: cancel, broken: broken}
			before := f.FullDecodes()
			func() {
				defer func() {
					if p := recover(); p != http.ErrAbortHandler {
						t.Errorf("%s: recovered %v", path, p)
					}
				}()
				f.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil))
			}()
			if n := f.FullDecodes() - before; n > 600 {
				t.Errorf("%s: %d messages were decoded for a browser that was gone", path, n)
			}
			cancel()
		}
	}
	if release, err := f.sources.Queries.Acquire(t.Context()); err != nil {
		t.Errorf("a place was not given back: %v", err)
	} else {
		release()
	}
}

// An export that has been begun is not cut off because others come in between.
func TestExportWaitsWhenBegun(t *testing.T) {
	f := newFixture(t)
	for range 1000 {
		f.add(message{body: make([]byte, 1000)})
	}
	f.sources.Queries = budget.NewLimiter(1, time.Millisecond)
	w := &leaver{ResponseRecorder: httptest.NewRecorder(), after: 1}
	w.leave = sync.OnceFunc(func() {
		release, err := f.sources.Queries.Acquire(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		time.AfterFunc(20*time.Millisecond, release)
	})
	f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/export.pcapng", nil))
	if n := len(exportedKeys(t, "/export.pcapng", w.Body.Bytes())); n != 1000 {
		t.Errorf("%d messages, want 1000", n)
	}
}

// interrupted calls between after its first write.
type interrupted struct {
	http.ResponseWriter
	between func()
}

func (w *interrupted) Write(b []byte) (int, error) {
	defer w.between()
	return w.ResponseWriter.Write(b)
}

func (w *interrupted) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// The time that a browser has for a part does not run while the export waits for other queries,
// before its first byte or after it. An HTTP/2 server would end the request.
func TestExportWaitsLongerThanBrowsersMay(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		f := newFixture(t)
		for range 1000 {
			f.add(message{body: make([]byte, 1000)})
		}
		f.sources.Queries = budget.NewLimiter(1, time.Minute)
		f.exportStall = 200 * time.Millisecond
		hold := func() {
			release, err := f.sources.Queries.Acquire(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			time.AfterFunc(2*f.exportStall, release)
		}
		once := sync.OnceFunc(hold)
		srv := httptest.NewUnstartedServer(nil)
		srv.Config = HTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f.ServeHTTP(&interrupted{w, once}, r)
		}))
		srv.Config.WriteTimeout = f.exportStall
		srv.EnableHTTP2 = proto == "HTTP/2.0"
		srv.StartTLS()
		hold()
		resp, err := srv.Client().Get(srv.URL + "/export.pcapng")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.Proto != proto {
			t.Errorf("%s: %v after %d bytes", resp.Proto, err, len(b))
		} else if n := len(exportedKeys(t, "/export.pcapng", b)); n != 1000 {
			t.Errorf("%s: %d messages, want 1000", proto, n)
		}
		resp.Body.Close()
		srv.Close()
	}
}

// An export that eviction overtakes is cut off, so that nobody takes it for whole, and counted.
// What arrives meanwhile is not in it.
func TestExportDuringEviction(t *testing.T) {
	for _, tt := range []struct {
		path    string
		evict   int
		cut     bool
		counted string
	}{
		{"/export.jsonl", 500, true, "headerglass_exports_cut_off_total 1"},
		{"/export.zip", 500, true, "headerglass_exports_cut_off_total 1"},
		{"/export.csv?cols=v", 500, true, "headerglass_exports_cut_off_total 1"},
		{"/export.pcapng", 500, true, "headerglass_exports_cut_off_total 1"},
		{"/export.pcapng", 0, false, "headerglass_exports_cut_off_total 0"},
	} {
		t.Run(fmt.Sprint(tt.path, tt.evict), func(t *testing.T) {
			f := newFixture(t, func(_ *Config, a *archive.Config) { a.MaxBytes = 1 << 20 })
			old := message{key: "old", headers: table("v", strings.Repeat("v", 1000))}
			for range 700 {
				f.add(old)
			}
			w := &leaver{ResponseRecorder: httptest.NewRecorder(), after: 1, leave: func() {
				for range tt.evict {
					f.add(message{key: "new", headers: old.headers})
				}
				tt.evict = 0
			}}
			cut := false
			func() {
				defer func() { cut = recover() == http.ErrAbortHandler }()
				f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+tt.path, nil))
			}()
			if cut != tt.cut || bytes.Contains(w.Body.Bytes(), []byte("new")) {
				t.Errorf("cut off: %v, want %v", cut, tt.cut)
			}
			f.get("/metrics").want(http.StatusOK).wantText(tt.counted)
		})
	}
}

// A download that is cut off fails. What has come of it can be read and says what is missing, as
// far as its form has a place for that.
func TestExportsThatAreCutOffSaySo(t *testing.T) {
	for _, tt := range []struct {
		path, says string // says, in the octets
		replayed   bool   // says it to replay
	}{
		{"/export.jsonl", `{"missing":`, true},
		{"/export.zip", "headerglass: cut off: ", true},
		{"/export.pcapng", "headerglass: cut off: ", false},
		{"/export.csv?cols=v", "", false},
	} {
		t.Run(tt.path, func(t *testing.T) {
			f := newFixture(t, func(_ *Config, a *archive.Config) { a.MaxBytes = 1 << 20 })
			old := message{key: "old"}
			for i := range 700 {
				old.headers = table("v", strings.Repeat(strconv.Itoa(i), 300))
				f.add(old)
			}
			count := f.archive.Snapshot().Len()
			evict := sync.OnceFunc(func() {
				for range 500 {
					f.add(message{key: "new", headers: old.headers})
				}
			})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				f.ServeHTTP(&interrupted{w, evict}, r)
			}))
			defer srv.Close()
			resp, err := srv.Client().Get(srv.URL + tt.path)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Contains(b, []byte(tt.says)) {
				t.Errorf("%v after %d bytes that end with %.200q", err, len(b), b[max(0, len(b)-200):])
			}
			if !strings.HasSuffix(tt.path, "v") {
				a, report := replayed(t, b)
				kept := a.Snapshot().Len()
				if kept == 0 || kept == count || tt.replayed && report.Missing != uint64(count-kept) {
					t.Errorf("%d of %d messages, %d missing", kept, count, report.Missing)
				}
				if tt.replayed && len(report.Notes()) != 1 {
					t.Errorf("replay notes %q", report.Notes())
				}
			}
		})
	}
}

// Each export that can be read again gives the archive that it was made from: what the senders of
// the demo send, damage included, and the corpus.
func TestRoundTrip(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archive.Config) { a.BodyLimit = 1000 })
	f.addSpecimens()
	g := traffic.New(1)
	for range 300 {
		m := g.Next()
		f.add(message{
			exchange:    m.Exchange,
			key:         m.RoutingKey,
			redelivered: m.Redelivered,
			consumer:    "ctag",
			payload:     m.Header,
			body:        m.Body,
		})
	}
	f.add(message{exchange: "\xff", key: "\x00\n", body: bytes.Repeat([]byte("long"), 1000)})
	// cut off in the length of its table
	f.add(message{payload: []byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 1}})
	for _, path := range []string{"/export.jsonl", "/export.zip", "/export.pcapng"} {
		got := reread(t, f.get(path).want(http.StatusOK).body).Snapshot()
		if got.Len() != f.archive.Snapshot().Len() {
			t.Fatalf("%s: %d messages, want %d", path, got.Len(), f.archive.Snapshot().Len())
		}
		for want := range f.archive.Snapshot().Forward(0) {
			m, err := got.Get(want.Seq())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(m.Header().Payload(), want.Header().Payload()) {
				t.Errorf("%s: message %d has another content header", path, want.Seq())
			}
			if !bytes.Equal(m.Body(), want.Body()) || m.BodySize() != want.BodySize() {
				t.Errorf(
					"%s: message %d has %d of %d octets of its body, want %d of %d",
					path,
					want.Seq(),
					len(m.Body()),
					m.BodySize(),
					len(want.Body()),
					want.BodySize(),
				)
			}
			if facts, want := deliveryOf(m), deliveryOf(want); facts != want {
				t.Errorf("%s: %s, want %s", path, facts, want)
			}
		}
	}
}

func deliveryOf(m archive.Message) string {
	return fmt.Sprintf(
		"message %d of %s: tag %d, redelivered %v, consumer %q, exchange %q, key %q, %+v",
		m.Seq(),
		m.Received().UTC(),
		m.DeliveryTag(),
		m.Redelivered(),
		m.ConsumerTag(),
		m.Exchange(),
		m.RoutingKey(),
		m.Marks(),
	)
}

func TestExportZip(t *testing.T) {
	f := contract(t)
	r := f.get("/export.zip").want(http.StatusOK).wantHeader("Content-Type", "application/zip")
	z, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range z.File {
		names = append(names, file.Name)
	}
	if want := []string{
		"000001/message.json", "000001/content-header.bin", "000001/body.bin", // it has no headers
		"000002/message.json", "000002/headers.bin", "000002/content-header.bin", "000002/body.bin",
		"000003/message.json", "000003/headers.bin", "000003/content-header.bin", "000003/body.bin",
	}; !slices.Equal(names, want) {
		t.Errorf("the files are %v", names)
	}
	read := func(name string) []byte {
		file, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(file); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, seq := range []string{"2", "3"} {
		if got, want := read("00000"+seq+"/message.json"), f.get("/api/messages/"+seq).body; !bytes.Equal(got, want) {
			t.Errorf("message.json is %s, the API has %s", got, want)
		}
		for _, part := range []string{"headers.bin", "content-header.bin"} {
			if got, want := read("00000"+seq+"/"+part), f.get("/m/"+seq+"/"+part).body; !bytes.Equal(got, want) {
				t.Errorf("%s is %x, the download has %x", part, got, want)
			}
		}
	}
	if got := read("000002/body.bin"); string(got) != "long" { // of "longer", with a limit of 4
		t.Errorf("the body is %q", got)
	}
	if want := "headerglass: every message that was kept"; z.Comment != want {
		t.Errorf("the comment is %q, want %q", z.Comment, want)
	}
}

func TestExportNamesTheFilter(t *testing.T) {
	f := newFixture(t)
	f.fill(20)
	r := f.get("/export.zip?limit=2&q=tenant%3Dt1")
	z, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	if want := "headerglass: messages that match tenant = t1 (only the newest 2)"; z.Comment != want {
		t.Errorf("the comment is %q, want %q", z.Comment, want)
	}
}

// The number of files in a zip stays below 65,536, and the file's name tells that something was
// left out.
func TestZipHasItsOwnLimit(t *testing.T) {
	f := newFixture(t)
	for range 16383 + 1 {
		f.add(message{})
	}
	r := f.get("/export.zip").
		want(http.StatusOK).
		wantHeader("Content-Disposition", `attachment; filename="headerglass-export-newest-16383.zip"`)
	z, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil || len(z.File) > 1<<16-1 || z.File[0].Name != "000002/message.json" {
		t.Errorf("%d files, %v", len(z.File), err)
	}
}

// The page offers every form of file, unless there are none.
func TestExportsAreOffered(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	page := f.get("/?q=EXISTS(kind)").html()
	for _, form := range export.Formats() {
		link := find(page, "href", "/export."+form.Extension+"?q=EXISTS%28kind%29")
		if link == nil || text(link) != form.Label {
			t.Errorf("%s is not offered", form.Label)
		}
	}
	f.cfg.NoExports = true
	if strings.Contains(string(f.get("/").body), "/export.") {
		t.Error("exports are offered although there are none")
	}
}
