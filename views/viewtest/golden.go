package viewtest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// Golden compares what was made with testdata/name, or writes it there under -update.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	lines, wanted := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i, line := range lines {
		if i >= len(wanted) || line != wanted[i] {
			t.Fatalf("%s:%d: differs (-update writes it anew)\n%s\nwant\n%s", file, i+1, line, at(wanted, i))
		}
	}
	t.Fatalf("%s: ends after %d lines of %d (-update writes it anew)", file, len(lines), len(wanted))
}

// GoldenHTML is Golden for HTML, with a line for each tag.
func GoldenHTML(t testing.TB, name, html string) {
	t.Helper()
	Golden(t, name, strings.ReplaceAll(html, "><", ">\n<")+"\n")
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "the end"
}
