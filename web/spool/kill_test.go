package spool

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// childDir names a folder to the test binary when it is to append to the spool there until it is
// killed.
const childDir = "HEADERGLASS_TEST_SPOOL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		appendForEver(dir)
	}
	os.Exit(m.Run())
}

// appendForEver appends messages behind those that are there. It says with which number it begins,
// and after each batch which number comes next: those before it are kept. A number may be passed
// over between two processes, where a file was begun and nothing in it can be read.
func appendForEver(dir string) {
	s, err := Open(dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	next := int(s.next) - 1
	fmt.Println(next)
	for {
		size := []int{10, 1000, 40_000, 1_200_000}[rand.IntN(4)]
		records := messages(s, next, 1+rand.IntN(3), size)
		n, err := s.Append(records)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		next += n
		for _, r := range records {
			r.Discard()
		}
		fmt.Println(next)
	}
}

// TestAHundredKills: whenever the process is killed, what Append had kept is there, once and in
// order, and the next process goes on behind it.
func TestAHundredKills(t *testing.T) {
	dir := fresh(t)
	var kept []int
	for i := range 100 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		var timer *time.Timer
		from := -1
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("kill %d: the child says %q", i, lines.Text())
			}
			if from >= 0 {
				kept = append(kept, upTo(from, n)...)
				if timer == nil { // the first batch is kept
					until := time.Duration(rand.IntN(8_000)) * time.Microsecond
					timer = time.AfterFunc(until, func() { _ = cmd.Process.Kill() })
				}
			}
			from = n
		}
		_ = cmd.Wait()
		if i%10 > 0 && i < 99 {
			continue
		}
		s := open(t, dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
		a, _ := load(t, s, archive.Config{BodyLimit: 10})
		got := numbers(a)
		if len(got) == 0 || !s.Unclean() {
			t.Fatalf("kill %d: %d messages; unclean: %v", i, len(got), s.Unclean())
		}
		for j := 1; j < len(got); j++ {
			if got[j] <= got[j-1] {
				t.Fatalf("kill %d: %d comes after %d", i, got[j], got[j-1])
			}
		}
		for _, n := range kept {
			if _, there := slices.BinarySearch(got, n); !there && n > got[0] { // older ones may be dropped
				t.Fatalf("kill %d: %d was kept and is not there, of %d up to %d", i, n, len(got), got[len(got)-1])
			}
		}
		if lost := s.Stats().Lost; lost > 0 {
			t.Fatalf("kill %d: %q", i, s.Stats().Damage)
		}
		s.Close()
	}
	t.Logf("%d messages", len(kept))
}
