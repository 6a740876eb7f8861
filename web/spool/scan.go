package spool

import (
	"encoding/binary"
	"errors"
	"io"
)

// window reads a file from somewhere on, ahead and in large pieces.
type window struct {
	f    file
	size int64
	at   int64 // of buf in the file
	buf  []byte
	err  error // other than the end of the file
}

const windowBytes = 1 << 20

func newWindow(f file, size int64) *window {
	return &window{f: f, size: size, buf: make([]byte, 0, min(windowBytes, max(size, 1)))}
}

// from returns at least want octets from at on, as far as the file has them, and is valid until the
// next call. want is at most windowBytes.
func (w *window) from(at int64, want int) []byte {
	want = int(min(int64(want), max(w.size-at, 0)))
	if at < w.at || at+int64(want) > w.at+int64(len(w.buf)) {
		w.buf = w.buf[:min(int64(cap(w.buf)), max(w.size-at, 0))]
		n, err := w.f.ReadAt(w.buf, at)
		if err != nil && !errors.Is(err, io.EOF) && w.err == nil {
			w.err = err
		}
		w.at, w.buf = at, w.buf[:max(n, 0)]
	}
	return w.buf[min(at-w.at, int64(len(w.buf))):]
}

// checks reports whether the frame's payload fits its checksum.
func (w *window) checks(at int64, f frame) bool {
	sum, from, to := f.sum, at+frameHeaderBytes, at+frameHeaderBytes+int64(f.length)
	for from < to {
		p := w.from(from, 1)
		if len(p) == 0 {
			return false
		}
		p = p[:min(int64(len(p)), to-from)]
		sum = checksum(sum, p)
		from += int64(len(p))
	}
	p := w.from(to, frameTrailerBytes)
	return len(p) >= frameTrailerBytes && binary.LittleEndian.Uint32(p) == sum
}

// frame is the header at an offset of a frame that the file has room for.
func (w *window) frame(at int64, seed uint32) (f frame, ok bool) {
	p := w.from(at, frameHeaderBytes)
	if len(p) < frameHeaderBytes {
		return frame{}, false
	}
	f, ok = parseFrame(p, seed)
	return f, ok && f.length <= uint64(w.size) && at+frameBytes+int64(f.length) <= w.size
}

// scan is what reading a log file has found.
type scan struct {
	messages uint64 // that are sound
	next     uint64 // number of the message behind the last
	last     kind   // of the last sound frame; 0: there is none
	end      int64  // of the last sound frame
	damage   []Damage
	lost     uint64
}

// scan reads a log file and calls each for every sound message, with its offset. Its damage has no
// file name. until is the number of the next file's first message; 0: it is the newest file.
func (l *logFile) scan(until uint64, each func(at int64, f frame, w *window)) (scan, error) {
	s := scan{next: l.first, end: headerBytes}
	w := newWindow(l.f, l.size)
	at := int64(headerBytes)
	for at < l.size {
		least := s.next
		if f, ok := w.frame(at, l.seed); ok && f.number >= s.next {
			end, next := at+frameBytes+int64(f.length), f.number
			if f.kind == kindMessage {
				next++
			}
			if w.checks(at, f) && (f.kind != kindMessage || l.sound(w, at, f)) {
				if f.number > s.next { // what was before it is missing, though nothing is damaged
					s.gap(at, at, f.number)
				}
				s.last, s.end, s.next = f.kind, end, next
				if f.kind == kindMessage {
					s.messages++
					each(at, f, w)
				}
				at = end
				continue
			}
			// The length is not to be trusted: a part may be missing. Where nothing follows, it is
			// all there is.
			if to, _ := l.search(w, at+1, next); to == l.size {
				s.gap(at, end, next)
				at = end
				continue
			}
			least = next
		}
		to, next := l.search(w, at+1, least)
		if to == l.size {
			break
		}
		s.gap(at, to, next)
		at = to
	}
	if w.err != nil {
		return s, w.err
	}
	switch {
	case until > s.next:
		s.gap(at, max(at, l.size), until)
	case until == 0 && at < l.size:
		s.damage = append(s.damage, Damage{Offset: at, Bytes: l.size - at, Cut: true})
	}
	return s, nil
}

// gap notes that what is between two offsets cannot be read, and that next is the next message.
func (s *scan) gap(from, to int64, next uint64) {
	lost := next - min(next, s.next)
	s.damage = append(s.damage, Damage{Offset: from, Bytes: to - from, First: s.next, Lost: lost})
	s.lost += lost
	s.next = max(s.next, next)
}

// search looks for the next sound frame and returns its offset and number: the end and 0 if there
// is none.
func (l *logFile) search(w *window, at int64, least uint64) (int64, uint64) {
	for ; at+frameBytes <= l.size; at++ {
		if f, ok := w.frame(at, l.seed); ok && f.number >= least && w.checks(at, f) {
			return at, f.number
		}
	}
	return l.size, 0
}

// sound reports whether a frame holds a record whose lengths fit.
func (l *logFile) sound(w *window, at int64, f frame) bool {
	p := w.from(at+frameHeaderBytes, fixedBytes)
	return len(p) >= fixedBytes && head(p[:fixedBytes]).sound(f.length)
}
