package spool

import (
	"encoding/binary"
	"errors"

	"go.etcd.io/bbolt"
)

// Append writes sealed records, with one transaction unless the bound is near, and returns when
// they are synced. It returns how many are kept: all of them, or the first n and ErrFull or what
// went wrong.
func (s *Spool) Append(records []Record) (n int, err error) {
	if s.broken {
		return 0, errors.New("it has failed before and was not checked")
	}
	s.refused = 0
	for n < len(records) {
		took, err := s.appendSome(records[n:])
		if err != nil {
			return n, err
		}
		n += took
	}
	return n, nil
}

// appendSome writes as many records as there is surely room for, at least one.
func (s *Spool) appendSome(records []Record) (n int, err error) {
	room := s.cfg.MaxBytes - reserve - s.Stats().Bytes
	if s.cfg.DropOldest {
		room = s.cfg.MaxBytes - reserve
	}
	var need int64
	for n < len(records) && need+cost(len(records[n])) <= room {
		need += cost(len(records[n]))
		n++
	}
	if n == 0 {
		s.refused = cost(len(records[0]))
		return 0, ErrFull
	}
	dropped, err := s.write(records[:n], need+reserve+s.Stats().Bytes-s.cfg.MaxBytes)
	if err != nil {
		s.broken, s.refused = true, need
		s.explain(&err)
		return 0, err
	}
	s.measure(dropped)
	return n, nil
}

// write drops at least so many bytes of the oldest messages, as far as there are any, and puts the
// new ones behind the newest.
func (s *Spool) write(records []Record, drop int64) (dropped uint64, err error) {
	defer recoverDamage(&err)
	defer guarded()()
	err = s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(messagesBucket)
		b.FillPercent = 1 // keys only grow
		c := b.Cursor()
		last, _ := c.Last()
		next := max(number(last), b.Sequence()) + 1
		for k, v := c.First(); k != nil && drop > 0 && s.cfg.DropOldest; k, v = c.First() {
			drop -= cost(len(v))
			dropped++
			if err := c.Delete(); err != nil {
				return err
			}
		}
		for _, r := range records {
			if err := b.Put(binary.BigEndian.AppendUint64(nil, next), r); err != nil {
				return err
			}
			next++
		}
		return b.SetSequence(next - 1)
	})
	return dropped, err
}

// Check reports whether messages can be appended again after Append said that they cannot: nil,
// ErrFull, or what is still wrong. After a failure it opens the file anew, so that nothing is built
// on what may not have reached the disk.
func (s *Spool) Check() error {
	if s.broken {
		_ = s.db.Close()
		if err := s.open(); err != nil {
			return err
		}
		if err := s.probe(); err != nil {
			s.explain(&err)
			return err
		}
		s.broken, s.refused = false, 0
	}
	if !s.cfg.DropOldest && s.refused > s.cfg.MaxBytes-reserve-s.Stats().Bytes {
		return ErrFull
	}
	return nil
}

// probe writes as much as could not be written, and removes it again.
func (s *Spool) probe() (err error) {
	defer recoverDamage(&err)
	defer guarded()()
	err = s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(probeKey, make([]byte, min(max(s.refused, pageBytes), BatchBytes)))
	})
	if err != nil {
		return err
	}
	err = s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(probeKey) })
	s.measure(0)
	return err
}
