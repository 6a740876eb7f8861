package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// requireEnv tells the tests that everything was installed for them: what is missing then fails
// instead of being skipped.
const requireEnv = "HEADERGLASS_REQUIRE=1"

// event is one line of `go test -json` (see go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
	// ImportPath stands in place of Package on build output.
	ImportPath string
}

// tally sums up a run of go test.
type tally struct {
	passed, failed int
	skipped        []string                 // "package Test: reason"
	output         map[string]*bytes.Buffer // by package and test, until it passed
}

// add takes one event in and prints what a reader wants to see at once: finished packages and the
// output of what failed.
func (t *tally) add(out io.Writer, e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(out, e.Output)
	case "output":
		if t.output == nil {
			t.output = map[string]*bytes.Buffer{}
		}
		if t.output[key] == nil {
			t.output[key] = new(bytes.Buffer)
		}
		_, _ = t.output[key].WriteString(e.Output)
	case "pass":
		if e.Test != "" {
			t.passed++
		} else {
			fmt.Fprintf(out, "ok   %-70s %6.1f s\n", e.Package, e.Elapsed)
		}
		delete(t.output, key)
	case "skip":
		if e.Test != "" {
			t.skipped = append(t.skipped, key+": "+skipReason(t.output[key]))
		}
		delete(t.output, key)
	case "fail":
		if e.Test != "" {
			t.failed++
		}
		fmt.Fprintf(out, "FAIL %s %s\n", e.Package, e.Test)
		if o := t.output[key]; o != nil {
			_, _ = out.Write(o.Bytes())
		}
		delete(t.output, key)
		if e.Test == "" {
			t.unfinished(out, e.Package)
		}
	}
}

// unfinished prints the output of the tests that ran when their package ended: one that hung until
// the timeout, or panicked, has all the goroutines in it.
func (t *tally) unfinished(out io.Writer, pkg string) {
	for _, key := range slices.Sorted(maps.Keys(t.output)) {
		if !strings.HasPrefix(key, pkg+" ") {
			continue
		}
		fmt.Fprintf(out, "UNFINISHED %s\n", key)
		_, _ = out.Write(t.output[key].Bytes())
		delete(t.output, key)
	}
}

// skipReason finds the line that t.Skip wrote among a skipped test's output.
func skipReason(o *bytes.Buffer) string {
	if o == nil {
		return "no reason given"
	}
	for line := range strings.Lines(o.String()) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}

// testStep runs every test.
func testStep(soak bool) func(context.Context, io.Writer) error {
	return func(ctx context.Context, out io.Writer) error {
		args := []string{"./..."}
		if soak {
			args = []string{"-tags", "soak", "-timeout", "3h", "./..."}
		}
		return goTest(ctx, out, []string{requireEnv}, args...)
	}
}

// goTest runs tests under the race detector, with env added to this process's environment. A
// skipped test is a failure: check promises that everything ran.
func goTest(ctx context.Context, out io.Writer, env []string, args ...string) error {
	args = append([]string{"test", "-race", "-json", "-timeout", "15m"}, args...)
	cmd := exec.CommandContext(ctx, "go", args...) // #nosec G204 -- runs the project's own tools
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = out
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var t tally
	scan := bufio.NewScanner(lines)
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		var e event
		if json.Unmarshal(scan.Bytes(), &e) != nil {
			fmt.Fprintf(out, "%s\n", scan.Bytes())
			continue
		}
		t.add(out, e)
	}
	runErr := cmd.Wait()
	for _, s := range t.skipped {
		fmt.Fprintf(out, "SKIP %s\n", s)
	}
	fmt.Fprintf(out, "tests: %d passed, %d failed, %d skipped\n", t.passed, t.failed, len(t.skipped))
	switch {
	case runErr != nil:
		return fmt.Errorf("go test: %w", runErr)
	case len(t.skipped) > 0:
		return fmt.Errorf("%d tests were skipped", len(t.skipped))
	case t.passed == 0:
		return fmt.Errorf("no test ran")
	}
	return nil
}

// fuzzStep runs every fuzz target in the module for a while, starting from the seeds in the code
// and in testdata.
func fuzzStep(d time.Duration) func(context.Context, io.Writer) error {
	return func(ctx context.Context, out io.Writer) error {
		targets, err := fuzzTargets(ctx, out)
		if err != nil {
			return err
		}
		if len(targets) == 0 {
			return fmt.Errorf("no fuzz target was found")
		}
		var failed []string
		for _, pkg := range slices.Sorted(maps.Keys(targets)) {
			for _, name := range targets[pkg] {
				fmt.Fprintf(out, "%s %s\n", pkg, name)
				if err := fuzz(ctx, out, pkg, name, d); err != nil {
					failed = append(failed, name)
				}
			}
		}
		if len(failed) > 0 {
			return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
		}
		return nil
	}
}

// fuzz runs one target. Go's fuzzer now and then reports its own deadline as a failure, without an
// input that fails; such a run says nothing and is repeated once.
func fuzz(ctx context.Context, out io.Writer, pkg, name string, d time.Duration) error {
	for attempt := 1; ; attempt++ {
		var log bytes.Buffer
		err := run(
			ctx,
			&log,
			nil,
			"go",
			"test",
			"-run",
			"^$",
			"-fuzz",
			"^"+name+"$",
			"-fuzztime",
			d.String(),
			"-fuzzminimizetime",
			"10x",
			pkg,
		)
		if err == nil {
			return nil
		}
		own := bytes.Contains(log.Bytes(), []byte("context deadline exceeded")) &&
			!bytes.Contains(log.Bytes(), []byte("Failing input"))
		if !own || attempt == 2 {
			_, _ = out.Write(log.Bytes())
			return err
		}
	}
}

// fuzzTargets returns the names of the fuzz targets of each package that has any.
func fuzzTargets(ctx context.Context, out io.Writer) (map[string][]string, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-list", "^Fuzz", "./...")
	cmd.Stderr = out
	listing, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go test -list: %w", err)
	}
	targets := map[string][]string{}
	dec := json.NewDecoder(bytes.NewReader(listing))
	for {
		var e event
		if err := dec.Decode(&e); err == io.EOF {
			return targets, nil
		} else if err != nil {
			return nil, err
		}
		if name := strings.TrimSpace(e.Output); e.Action == "output" && strings.HasPrefix(name, "Fuzz") {
			targets[e.Package] = append(targets[e.Package], name)
		}
	}
}
