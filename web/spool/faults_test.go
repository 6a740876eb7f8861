package spool

import (
	"fmt"
	"slices"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// TestNothingThatWasKeptIsLost: each write, sync and change of names fails in turn, once or for
// good, torn or not; the spool is checked and used on, or the machine stops there. What Append has
// kept is there once, in order; what it has not kept may be there.
func TestNothingThatWasKeptIsLost(t *testing.T) {
	for _, forever := range []bool{false, true} {
		for _, restart := range []string{"used on", "closed", "machine stops"} {
			t.Run(fmt.Sprintf("%s, for good %v", restart, forever), func(t *testing.T) {
				for left := 0; ; left++ {
					if !faulty(t, left, forever, restart) {
						t.Logf("%d operations", left)
						if left < 30 {
							t.Error("that is too few")
						}
						return
					}
				}
			})
		}
	}
}

// faulty has the operation number left fail and reports whether there is one.
func faulty(t *testing.T, left int, forever bool, restart string) bool {
	t.Helper()
	d := newMemoryDisk()
	d.left, d.forever = left, forever
	sent, kept := 0, []int{}
	var maybe []int // of an append that has failed
	cfg := Config{MaxBytes: MinMaxBytes}
	s, err := openOn(d, "folder", cfg)
	fill := func(n, size int) {
		records := messages(s, sent, n, size)
		took, err := s.Append(records)
		kept = append(kept, upTo(sent, sent+took)...)
		if err == nil {
			sent += n
			return
		}
		maybe = append(maybe, upTo(sent+took, sent+n)...)
		sent += n // a broker would send them again; new numbers tell what came twice
		d.left = -1
		if err := s.Check(); err != nil {
			t.Fatalf("operation %d: checked: %v", left, err)
		}
	}
	if err == nil {
		for range 2 {
			fill(4, 100)
			fill(1, 2200<<10) // apart, and the second needs the next file
		}
	}
	failed := d.failed
	d.left = -1
	if restart != "machine stops" && s != nil {
		if restart == "used on" {
			if err := s.Check(); err != nil {
				t.Fatalf("operation %d: checked: %v", left, err)
			}
			appendAll(t, s, messages(s, sent, 2, 10))
			kept = append(kept, sent, sent+1)
		}
		_ = s.Close()
	} else {
		d = d.crash()
	}
	s, err = openOn(d, "folder", cfg)
	if err != nil {
		t.Fatalf("operation %d: %v", left, err)
	}
	appendAll(t, s, messages(s, 1000, 1, 10))
	kept = append(kept, 1000)
	a, _ := load(t, s, archive.Config{BodyLimit: 10})
	got := numbers(a)
	for _, n := range maybe {
		if i := slices.Index(got, n); i >= 0 {
			if restart == "used on" {
				t.Errorf("operation %d: message %d is there though it was not kept", left, n)
			}
			got = slices.Delete(got, i, i+1)
		}
	}
	if !slices.Equal(got, kept) {
		t.Fatalf("operation %d: kept %v, found %v, and %v were not kept: %q", left, kept, got, maybe, s.Stats().Damage)
	}
	if lost := s.Stats().Lost; lost > uint64(len(maybe)) {
		t.Errorf("operation %d: %d are said to be lost: %q", left, lost, s.Stats().Damage)
	}
	return failed
}
