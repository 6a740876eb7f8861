//go:build unix

package spool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotItsOwn: a folder or file that others could read, write or have put there is refused and
// left as it is.
func TestNotItsOwn(t *testing.T) {
	do := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name string
		make func(dir string)
		says string
	}{
		{"others may enter the folder", func(dir string) { do(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)) }, "chmod 700"},
		{"others may write to it", func(dir string) { do(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) }, "chmod 700"},
		{"a link to a folder", func(dir string) { do(os.Mkdir(dir+"2", 0o700), os.Symlink(dir+"2", dir)) }, "it is a link"},
		{"a file in its place", func(dir string) { do(os.WriteFile(dir, nil, 0o600)) }, "cannot be created"},
		{"others may read the log", func(dir string) { do(os.Chmod(logs(t, filledAt(t, dir))[0], 0o644)) }, "chmod 600"},
		{"the log is a link", func(dir string) {
			name := logs(t, filledAt(t, dir))[0]
			do(os.Rename(name, dir+".log"), os.Symlink(dir+".log", name))
		}, "it is a link"},
		{"the log is a hard link", func(dir string) { do(os.Link(logs(t, filledAt(t, dir))[0], dir+".log")) }, "hard link"},
		{"the lock is a link", func(dir string) {
			do(os.Mkdir(dir, 0o700), os.WriteFile(dir+".txt", []byte("mine"), 0o600),
				os.Symlink(dir+".txt", filepath.Join(dir, lockFile)))
		}, "it is a link"},
		{"the log is a folder", func(dir string) { do(os.Mkdir(dir, 0o700), os.Mkdir(filepath.Join(dir, logName(1)), 0o700)) }, "it is no file"},
		{"another user's", func(dir string) { do(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, -1)) }, "another user"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "another user's" && os.Geteuid() != 0 {
				return // only the superuser can give folders away
			}
			dir := fresh(t)
			tc.make(dir)
			s, err := Open(dir, Config{})
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%v", err)
			}
		})
	}
}

// filledAt makes a spool with a message.
func filledAt(t *testing.T, dir string) string {
	t.Helper()
	s := open(t, dir, Config{})
	appendAll(t, s, messages(s, 0, 1, 10))
	s.Close()
	return dir
}

// TestModes: what a spool creates is its owner's alone, whatever the umask is.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir, Config{})
	r := message(s, 0, 2<<20)
	defer r.Discard()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
