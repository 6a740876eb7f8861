package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
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
