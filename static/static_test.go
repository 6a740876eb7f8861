package static

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestVendoredSums(t *testing.T) {
	f, err := os.Open("vendor/SOURCES")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	listed := map[string]string{}
	name := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), " ")
		switch value = strings.TrimSpace(value); key {
		case "file":
			name = value
		case "sha256":
			listed[name] = value
		}
	}
	entries, err := os.ReadDir("vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "SOURCES" {
			continue
		}
		body, err := os.ReadFile(path.Join("vendor", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(body)
		if got, want := hex.EncodeToString(sum[:]), listed[e.Name()]; got != want {
			t.Errorf("vendor/%s hashes to %s; SOURCES says %q", e.Name(), got, want)
		}
		delete(listed, e.Name())
	}
	for name := range listed {
		t.Errorf("SOURCES names %s, which is not there", name)
	}
}

func TestEmbeddedFiles(t *testing.T) {
	a, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"app.css", "app.js", "prefs.js", "icon.svg", "vendor/htmx-4.0.1.min.js"} {
		hashed := a.URL(name)
		f, ok := a.Lookup(hashed)
		if !ok || f.Name != hashed || len(f.Body) == 0 {
			t.Errorf("%s: served as %q, found %v, %d bytes", name, hashed, ok, len(f.Body))
			continue
		}
		r, err := gzip.NewReader(bytes.NewReader(f.Gzip))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(body, f.Body) {
			t.Errorf("%s: the compressed form is not the file (%v)", name, err)
		}
	}
	if (*Assets)(nil).URL("app.css") != "" {
		t.Error("a nil receiver has a URL")
	}
	if _, ok := a.Lookup("app.css"); ok {
		t.Error("a file is served under its plain name")
	}
}

// The scripts are part of the first view, so they stay small: 15,000 bytes compressed, each by
// itself as they travel. The bound is on what is written here; htmx comes on top, complete.js comes
// with the focus of the filter, marks.js with the first mark and lastcopy.js with an eviction.
func TestScriptsAreSmall(t *testing.T) {
	a, err := New()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	later := []string{"complete.js", "marks.js", "lastcopy.js"}
	for name, hashed := range a.hashed {
		if path.Ext(name) == ".js" && path.Dir(name) == "." && !slices.Contains(later, name) {
			sum += len(a.files[hashed].Gzip)
		}
	}
	t.Logf("compressed: %d bytes", sum)
	if sum > 15_000 {
		t.Errorf("the scripts weigh %d bytes compressed", sum)
	}
}

func TestNamesFollowImports(t *testing.T) {
	load := func(leaf string) *Assets {
		t.Helper()
		a, err := load(fstest.MapFS{
			"a.js":    {Data: []byte(`import { x } from "./b.js";`)},
			"b.js":    {Data: []byte(`import "./c.js"; export const x = "./c.js"; // a comment`)},
			"c.js":    {Data: []byte(leaf)},
			"lone.js": {Data: []byte("1")},
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	one, two := load("1"), load("2")
	if one.URL("a.js") == two.URL("a.js") {
		t.Error("a.js keeps its name though c.js, which it imports through b.js, has changed")
	}
	if one.URL("lone.js") != two.URL("lone.js") {
		t.Error("lone.js changes its name though it imports nothing")
	}
	f, _ := one.Lookup(one.URL("b.js"))
	want := `import"./` + one.URL("c.js") + `";export const x="./c.js"`
	if string(f.Body) != want {
		t.Errorf("b.js is served as %s, want %s", f.Body, want)
	}
}

func TestImportErrors(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"cycle":   {"a.js": {Data: []byte(`import "./b.js"`)}, "b.js": {Data: []byte(`import "./a.js"`)}},
		"missing": {"a.js": {Data: []byte(`import "./gone.js"`)}},
	} {
		if _, err := load(files); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWhatCannotBeMinified(t *testing.T) {
	if _, err := load(fstest.MapFS{"a.js": {Data: []byte("const = 1")}}); err == nil ||
		!strings.Contains(err.Error(), "a.js") {
		t.Errorf("a script with a syntax error: %v", err)
	}
	a, err := load(fstest.MapFS{"vendor/a.js": {Data: []byte("const  a = 1 // theirs")}})
	if err != nil {
		t.Fatal(err)
	}
	if f, _ := a.Lookup(a.URL("vendor/a.js")); string(f.Body) != "const  a = 1 // theirs" {
		t.Errorf("a vendored file is served as %q", f.Body)
	}
}
