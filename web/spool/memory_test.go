package spool

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
)

var errFault = errors.New("the disk fails")

// memoryDisk is a disk that forgets what was not synced when the machine stops, and fails when it
// is told to.
type memoryDisk struct {
	now, synced map[string]*memoryFile
	// left is how many more writes, syncs and changes of names go well; negative: all. The one that
	// fails is torn: a part of a write is done.
	left    int
	forever bool // it goes on failing
	failed  bool
	random  *rand.Rand
}

func newMemoryDisk() *memoryDisk {
	return &memoryDisk{
		now:    map[string]*memoryFile{},
		synced: map[string]*memoryFile{},
		left:   -1,
		random: rand.New(rand.NewPCG(1, 2)),
	}
}

// fails counts an operation off.
func (d *memoryDisk) fails() bool {
	switch {
	case d.left < 0 || d.left == 0 && d.failed && !d.forever:
		return false
	case d.left == 0:
		d.failed = true
		return true
	}
	d.left--
	return false
}

// crash is what is found after the machine has stopped: what was synced, and any part of what was
// not.
func (d *memoryDisk) crash() *memoryDisk {
	after := newMemoryDisk()
	names := d.synced
	if d.random.IntN(2) == 0 {
		names = d.now
	}
	for name, f := range names {
		b := slices.Clone(f.synced)
		// Pages of what was written later may be there, or zeros, or nothing.
		const page = 4096
		if n := len(f.now) - len(b); n > 0 {
			b = append(b, make([]byte, d.random.IntN(n+1))...)
		}
		for at := 0; at < len(b); at += page {
			if end := min(at+page, len(b), len(f.now)); at < end && d.random.IntN(2) == 0 {
				copy(b[at:end], f.now[at:end])
			}
		}
		g := &memoryFile{disk: after, now: b, synced: slices.Clone(b)}
		after.now[name], after.synced[name] = g, g
	}
	return after
}

func (d *memoryDisk) lock() error   { return nil }
func (d *memoryDisk) unlock() error { return nil }
func (d *memoryDisk) locked() bool  { return true }

func (d *memoryDisk) names() ([]string, error) { return slices.Sorted(maps.Keys(d.now)), nil }

func (d *memoryDisk) create(name string) (file, error) {
	if d.now[name] != nil {
		return nil, fs.ErrExist
	}
	if d.fails() {
		return nil, errFault
	}
	d.now[name] = &memoryFile{disk: d}
	return d.now[name], nil
}

func (d *memoryDisk) open(name string) (file, error) {
	if d.now[name] == nil {
		return nil, fs.ErrNotExist
	}
	return d.now[name], nil
}

func (d *memoryDisk) holds(name string, f file) (bool, error) {
	if d.now[name] == nil {
		return false, fs.ErrNotExist
	}
	return d.now[name] == f, nil
}

func (d *memoryDisk) remove(name string) error {
	if d.fails() {
		return errFault
	}
	delete(d.now, name)
	return nil
}

func (d *memoryDisk) sync() error {
	if d.fails() {
		return errFault
	}
	d.synced = maps.Clone(d.now)
	return nil
}

// memoryFile is a file of it. What is synced is never changed afterwards, as far as a log does not.
type memoryFile struct {
	disk        *memoryDisk
	now, synced []byte
}

func (f *memoryFile) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(f.now)) {
		return 0, io.EOF
	}
	n := copy(p, f.now[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memoryFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := len(p), error(nil)
	if f.disk.fails() {
		n, err = f.disk.random.IntN(len(p)+1), errFault
	}
	if missing := int(at) + n - len(f.now); missing > 0 {
		f.now = append(f.now, make([]byte, missing)...)
	}
	copy(f.now[at:], p[:n])
	return n, err
}

func (f *memoryFile) Sync() error {
	if f.disk.fails() {
		return errFault
	}
	if len(f.now) > headerBytes && len(f.now) >= len(f.synced) { // a log only grows
		f.synced = append(f.synced, f.now[len(f.synced):]...)
		return nil
	}
	f.synced = slices.Clone(f.now)
	return nil
}

func (f *memoryFile) Truncate(size int64) error {
	if f.disk.fails() {
		return errFault
	}
	f.now = f.now[:min(int(size), len(f.now))]
	return nil
}

func (f *memoryFile) Size() (int64, error) { return int64(len(f.now)), nil }
func (f *memoryFile) Close() error         { return nil }
