package query

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// runCase runs one case of a table under its text, and says where it stands if it fails. It is
// called by the test that has the table, or by a function that this calls.
func runCase(t *testing.T, text string, f func(t *testing.T)) {
	t.Helper()
	var callers [8]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	t.Run(caseName(text), func(t *testing.T) {
		t.Helper()
		f(t)
		if t.Failed() {
			t.Logf("the case is at %s", caseLine(text, frames))
		}
	})
}

// caseName is the text of a case, cut where a test's name would be too long.
func caseName(text string) string { return text[:min(len(text), 80)] }

// caseLine finds the line that a text begins a literal of a table on, in the files of the callers.
func caseLine(text string, callers *runtime.Frames) string {
	for more := true; more; {
		var frame runtime.Frame
		frame, more = callers.Next()
		src, err := os.ReadFile(frame.File) // #nosec G304 -- a test of this package
		if err != nil || !strings.HasSuffix(frame.File, "_test.go") {
			continue
		}
		for i, line := range strings.Split(string(src), "\n") {
			if strings.Contains(line, "{"+strconv.Quote(text)) || strings.Contains(line, "{`"+text+"`") {
				return filepath.Base(frame.File) + ":" + strconv.Itoa(i+1)
			}
		}
	}
	return "a line that makes its text"
}
