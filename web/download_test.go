package web

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/capture"
)

func specimenPayload(s specimens.Specimen) []byte {
	return wire.AppendContentHeaderPayload(nil, uint64(len(s.Name)), wire.Property{Name: "headers", Raw: s.Encoded})
}

// addSpecimens stores each table of the corpus, damaged ones too, in a message of its own.
func (f *fixture) addSpecimens() map[uint64]specimens.Specimen {
	stored := make(map[uint64]specimens.Specimen)
	for _, s := range specimens.Specimens() {
		stored[f.add(message{key: "specimen", payload: specimenPayload(s), body: []byte(s.Name)})] = s
	}
	return stored
}

func TestDownloadsAreByteForByte(t *testing.T) {
	f := newFixture(t)
	stored := f.addSpecimens()
	if len(stored) == 0 {
		t.Fatal("the corpus is empty")
	}
	for seq, s := range stored {
		payload := specimenPayload(s)
		for part, want := range map[string][]byte{"content-header": payload, "body": []byte(s.Name)} {
			t.Run(part, func(t *testing.T) {
				f := f.in(t)
				got := f.get(fmt.Sprintf("/m/%d/%s.bin", seq, part)).want(http.StatusOK)
				if !bytes.Equal(got.body, want) {
					t.Errorf("%s: %s is %x, want %x", s.Name, part, got.body, want)
				}
			})
		}
		r := f.get(fmt.Sprintf("/m/%d/headers.bin", seq))
		encoded, ok := wire.ViewContentHeader(payload).HeaderTable()
		switch {
		case !ok:
			r.want(http.StatusNotFound)
		case !bytes.Equal(r.body, encoded):
			t.Errorf("%s: headers are %x, want %x", s.Name, r.body, encoded)
		}
	}
}

// One message as a file is what an export of it alone holds, and replay reads it back.
func TestDownloadWhole(t *testing.T) {
	f := newFixture(t)
	f.add(message{key: "other"})
	f.add(message{key: "orders", headers: table("tenant", "acme"), body: []byte("hello")})
	r := f.get("/m/2/message.zip").want(http.StatusOK).wantHeader("Content-Type", "application/zip").
		wantHeader("Content-Disposition", `attachment; filename="headerglass-2-message.zip"`)
	z, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range z.File {
		names = append(names, file.Name)
	}
	if got, want := fmt.Sprint(z.Comment, names), "headerglass: message 2[000002/message.json "+
		"000002/headers.bin 000002/content-header.bin 000002/body.bin]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	file, err := capture.New("one", bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	again := archive.New(archive.Config{})
	if _, err := file.Read(t.Context(), capture.Config{Archive: again, BodyLimit: 100}); err != nil {
		t.Fatal(err)
	}
	was, err := f.archive.Snapshot().Get(2)
	if err != nil {
		t.Fatal(err)
	}
	is, err := again.Snapshot().Get(1)
	if err != nil || !bytes.Equal(is.Header().Payload(), was.Header().Payload()) || string(is.Body()) != "hello" {
		t.Errorf("%v, %x, %q", err, is.Header().Payload(), is.Body())
	}
	f.get("/m/3/message.zip").want(http.StatusNotFound)
	if page := f.get("/m/2", "Accept", "text/html").want(http.StatusOK); !bytes.Contains(page.body,
		[]byte(`href="/m/2/message.zip"`)) {
		t.Error("the page does not offer it")
	}
	f.cfg.NoExports = true // of many; single messages can still be had
	f.get("/m/2/message.zip").want(http.StatusOK)
}

func TestDownloadHeaders(t *testing.T) {
	f := newFixture(t)
	f.add(message{headers: table("k", "v"), body: []byte("<script>")})
	for _, part := range []string{"headers", "content-header", "body"} {
		path := "/m/1/" + part + ".bin"
		r := f.get(path).want(http.StatusOK).
			wantHeader("Content-Type", "application/octet-stream").
			wantHeader("Content-Disposition", `attachment; filename="headerglass-1-`+part+`.bin"`).
			wantHeader("X-Content-Type-Options", "nosniff").
			wantHeader("Cache-Control", "no-store").
			wantHeader("Content-Length", fmt.Sprint(len(f.get(path).body)))
		head := f.do(http.MethodHead, path).want(http.StatusOK)
		if len(head.body) != 0 || head.Header.Get("Content-Length") != r.Header.Get("Content-Length") {
			t.Errorf("HEAD %s: %d bytes, length %s", path, len(head.body), head.Header.Get("Content-Length"))
		}
	}
}

func TestDownloadRefusals(t *testing.T) {
	f := newFixture(t, func(_ *Config, a *archive.Config) {
		a.MaxBytes, a.SegmentBytes, a.BodyLimit = 256<<10, 64<<10, 4
	})
	f.fill(10_000)
	none := f.add(message{})
	long := f.add(message{body: []byte("longer")})
	for _, tt := range []struct {
		path, reason string
		status       int
	}{
		{fmt.Sprintf("/m/%d/headers.bin", none), "no headers property", 404},
		{fmt.Sprintf("/m/%d/body.bin", long), "prefix of this body", 409},
		{"/m/1/body.bin", "evicted", 410},
		{"/m/20000/body.bin", "yet", 404},
		{"/m/x/body.bin", "no such page", 404},
	} {
		t.Run(tt.path, func(t *testing.T) {
			f := f.in(t)
			r := f.get(tt.path).
				want(tt.status).
				wantHeader("Content-Type", "text/plain; charset=utf-8").
				wantHeader("Content-Disposition", "")
			if s := string(r.body); !strings.Contains(s, tt.reason) || strings.Count(s, "\n") != 1 {
				t.Errorf("%s: %q", tt.path, s)
			}
			f.get(tt.path, "Accept", "application/json").want(tt.status).json()
			f.get(tt.path, "Accept", "text/html,*/*;q=0.8").want(tt.status).html()
		})
	}
	if n := f.get(fmt.Sprintf("/m/%d/body.bin", none)).want(http.StatusOK); len(n.body) != 0 {
		t.Error("an empty body has bytes")
	}
}
