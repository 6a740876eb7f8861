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

// appendForEver appends messages behind those that are there, and says after each batch how many
// are kept.
func appendForEver(dir string) {
	s, err := Open(dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	next := int(s.next) - 1
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
	kept := 0
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
		for lines.Scan() {
			if timer == nil { // it has begun
				until := time.Duration(rand.IntN(8_000)) * time.Microsecond
				timer = time.AfterFunc(until, func() { _ = cmd.Process.Kill() })
			}
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("kill %d: the child says %q", i, lines.Text())
			}
			kept = max(kept, n)
		}
		_ = cmd.Wait()
		if i%10 > 0 && i < 99 {
			continue
		}
		s := open(t, dir, Config{MaxBytes: MinMaxBytes, DropOldest: true})
		a, _ := load(t, s, archive.Config{BodyLimit: 10})
		got := numbers(a)
		if len(got) == 0 || !slices.Equal(got, upTo(got[0], got[0]+len(got))) || got[len(got)-1]+1 < kept ||
			!s.Unclean() {
			t.Fatalf("kill %d: kept %d; there are %d messages up to %d; unclean: %v",
				i, kept, len(got), got[len(got)-1], s.Unclean())
		}
		if lost := s.Stats().Lost; lost > 0 {
			t.Fatalf("kill %d: %q", i, s.Stats().Damage)
		}
		s.Close()
	}
	t.Logf("%d messages", kept)
}
