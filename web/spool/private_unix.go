//go:build unix

package spool

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	modes    = true // say who may read a file
	noFollow = syscall.O_NOFOLLOW
)

// owned reports why a file or folder is not this user's alone.
func owned(info fs.FileInfo, dir bool) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return nil
	case int(st.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	case !dir && st.Nlink > 1:
		return errors.New("it has another name elsewhere, a hard link")
	}
	return nil
}
