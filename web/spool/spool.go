package spool

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// Bounds of Config.MaxBytes.
const (
	DefaultMaxBytes = 4 << 30
	MinMaxBytes     = 64 << 20
)

// BatchBytes is how much Append is best given at once; a single record may be larger.
const BatchBytes = 8 << 20

const (
	fileParts    = 64 // that the bound is divided into
	minFileBytes = 4 << 20
	// reserve is for what is beside messages in a log: headers, and the marks of opening and
	// closing.
	reserve = 16 << 10
)

var (
	// ErrFull says that the bound is reached.
	ErrFull = errors.New("the spool has reached its bound")
	// ErrTooLarge says that a message is larger than all of the spool.
	ErrTooLarge = errors.New("the message is larger than the spool")

	errInUse = errors.New("is in use by another process")
)

// Config configures a Spool. The zero value is usable.
type Config struct {
	MaxBytes   int64 // bound on the files together; 0: DefaultMaxBytes, at least MinMaxBytes
	DropOldest bool  // at the bound, drop the oldest messages instead of taking no more
	// Logger is told of damage; nil: nobody.
	Logger *slog.Logger
}

// Spool keeps messages on disk. One goroutine at a time may use it; Stats, Holds and NewRecord are
// safe for all.
type Spool struct {
	cfg     Config
	dir     string
	disk    disk
	key     [keyBytes]byte
	unclean bool

	// Messages below durable are synced, those from there to next are not: all of these are in the
	// newest file, which reaches to written and, with what is still in buf, to end.
	durable, next uint64
	written, end  int64
	buf           []byte
	kept          int   // messages synced by this Append
	roll          bool  // the newest file is not to be added to
	refused       int64 // octets that the last append could not write; 0: it could
	// broken says that a write or sync failed: what is beyond the synced size of the newest file is
	// unknown.
	broken  bool
	marked  bool // the log says that it was opened
	keyless bool // the key's own file is still to be written
	closed  bool

	arrivals atomic.Uint64
	stop     context.CancelFunc
	reading  sync.WaitGroup

	mu    sync.Mutex
	files []*logFile // oldest first; replaced as a whole, and so are their sizes, under mu
	stats source.Spool
}

// Open opens the spool in a folder, or creates both. Only one process at a time may have it open.
// The folder and its files must be this user's own: mode 0700 and 0600, and no links.
func Open(dir string, cfg Config) (*Spool, error) {
	return openOn(&folder{path: dir}, dir, cfg)
}

func openOn(d disk, dir string, cfg Config) (*Spool, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.MaxBytes < MinMaxBytes {
		return nil, fmt.Errorf("a spool has at least %d MiB", MinMaxBytes>>20)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Spool{cfg: cfg, dir: dir, disk: d, stats: source.Spool{MaxBytes: cfg.MaxBytes}}
	s.stop = func() {}
	if err := d.lock(); err != nil {
		return nil, s.explain(err)
	}
	if err := s.open(); err != nil {
		s.closeFiles()
		_ = d.unlock()
		return nil, s.explain(err)
	}
	return s, nil
}

// open reads what describes the spool, and the newest file.
func (s *Spool) open() error {
	names, err := s.disk.names()
	if err != nil {
		return err
	}
	var files []*logFile
	var headers []header // those that are sound
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, apartPrefix) {
			if err := s.disk.remove(name); err != nil {
				return err
			}
			continue
		}
		first, ok := parseLogName(name)
		if !ok {
			continue
		}
		l := &logFile{name: name, first: first}
		if l.f, err = s.disk.open(name); err != nil {
			return err
		}
		s.files = append(s.files, l) // so that it is closed
		if l.size, err = l.f.Size(); err != nil {
			return err
		}
		h, ok := parseHeader(newWindow(l.f, l.size).from(0, headerBytes)[:min(headerBytes, l.size)])
		if ok && h.first > 0 {
			l.first = h.first
			headers = append(headers, h)
		} else if l.size > headerBytes {
			s.note(Damage{File: name, Bytes: headerBytes})
		}
		files = append(files, l)
	}
	if err := s.readKey(headers, len(files) > 0); err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b *logFile) int { return cmp.Compare(a.first, b.first) })
	s.setFiles(files)
	return s.readNewest()
}

// readKey reads the spool's key from its own file or any other.
func (s *Spool) readKey(headers []header, some bool) error {
	b, err := s.readKeyFile()
	if err != nil {
		return err
	}
	h, ok := parseHeader(b)
	switch {
	case ok:
		s.key = h.key
		if !some {
			s.unclean = true
			s.note(Damage{File: keyFile, Whole: true})
		}
		return nil
	case len(headers) > 0:
		s.key = headers[0].key
		if len(b) > 0 { // not a crash before it was written
			s.note(Damage{File: keyFile, Bytes: int64(len(b))})
		}
	case some:
		return errors.New("it is damaged or is no spool: no file in it has a sound header")
	default:
		_, _ = rand.Read(s.key[:])
	}
	s.keyless = true
	return nil
}

