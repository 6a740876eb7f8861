package web

import (
	"go/scanner"
	"go/token"
	"maps"
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

// readmeRow is a line of the README's table: what it is for, by the routes that it lists.
var readmeRow = regexp.MustCompile("(?m)^\\| (`.*?`) \\|(.*)")

// readmeRoutes are the routes that the README lists, each with the text of its line.
func readmeRoutes(section string) map[string]string {
	listed := make(map[string]string)
	span := regexp.MustCompile("`([^`]+)`")
	for _, m := range readmeRow.FindAllStringSubmatch(section, -1) {
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
			listed[method+" "+path] = m[0]
		}
	}
	return listed
}

// The README lists the surface: each route that a person or a program asks for, with its methods.
// Both it and the document that programs read name every parameter, for the API on its own line.
func TestREADMEFollowsOpenAPI(t *testing.T) {
	section := readmeOnHTTP(t)
	listed := readmeRoutes(section)
	document, _ := newFixture(t).saidOpenAPI()
	var want []string
	for path, item := range document.Paths.Map() {
		if strings.HasPrefix(path, address.PathSource) {
			continue // as for all sources
		}
		for method, operation := range item.Operations() {
			want = append(want, method+" "+path)
			for _, p := range operation.Parameters {
				where := section
				if underAPI(path) {
					where = listed[method+" "+path]
				}
				named := regexp.MustCompile("[`?&{]" + regexp.QuoteMeta(p.Value.Name) + "[`=}]")
				if !named.MatchString(where) {
					t.Errorf("the README does not name the parameter %s of %s: %s",
						p.Value.Name, path, p.Value.Description)
				}
			}
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(listed)); !slices.Equal(got, want) {
		t.Errorf("the README lists\n%s\nthe document\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
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
