package spool

import (
	"encoding/binary"
	"errors"
	"io/fs"
)

// Append writes sealed records and returns when they are synced. It returns how many are kept: all
// of them, or the first n and ErrFull, ErrTooLarge, or what went wrong.
func (s *Spool) Append(records []*Record) (n int, err error) {
	if s.broken {
		return 0, errors.New("it has failed before and was not checked")
	}
	s.refused, s.kept = 0, 0
	for _, r := range records {
		if err = s.take(r); err != nil {
			break
		}
	}
	if !s.broken {
		if failed := s.commit(); failed != nil {
			err = s.fail(failed, s.end-s.newest().size)
		}
	}
	s.measure()
	return s.kept, err
}

// take writes a record, without a sync.
func (s *Spool) take(r *Record) error {
	size := r.Size()
	switch {
	case r.err != nil:
		return s.fail(r.err, size)
	case r.TooLarge() || size > s.largest():
		return ErrTooLarge
	case !s.cfg.DropOldest && s.used()+size > s.largest():
		s.refused = size
		return ErrFull
	}
	if err := s.makeRoom(size); err != nil {
		return s.fail(err, size)
	}
	if err := s.put(r); err != nil {
		return s.fail(err, size)
	}
	return nil
}

// fail notes that so many octets could not be written.
func (s *Spool) fail(err error, size int64) error {
	s.broken, s.refused = true, size
	s.next, s.buf = s.durable, nil
	return s.explain(err)
}

// used is how many octets the log has with what is not synced yet.
func (s *Spool) used() (bytes int64) {
	for _, l := range s.list() {
		bytes += l.size
	}
	if l := s.newest(); l != nil {
		bytes += s.end - l.size
	}
	return bytes
}

// newest is the file that is added to; nil: there is none.
func (s *Spool) newest() *logFile {
	files := s.list()
	if len(files) == 0 {
		return nil
	}
	return files[len(files)-1]
}

// makeRoom begins the next file where the newest has enough, and drops the oldest ones where the
// bound demands it.
func (s *Spool) makeRoom(size int64) error {
	if s.newest() == nil || s.roll || s.end+size > s.fileBytes() && s.end > headerBytes {
		if err := s.begin(); err != nil {
			return err
		}
	}
	for s.used()+size > s.largest() {
		if err := s.drop(); err != nil {
			return err
		}
	}
	return nil
}

// begin begins the next file.
func (s *Spool) begin() error {
	if err := s.commit(); err != nil {
		return err
	}
	f, err := s.create()
	if err != nil {
		return err
	}
	h := header{first: s.next, key: s.key}
	if _, err = f.WriteAt(h.encode(), 0); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = s.disk.sync()
	}
	name := logName(s.next)
	if err != nil {
		_ = f.Close()
		_ = s.disk.remove(name)
		return err
	}
	l := &logFile{name: name, first: h.first, seed: h.seed(), f: f, size: headerBytes, read: true}
	s.setFiles(append(s.list(), l))
	s.end, s.written, s.roll = headerBytes, headerBytes, false
	return nil
}

// create creates the next file. Where one of that name is there, it was being created when that
// failed, or nothing in it can be read.
func (s *Spool) create() (file, error) {
	for {
		name := logName(s.next)
		f, err := s.disk.create(name)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		if f, err = s.disk.open(name); err != nil {
			return nil, err
		}
		size, err := f.Size()
		_ = f.Close()
		switch {
		case err != nil:
			return nil, err
		case size > headerBytes:
			s.durable, s.next = s.durable+1, s.next+1
			continue
		}
		if err := s.disk.remove(name); err != nil {
			return nil, err
		}
	}
}

// drop removes the oldest file.
func (s *Spool) drop() error {
	files := s.list()
	if len(files) == 1 {
		if err := s.begin(); err != nil {
			return err
		}
		files = s.list()
	}
	l := files[0]
	if err := s.disk.remove(l.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.setFiles(files[1:])
	s.mu.Lock()
	s.stats.Dropped += l.messages
	s.mu.Unlock()
	_ = l.f.Close()
	return nil
}

// put writes a record behind what is there.
func (s *Spool) put(r *Record) error {
	l := s.newest()
	length := uint64(r.Size() - frameBytes)
	var sum uint32
	s.buf, sum = appendFrame(s.buf, l.seed, frame{number: s.next, length: length, kind: kindMessage})
	s.end += r.Size()
	s.next++
	add := func(p []byte) error {
		sum = checksum(sum, p)
		if len(p) < spillBytes {
			s.buf = append(s.buf, p...)
			return s.spill()
		}
		if err := s.flush(); err != nil { // what is large is not copied
			return err
		}
		return s.write(p)
	}
	if err := add(r.head); err != nil {
		return err
	}
	var err error
	if r.apart == nil {
		err = add(r.body)
	} else {
		err = r.apart.read(r.size, add)
	}
	s.buf = binary.LittleEndian.AppendUint32(s.buf, sum)
	return err
}

// spillBytes is much to be written.
const spillBytes = BatchBytes / 8

// spill writes what is not written yet once that is much.
func (s *Spool) spill() error {
	if len(s.buf) < spillBytes {
		return nil
	}
	return s.flush()
}

func (s *Spool) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	err := s.write(s.buf)
	s.buf = s.buf[:0]
	return err
}

func (s *Spool) write(p []byte) error {
	n, err := s.newest().f.WriteAt(p, s.written)
	s.written += int64(n)
	return err
}

// commit writes and syncs what is not yet.
func (s *Spool) commit() error {
	l := s.newest()
	if l == nil || s.end == l.size {
		return nil
	}
	err := s.flush()
	if err == nil {
		err = l.f.Sync()
	}
	if err != nil {
		return err
	}
	n := s.next - s.durable
	s.mu.Lock()
	l.size, l.messages = s.end, l.messages+n
	s.mu.Unlock()
	s.durable, s.kept = s.next, s.kept+int(n)
	return nil
}

// mark writes a frame without a message.
func (s *Spool) mark(k kind) error {
	if s.newest() == nil || s.roll {
		if err := s.begin(); err != nil {
			return err
		}
	}
	var sum uint32
	s.buf, sum = appendFrame(s.buf, s.newest().seed, frame{number: s.next, kind: k})
	s.buf = binary.LittleEndian.AppendUint32(s.buf, sum)
	s.end += frameBytes
	return s.commit()
}
