package web

import (
	"go/scanner"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/views/address"
)

// readmeOnHTTP is what the README says about HTTP.
func readmeOnHTTP(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(readme), "\n## HTTP\n")
	if !ok {
		t.Fatal("the README has no section on HTTP")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// The README lists the surface: each route that a person or a program asks for, with its methods.
func TestREADMEListsTheRoutes(t *testing.T) {
	section := readmeOnHTTP(t)
	var listed []string
	row := regexp.MustCompile("(?m)^\\| (`.*?`) \\|")
	span := regexp.MustCompile("`([^`]+)`")
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		method, path := "GET", ""
		for _, s := range span.FindAllStringSubmatch(m[1], -1) {
			one := s[1]
			if before, after, ok := strings.Cut(one, " "); ok {
				method, one = before, after
			}
			one, _, _ = strings.Cut(one, "?")
			if ext, ok := strings.CutPrefix(one, "."); ok { // another form of the same file
				one = path[:strings.LastIndex(path, ".")+1] + ext
			}
			path = one
			listed = append(listed, method+" "+path)
		}
	}
	var want []string
	for _, r := range newFixture(t).routes() {
		if r.answers == "" {
			continue
		}
		want = append(want, "GET "+r.path)
		if r.post != nil {
			want = append(want, "POST "+r.path)
		}
	}
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("the README lists\n%s\nthe explorer answers\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}

// The README names every parameter that a page takes.
func TestREADMENamesTheParameters(t *testing.T) {
	section := readmeOnHTTP(t)
	for _, p := range address.Parameters() {
		named := regexp.MustCompile("[`?&]" + regexp.QuoteMeta(p.Name) + "[`=]")
		if !named.MatchString(section) {
			t.Errorf("the README does not name the parameter %s: %s", p.Name, p.Meaning)
		}
	}
}

// A path is written in one place: the table of routes here, and what pages link to in package views.
func TestPathsStandInOnePlace(t *testing.T) {
	var begin []string
	for _, r := range newFixture(t).routes() {
		if first, _, _ := strings.Cut(strings.TrimPrefix(r.path, "/"), "/"); first != "" {
			begin = append(begin, "/"+first)
		}
	}
	for _, pattern := range []string{"*.go", "../views/*.go", "../views/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if file == "routes.go" || file == "../views/address/paths.go" || strings.HasSuffix(file, "_test.go") {
				continue
			}
			for line, s := range literals(t, file) {
				for _, b := range begin {
					rest, ok := strings.CutPrefix(s, b)
					if ok && (rest == "" || strings.ContainsAny(rest[:1], "/?")) || strings.HasPrefix(s, "/export.") {
						t.Errorf("%s:%d writes the path %q", file, line, s)
						break
					}
				}
			}
		}
	}
}

// literals are the texts of a Go file's string literals, by line; of several on a line the last.
func literals(t *testing.T, file string) map[int]string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[int]string)
	files := token.NewFileSet()
	f := files.AddFile(file, files.Base(), len(src))
	var s scanner.Scanner
	s.Init(f, src, nil, 0)
	for {
		at, tok, text := s.Scan()
		if tok == token.EOF {
			return found
		}
		if tok == token.STRING {
			value, err := strconv.Unquote(text)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(value, "/") || found[f.Line(at)] == "" {
				found[f.Line(at)] = value
			}
		}
	}
}

func TestAllow(t *testing.T) {
	f := newFixture(t)
	for _, r := range f.routes() {
		path := strings.NewReplacer("{seq}", "1", "*", "x").Replace(r.path)
		t.Run(path, func(t *testing.T) {
			f.do("DELETE", path).want(http.StatusMethodNotAllowed).wantHeader("Allow", r.allow())
			if r.post == nil {
				f.do("POST", path).want(http.StatusMethodNotAllowed).wantHeader("Allow", "GET, HEAD")
			}
		})
	}
}
