package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	var got tally
	var out bytes.Buffer
	for _, e := range []event{
		{Action: "output", Package: "p", Test: "TestA", Output: "noise of a passing test\n"},
		{Action: "pass", Package: "p", Test: "TestA"},
		{Action: "output", Package: "p", Test: "TestB", Output: "=== RUN   TestB\n"},
		{Action: "output", Package: "p", Test: "TestB", Output: "    b_test.go:7: RabbitMQ is not installed\n"},
		{Action: "output", Package: "p", Test: "TestB", Output: "--- SKIP: TestB (0.00s)\n"},
		{Action: "skip", Package: "p", Test: "TestB"},
		{Action: "output", Package: "p", Test: "TestC", Output: "    c_test.go:9: got 1, want 2\n"},
		{Action: "fail", Package: "p", Test: "TestC"},
		{Action: "output", Package: "p", Test: "TestD", Output: "panic: test timed out after 8m0s\n"},
		{Action: "output", Package: "p", Test: "TestD", Output: "goroutine 22 [sleep]:\n"},
		{Action: "output", Package: "pq", Test: "TestE", Output: "goes on\n"},
		{Action: "fail", Package: "p"},
		{Action: "build-output", ImportPath: "q", Output: "q/q.go:3: syntax error\n"},
	} {
		got.add(&out, e)
	}
	if got.passed != 1 || got.failed != 1 {
		t.Errorf("got %d passed, %d failed, want 1 and 1", got.passed, got.failed)
	}
	if len(got.skipped) != 1 || got.skipped[0] != "p TestB: b_test.go:7: RabbitMQ is not installed" {
		t.Errorf("skipped: %q", got.skipped)
	}
	for _, want := range []string{"FAIL p TestC", "got 1, want 2", "syntax error", "UNFINISHED p TestD", "goroutine 22 [sleep]"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in the output:\n%s", want, out.String())
		}
	}
	for _, unwanted := range []string{"noise of a passing test", "goes on"} {
		if strings.Contains(out.String(), unwanted) {
			t.Errorf("%q is in the output", unwanted)
		}
	}
}

func TestSummarise(t *testing.T) {
	good, bad := result{step: step{name: "good"}}, result{step: step{name: "bad"}, err: errors.New("broken")}
	for _, tt := range []struct {
		name    string
		results []result
		planned int
		code    int
		last    string
	}{
		{"all passed", []result{good, good}, 2, 0, "2 passed, 0 failed\n"},
		{"one failed", []result{good, bad}, 2, 1, "1 passed, 1 failed\n"},
		{"interrupted before the end", []result{good}, 3, 1, "1 passed, 2 failed\n"},
	} {
		var out bytes.Buffer
		if code := summarise(&out, tt.results, tt.planned); code != tt.code ||
			!strings.HasSuffix(out.String(), tt.last) {
			t.Errorf("%s: exit code %d, want %d; printed:\n%s", tt.name, code, tt.code, out.String())
		}
	}
}

func TestBenchmarks(t *testing.T) {
	got := benchmarks(
		"goos: linux\nBenchmarkScale/idle-2   \t 10\t 52.78 count-tenant-x\t 0.04 ms/page-key\nBenchmarkNodeCPU \t 1 \t 0.3372 cpu-ratio\nPASS\n",
	)
	if got["BenchmarkScale/idle"]["count-tenant-x"] != 52.78 || got["BenchmarkScale/idle"]["ms/page-key"] != 0.04 ||
		got["BenchmarkNodeCPU"]["cpu-ratio"] != 0.3372 {
		t.Errorf("got %v", got)
	}
}

func TestFigureReached(t *testing.T) {
	least, most := figure{bound: 40}, figure{bound: 1.4, atMost: true}
	if !least.reached(40) || !least.reached(41) || least.reached(39.9) {
		t.Error("a lower bound")
	}
	if !least.near(20) || least.near(19.9) || !most.near(2) || most.near(2.2) {
		t.Error("near a bound")
	}
	if !most.reached(1.4) || !most.reached(1.3) || most.reached(1.41) {
		t.Error("an upper bound")
	}
}
