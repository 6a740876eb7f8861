package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// ErrGone says that a file of the spool is not in the folder any more, or that another one is there
// in its place.
var ErrGone = errors.New("the spool is gone")

// goneError is ErrGone with the file.
type goneError struct {
	name     string
	replaced bool
}

func (e goneError) Error() string {
	if e.replaced {
		return e.name + " was replaced by another file"
	}
	return e.name + " was deleted"
}

func (e goneError) Is(target error) bool { return target == ErrGone }

// Holds reports whether the files are still those in the folder: nil, or ErrGone or what else is
// wrong. It must be asked before each acknowledgement.
func (s *Spool) Holds() error {
	if !s.disk.locked() {
		return goneError{name: lockFile}
	}
	for _, l := range slices.Backward(s.list()) {
		if err := s.inPlace(l); err != nil {
			return err
		}
	}
	return nil
}

// inPlace reports whether a file is the one in the folder.
func (s *Spool) inPlace(l *logFile) error {
	same, err := s.disk.holds(l.name, l.f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return goneError{name: l.name}
	case err != nil:
		return err
	case !same:
		return goneError{l.name, true}
	}
	return nil
}

// Check reports whether messages can be appended again after Append or Holds said that they cannot:
// nil, ErrFull, or what is still wrong. Files that were deleted it writes again from what it still
// has open. What may not have reached the disk is cut off first.
func (s *Spool) Check() error {
	if err := s.restore(); err != nil {
		return s.explain(err)
	}
	if s.broken {
		if err := s.repair(); err != nil {
			return s.explain(err)
		}
		s.broken, s.refused = false, 0
	}
	if !s.cfg.DropOldest && s.refused > s.largest()-s.used() {
		return ErrFull
	}
	return nil
}

// restore puts what was deleted into the folder again. What was replaced is somebody else's.
func (s *Spool) restore() error {
	if s.Holds() == nil {
		return nil
	}
	if !s.disk.locked() {
		if err := s.disk.lock(); err != nil {
			return err
		}
		if err := s.writeKey(); err != nil {
			return err
		}
	}
	for _, l := range s.list() {
		err := s.inPlace(l)
		if gone, ok := errors.AsType[goneError](err); !ok || gone.replaced {
			if err != nil {
				return err
			}
			continue
		}
		if err := s.rewrite(l); err != nil {
			return fmt.Errorf("%s was deleted and cannot be written again: %w", l.name, err)
		}
		s.cfg.Logger.Warn("a file of the spool was deleted by somebody else; it was written again", "folder", s.dir,
			"file", l.name)
	}
	return s.Holds()
}

// rewrite copies a file that is open and not in the folder any more.
func (s *Spool) rewrite(l *logFile) error {
	f, err := s.disk.create(l.name)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(f, 0), io.NewSectionReader(l.f, 0, l.size))
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = s.disk.sync()
	}
	if err != nil {
		_ = f.Close()
		_ = s.disk.remove(l.name)
		return err
	}
	s.mu.Lock()
	was := l.f
	l.f = f
	s.mu.Unlock()
	return was.Close()
}

// repair cuts off what may not have reached the disk, and writes as much as could not be written.
func (s *Spool) repair() error {
	s.next, s.buf = s.durable, nil
	if l := s.newest(); l != nil {
		if err := l.f.Truncate(l.size); err != nil {
			return err
		}
		if err := l.f.Sync(); err != nil {
			return err
		}
		s.written, s.end = l.size, l.size
	}
	if s.roll || s.newest() == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if err := s.opened(); err != nil {
		return err
	}
	l := s.newest()
	zeros := make([]byte, 256<<10)
	var err error
	for at, left := l.size, min(s.refused, BatchBytes); left > 0 && err == nil; {
		n := min(left, int64(len(zeros)))
		_, err = l.f.WriteAt(zeros[:n], at)
		at, left = at+n, left-n
	}
	if err == nil {
		err = l.f.Sync()
	}
	return errors.Join(err, l.f.Truncate(l.size), l.f.Sync())
}