// readKeyFile returns what the file has; nothing where there is none.
func (s *Spool) readKeyFile() ([]byte, error) {
	f, err := s.disk.open(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, headerBytes)
	n, _ := f.ReadAt(b, 0)
	return b[:n], nil
}

func (s *Spool) writeKey() error {
	f, err := s.disk.create(keyFile)
	if errors.Is(err, fs.ErrExist) {
		f, err = s.disk.open(keyFile)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.WriteAt(header{key: s.key}.encode(), 0); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = s.disk.sync()
	}
	return err
}

// readNewest finds the log's end and how it ended, and counts the messages.
func (s *Spool) readNewest() error {
	s.next = 1
	if err := s.removeEmpty(); err != nil {
		return err
	}
	files := s.files
	for i, l := range files {
		l.seed = header{first: l.first, key: s.key}.seed()
		l.messages = until(files, i) - min(until(files, i), l.first)
	}
	for i := 1; i < len(files); i++ {
		if _, ok := parseLogName(files[i].name); ok && files[i].first <= files[i-1].first {
			return fmt.Errorf("%s and %s begin with the same message: one of them is a copy", files[i-1].name, files[i].name)
		}
	}
	if len(files) > 0 {
		l := files[len(files)-1]
		found, err := l.scan(0, func(int64, frame, *window) {})
		if err != nil {
			return err
		}
		s.took(l, found)
		s.next = max(s.next, found.next)
		// what cannot be read stays as it is
		s.end, s.written, s.roll = l.size, l.size, found.end != l.size
		s.unclean = s.unclean || s.roll || found.last != kindClosed
	}
	s.durable = s.next
	if err := s.opened(); err != nil {
		s.broken = true // viewing what is there needs no writing
	}
	s.measure()
	return nil
}

// removeEmpty removes files that were being created when that failed.
func (s *Spool) removeEmpty() error {
	var files []*logFile
	for i, l := range s.files {
		if l.size > headerBytes {
			files = append(files, l)
			continue
		}
		if i == len(s.files)-1 {
			s.unclean, s.next = true, l.first
		}
		_ = l.f.Close()
		if err := s.disk.remove(l.name); err != nil {
			return err
		}
	}
	s.setFiles(files)
	return nil
}

// opened says in the log that the spool was opened, and then, where that is missing, what the key
// is.
func (s *Spool) opened() error {
	if !s.marked {
		if err := s.mark(kindOpened); err != nil {
			return err
		}
		s.marked = true
	}
	if s.keyless {
		if err := s.writeKey(); err != nil {
			return err
		}
		s.keyless = false
	}
	return nil
}

// took notes what reading a file has found.
func (s *Spool) took(l *logFile, found scan) {
	s.mu.Lock()
	l.messages, l.read = found.messages, true
	s.mu.Unlock()
	for _, d := range found.damage {
		d.File = l.name
		s.note(d)
	}
}

// note remembers damage and says so.
func (s *Spool) note(d Damage) {
	s.cfg.Logger.Warn("the spool is damaged", "folder", s.dir, "what", d.String())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Lost += d.Lost
	if len(s.stats.Damage) < maxDamage {
		s.stats.Damage = append(slices.Clip(s.stats.Damage), d.String())
	}
}

func (s *Spool) setFiles(files []*logFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = slices.Clip(files)
}

func (s *Spool) list() []*logFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files
}

// explain puts a failure into words.
func (s *Spool) explain(err error) error {
	if errors.Is(err, errInUse) {
		return fmt.Errorf("the spool in %s %w", s.dir, err)
	}
	return fmt.Errorf("the spool in %s: %w", s.dir, err)
}

// Unclean reports whether the spool was not closed in good order before Open: its process was
// killed, or the machine stopped. What it had been delivered and had not acknowledged comes again.
func (s *Spool) Unclean() bool { return s.unclean }

// Key is a secret of the spool's own for fingerprints, the same whenever it is opened.
func (s *Spool) Key() [32]byte { return s.key }

// Dir is the spool's folder.
func (s *Spool) Dir() string { return filepath.Clean(s.dir) }

// Close says in the log that it ends in good order, and closes it.
func (s *Spool) Close() error {
	s.stop()
	s.reading.Wait()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.restore() // what was deleted and is still open is lost after this
	if err == nil && !s.broken && s.marked {
		err = s.mark(kindClosed)
	}
	s.closeFiles()
	return errors.Join(err, s.disk.unlock())
}

func (s *Spool) closeFiles() {
	for _, l := range s.list() {
		_ = l.f.Close()
	}
	s.setFiles(nil)
}

// Stats returns figures about the spool now.
func (s *Spool) Stats() source.Spool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// measure updates the figures.
func (s *Spool) measure() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Messages, s.stats.Bytes = 0, 0
	for _, l := range s.files {
		s.stats.Messages += l.messages
		s.stats.Bytes += l.size
	}
}

// fileBytes is how large a file grows before the next one is begun.
func (s *Spool) fileBytes() int64 { return max(s.cfg.MaxBytes/fileParts, minFileBytes) }

// largest is how large a frame may be.
func (s *Spool) largest() int64 { return s.cfg.MaxBytes - reserve }
