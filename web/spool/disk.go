package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// disk is a folder, as far as a spool needs one.
type disk interface {
	// lock makes sure that the folder is there, that it is the owner's alone, and that no other
	// process uses it. After the folder was lost it locks what is there now.
	lock() error
	unlock() error
	// locked reports whether what lock has locked is still what is in the folder.
	locked() bool
	names() ([]string, error)
	create(name string) (file, error) // which is not there yet
	open(name string) (file, error)
	// holds reports whether the folder has this file by that name. The error is fs.ErrNotExist
	// where it has none.
	holds(name string, f file) (bool, error)
	remove(name string) error
	// sync makes sure that new names outlive a crash of the machine.
	sync() error
}

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// folder is a disk.
type folder struct {
	path string
	mine *flock.Flock
	info fs.FileInfo // of the locked file
}

func (d *folder) at(name string) string { return filepath.Join(d.path, name) }

func (d *folder) lock() error {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return fmt.Errorf("it cannot be created: %w", err)
	}
	info, err := os.Lstat(d.path)
	if err != nil {
		return err
	}
	if err := private(info, true); err != nil {
		return err
	}
	if info, err = os.Lstat(d.at(lockFile)); err == nil {
		err = private(info, false)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", lockFile, err)
	}
	mine := flock.New(d.at(lockFile), flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
	got, err := mine.TryLock()
	if err == nil && !got {
		err = errInUse
	}
	if err == nil {
		info, err = mine.Stat()
	}
	if err != nil {
		_ = mine.Close()
		return err
	}
	if d.mine != nil {
		_ = d.mine.Close()
	}
	d.mine, d.info = mine, info
	return nil
}

func (d *folder) unlock() error { return d.mine.Close() }

func (d *folder) locked() bool {
	info, err := os.Lstat(d.at(lockFile))
	return err == nil && os.SameFile(info, d.info)
}

func (d *folder) names() (names []string, err error) {
	entries, err := os.ReadDir(d.path)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (d *folder) create(name string) (file, error) {
	return d.openFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR)
}

func (d *folder) open(name string) (file, error) {
	info, err := os.Lstat(d.at(name))
	if err == nil {
		err = private(info, false)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d.openFile(name, os.O_RDWR)
}

func (d *folder) openFile(name string, flag int) (file, error) {
	f, err := os.OpenFile(d.at(name), flag|noFollow, 0o600) // #nosec G304 -- in the folder that --spool names
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &folderFile{f, info}, nil
}

func (d *folder) holds(name string, f file) (bool, error) {
	info, err := os.Lstat(d.at(name))
	if err != nil {
		return false, err
	}
	return os.SameFile(info, f.(*folderFile).info), nil
}

func (d *folder) remove(name string) error { return os.Remove(d.at(name)) }

func (d *folder) sync() error {
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = f.Sync() // where folders can be synced
	return nil
}

type folderFile struct {
	*os.File
	info fs.FileInfo
}

func (f *folderFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// private reports why what info describes is not the spool's own.
func private(info fs.FileInfo, dir bool) error {
	what, mode := "file", fs.FileMode(0o600)
	if dir {
		what, mode = "folder", 0o700
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("it is a link: name the %s itself", what)
	case info.IsDir() != dir || !dir && !info.Mode().IsRegular():
		return fmt.Errorf("it is no %s", what)
	}
	if err := owned(info, dir); err != nil {
		return err
	}
	if modes && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others may enter or read it: messages are kept in a %s of mode %04o, so name one that does not "+
			"exist yet, or say chmod %o", what, mode, mode)
	}
	return nil
}
