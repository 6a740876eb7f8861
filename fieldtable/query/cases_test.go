package query

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// runCase runs one case of a table under its text, and says where it stands if it fails. It is
// called by the function that has the table, or by one that this calls.
func runCase(t *testing.T, text string, f func(t *testing.T)) {
	t.Helper()
	t.Run(caseName(text), func(t *testing.T) {
		t.Helper()
		f(t)
		if t.Failed() {
			t.Logf("the case is at %s", caseLine(text))
		}
	})
}

// caseName is the text of a case, cut where a test's name would be too long.
func caseName(text string) string { return text[:min(len(text), 80)] }

// caseLine finds the line of a test file of this package that a text is a literal in.
func caseLine(text string) string {
	_, file, _, _ := runtime.Caller(0)
	dir := file[:strings.LastIndexByte(file, '/')+1]
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "an unknown place"
	}
	for _, e := range entries {
		src, err := os.ReadFile(dir + e.Name()) // #nosec G304 -- a file of this package
		if err != nil || !strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		for i, line := range strings.Split(string(src), "\n") {
			if strings.Contains(line, "{"+strconv.Quote(text)) || strings.Contains(line, "{`"+text+"`") {
				return e.Name() + ":" + strconv.Itoa(i+1)
			}
		}
	}
	return "a line that makes its text"
}
