package spool

import (
	"context"
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Loaded is what Load found.
type Loaded struct {
	Stored uint64 // messages put into the archive
	Older  uint64 // that stay on disk only, since the archive has no room for them
	// Prints are those of the newest messages, oldest first; 0 for one that has none.
	Prints []uint64
}

// Load puts the newest messages into an archive, as many as it holds, oldest first, and returns the
// prints of the newest so many. Then it goes on to check, beside what the spool does, the files
// that it had no need to read; Stats tells what it finds. It is called once, before Append.
func (s *Spool) Load(a *archive.Archive, prints int) (l Loaded, err error) {
	files := s.list()
	var places []place
	room := a.Stats().MaxBytes
	i := len(files) - 1
	for ; i >= 0 && (room > 0 || len(l.Prints) < prints); i-- {
		p := place{file: files[i]}
		var costs []int64
		var found []uint64
		result, err := p.file.scan(until(files, i), func(at int64, f frame, w *window) {
			beyond := max(bodySize(w, at, f)-int64(a.BodyLimit()), 0)
			costs, found = append(costs, frameBytes+int64(f.length)-beyond), append(found, printOf(w, at))
			p.frames = append(p.frames, at)
		})
		if err != nil {
			return l, s.explain(err)
		}
		if !p.file.read {
			s.took(p.file, result)
		}
		n := len(costs)
		for ; n > 0 && room > 0; n-- {
			room -= costs[n-1]
		}
		l.Older += uint64(n)
		p.frames = p.frames[n:]
		places = append(places, p)
		slices.Reverse(found)
		l.Prints = append(l.Prints, found[:min(len(found), prints-len(l.Prints))]...)
	}
	slices.Reverse(l.Prints)
	for _, older := range files[:i+1] {
		l.Older += older.messages
	}
	w := a.Writer()
	for _, p := range slices.Backward(places) {
		l.Stored += p.store(w, int64(a.BodyLimit()))
	}
	s.measure()
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.reading.Go(func() { s.check(ctx, files, i) })
	return l, nil
}

// until is the number of the first message behind a file; 0: it is the newest.
func until(files []*logFile, i int) uint64 {
	if i+1 == len(files) {
		return 0
	}
	return files[i+1].first
}

// check reads the files up to the one with index i, that one first.
func (s *Spool) check(ctx context.Context, files []*logFile, i int) {
	for ; i >= 0 && ctx.Err() == nil; i-- {
		s.mu.Lock()
		l := *files[i] // its file may be replaced meanwhile, and it may be dropped
		s.mu.Unlock()
		found, err := l.scan(until(files, i), func(int64, frame, *window) {})
		switch {
		case ctx.Err() != nil || !slices.Contains(s.list(), files[i]):
			continue
		case err != nil:
			s.cfg.Logger.Warn("a file of the spool could not be checked", "folder", s.dir, "file", l.name, "error", err)
			continue
		}
		s.took(files[i], found)
		s.measure()
	}
}

// place is where in a file the messages are that Load stores.
type place struct {
	file   *logFile
	frames []int64
}

// store puts them into an archive.
func (p place) store(w *archive.Writer, bodyLimit int64) (n uint64) {
	win := newWindow(p.file.f, p.file.size)
	for _, at := range p.frames {
		f, ok := win.frame(at, p.file.seed)
		if !ok || !win.checks(at, f) {
			continue // it was sound a moment ago
		}
		h := readHead(win, at, f)
		if h == nil {
			continue
		}
		d := h.delivery()
		w.BeginRedacted(&d, h.received(), h.removed())
		from := at + frameHeaderBytes + int64(len(h))
		end := min(at+frameHeaderBytes+int64(f.length), from+bodyLimit)
		for from < end {
			b := win.from(from, 1)
			if b = b[:min(int64(len(b)), end-from)]; len(b) == 0 {
				break
			}
			w.Body(b)
			from += int64(len(b))
		}
		w.Commit()
		n++
	}
	return n
}
