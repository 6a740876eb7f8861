package spool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// TestDeletedFilesAreWrittenAgain: what a cleaner deletes while the spool is open is noticed before
// anything is acknowledged, and nothing of it is lost.
func TestDeletedFilesAreWrittenAgain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		remove func(dir string) error
	}{
		{"one file", func(dir string) error { return os.Remove(logs(t, dir)[0]) }},
		{"the newest file", func(dir string) error { return os.Remove(logs(t, dir)[1]) }},
		{"the lock", func(dir string) error { return os.Remove(filepath.Join(dir, lockFile)) }},
		{"the folder", os.RemoveAll},
		{"the folder moved away", func(dir string) error { return os.Rename(dir, dir+"-moved") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, when := range []string{"going on", "at the end"} {
				dir := fresh(t)
				s := open(t, dir, Config{MaxBytes: MinMaxBytes})
				appendAll(t, s, messages(s, 0, 10, 500_000)) // two files
				key := s.Key()
				if err := s.Holds(); err != nil {
					t.Fatal(err)
				}
				if err := tc.remove(dir); err != nil {
					t.Fatal(err)
				}
				err := s.Holds()
				if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "was deleted") {
					t.Errorf("%v", err)
				}
				// into a file that has no name: not to be acknowledged
				appendAll(t, s, messages(s, 10, 1, 10))
				if err := s.Holds(); !errors.Is(err, ErrGone) {
					t.Errorf("%v", err)
				}
				if when == "going on" {
					if err := errors.Join(s.Check(), s.Holds()); err != nil {
						t.Fatal(err)
					}
					if _, err := Open(dir, Config{}); err == nil {
						t.Error("somebody else may open it")
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = open(t, dir, Config{})
				a, _ := load(t, s, archive.Config{})
				if !slices.Equal(numbers(a), upTo(0, 11)) || len(s.Stats().Damage) > 0 || s.Unclean() ||
					s.Key() != key {
					t.Errorf("%s: %v, %+v, unclean: %v", when, numbers(a), s.Stats(), s.Unclean())
				}
			}
		})
	}
}

// TestReplacedFilesAreLeftAlone: what somebody else has put there is not this spool's to write
// over.
func TestReplacedFilesAreLeftAlone(t *testing.T) {
	dir := fresh(t)
	s := open(t, dir, Config{})
	appendAll(t, s, messages(s, 0, 3, 10))
	name := logs(t, dir)[0]
	if err := os.Rename(name, name+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{s.Holds(), s.Check(), s.Check()} {
		if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "was replaced") {
			t.Errorf("%v", err)
		}
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "another" {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.Rename(name+".away", name); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Check(), s.Holds()); err != nil {
		t.Errorf("put back: %v", err)
	}
}

// TestUnclean: only a spool that was closed ended in good order.
func TestUnclean(t *testing.T) {
	d := newMemoryDisk()
	for _, tc := range []struct {
		name    string
		use     func(s *Spool)
		unclean bool // as the next one that opens it says
	}{
		{"killed before the first message", func(*Spool) {}, true},
		{"closed without a message", func(s *Spool) { s.Close() }, false},
		{"killed after a message", func(s *Spool) { appendAll(t, s, messages(s, 0, 1, 10)) }, true},
		{"closed after a message", func(s *Spool) {
			appendAll(t, s, messages(s, 1, 1, 10))
			s.Close()
		}, false},
		{"closed after a failure", func(s *Spool) {
			d.left, d.failed = 0, false
			if _, err := s.Append(messages(s, 2, 1, 10)); err == nil {
				t.Error("it does not fail")
			}
			d.left = -1
			s.Close()
		}, true},
	} {
		s, err := openOn(d, "folder", Config{})
		if err != nil {
			t.Fatal(err)
		}
		tc.use(s)
		next, err := openOn(d, "folder", Config{})
		if err != nil {
			t.Fatal(err)
		}
		if next.Unclean() != tc.unclean {
			t.Errorf("%s: unclean is %v", tc.name, next.Unclean())
		}
		next.Close()
	}
}
