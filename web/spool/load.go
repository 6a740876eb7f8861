package spool

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Loaded is what Load found.
type Loaded struct {
	Stored  uint64 // messages put into the archive
	Older   uint64 // that stay on disk only, since the archive has no room for them
	Damaged uint64 // that could not be read
}

// Load puts the newest messages into an archive, as many as it holds, oldest first.
func (s *Spool) Load(a *archive.Archive) (l Loaded, err error) {
	defer s.explain(&err)
	defer recoverDamage(&err)
	defer guarded()()
	bodyLimit, w := a.BodyLimit(), a.Writer()
	err = s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(messagesBucket).Cursor()
		var from []byte
		room := a.Stats().MaxBytes
		for k, v := c.Last(); k != nil && room > 0; k, v = c.Prev() {
			from = k
			room -= int64(fixedBytes + len(v))
			if r := Record(v); r.sound() {
				room += int64(max(len(r.Body())-bodyLimit, 0))
			}
		}
		if from == nil {
			return nil
		}
		first, _ := c.First()
		l.Older = number(from) - number(first)
		for k, v := c.Seek(from); k != nil; k, v = c.Next() {
			r := Record(v)
			if !r.sound() {
				l.Damaged++
				continue
			}
			r.Store(w)
			l.Stored++
		}
		return nil
	})
	return l, err
}

// Recent returns the prints of the newest n messages, oldest first; 0 for those that have none.
func (s *Spool) Recent(n int) (prints []uint64, err error) {
	defer s.explain(&err)
	defer recoverDamage(&err)
	defer guarded()()
	err = s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(messagesBucket).Cursor()
		for k, v := c.Last(); k != nil && len(prints) < n; k, v = c.Prev() {
			if r := Record(v); r.sound() {
				prints = append(prints, r.print())
			}
		}
		return nil
	})
	slices.Reverse(prints)
	return prints, err
}

// recoverDamage turns into an error what bbolt panics with, and the fault of a file that is shorter
// than it says. It must be deferred.
func recoverDamage(err *error) {
	if v := recover(); v != nil {
		if e, ok := v.(error); ok {
			*err = fmt.Errorf("the file is damaged: %w", e)
			return
		}
		*err = errors.New(fmt.Sprint("the file is damaged: ", v))
	}
}

// guarded has the faults of a mapped file panic in this goroutine instead of ending the process.
func guarded() (restore func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}
