package access

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// reloadInterval is how often files are looked at, while they are asked for.
const reloadInterval = time.Second

// reloaded is a value read from files, read again when they change. A change
// that cannot be read leaves the value as it was, and is logged once.
type reloaded[T any] struct {
	what   string // the value, in log messages
	files  []string
	read   func() (*T, error)
	logger *slog.Logger
	now    func() time.Time

	value atomic.Pointer[T]
	mu    sync.Mutex
	next  time.Time     // guarded by mu; the files are not looked at before
	seen  []os.FileInfo // guarded by mu; of the last attempt to read, nil where there was none
}

// newReloaded reads the value for the first time. Files named "" do not exist.
func newReloaded[T any](
	what string,
	read func() (*T, error),
	logger *slog.Logger,
	now func() time.Time,
	files ...string,
) (*reloaded[T], error) {
	r := &reloaded[T]{what: what, files: files, read: read, logger: logger, now: now}
	r.seen = r.stat()
	v, err := read()
	if err != nil {
		return nil, err
	}
	r.value.Store(v)
	r.next = now().Add(reloadInterval)
	return r, nil
}

// get returns the value of now. Only one caller a second looks at the files;
// the others do not wait for it.
func (r *reloaded[T]) get() *T {
	if r.mu.TryLock() {
		if now := r.now(); !now.Before(r.next) {
			r.refresh()
			r.next = now.Add(reloadInterval)
		}
		r.mu.Unlock()
	}
	return r.value.Load()
}

func (r *reloaded[T]) refresh() {
	// The files are described before they are read: what changes in between is
	// a change for the next time.
	found := r.stat()
	if r.unchanged(found) {
		return
	}
	r.seen = found
	v, err := r.read()
	if err != nil {
		r.logger.Error(fmt.Sprintf("the changed %s cannot be used; the old one stays", r.what), "error", err)
		return
	}
	r.value.Store(v)
	r.logger.Info(fmt.Sprintf("the %s has changed and was read again", r.what))
}

func (r *reloaded[T]) stat() []os.FileInfo {
	found := make([]os.FileInfo, len(r.files))
	for i, name := range r.files {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil {
			found[i] = info
		}
	}
	return found
}

func (r *reloaded[T]) unchanged(found []os.FileInfo) bool {
	for i, a := range r.seen {
		b := found[i]
		if (a == nil) != (b == nil) {
			return false
		}
		if a != nil && (!a.ModTime().Equal(b.ModTime()) || a.Size() != b.Size() || !os.SameFile(a, b)) {
			return false
		}
	}
	return true
}
