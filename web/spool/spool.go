package spool

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

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
	fileName    = "messages.bolt"
	lockTimeout = time.Second
	pageBytes   = 16 << 10
	growBytes   = 4 << 20
	// reserve keeps the file within its bound although it grows in steps and a transaction needs
	// room before it frees any.
	reserve = 2*growBytes + 2*BatchBytes
	format  = "1"
)

// The buckets, and the keys of meta. Those of messages are consecutive numbers, 8 octets,
// big-endian.
var (
	messagesBucket = []byte("messages")
	metaBucket     = []byte("meta")
	formatKey      = []byte("format")
	secretKey      = []byte("fingerprint key")
	probeKey       = []byte("probe")
)

// ErrFull says that the bound is reached.
var ErrFull = errors.New("the spool has reached its bound")

// Config configures a Spool. The zero value is usable.
type Config struct {
	MaxBytes   int64 // bound on the file; 0: DefaultMaxBytes, at least MinMaxBytes
	DropOldest bool  // at the bound, drop the oldest messages instead of taking no more
}

// Spool keeps messages on disk. One goroutine at a time may use it; Stats is safe for all.
type Spool struct {
	cfg    Config
	dir    string
	db     *bbolt.DB
	secret [32]byte

	refused int64 // bytes that the last append could not write; 0: it could
	broken  bool  // an append failed, other than for the bound

	mu    sync.Mutex
	stats source.Spool
}

// Open opens the spool in a folder, or creates both. Only one process at a time may have it open.
func Open(dir string, cfg Config) (*Spool, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.MaxBytes < MinMaxBytes {
		return nil, fmt.Errorf("a spool has at least %d MiB", MinMaxBytes>>20)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the spool cannot be created: %w", err)
	}
	s := &Spool{cfg: cfg, dir: dir}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Spool) open() (err error) {
	defer s.explain(&err)
	defer recoverDamage(&err)
	defer guarded()()
	db, err := bbolt.Open(filepath.Join(s.dir, fileName), 0o600, &bbolt.Options{
		Timeout:      lockTimeout,
		FreelistType: bbolt.FreelistMapType,
		PageSize:     pageBytes,
	})
	if err != nil {
		return err
	}
	db.AllocSize = growBytes
	s.db = db
	if err = db.Update(s.begin); err == nil {
		err = syncDir(s.dir)
	}
	if err != nil {
		_ = db.Close()
		return err
	}
	s.measure(0)
	return nil
}

// begin reads what describes the spool, or writes it.
func (s *Spool) begin(tx *bbolt.Tx) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		var err error
		if meta, err = tx.CreateBucket(metaBucket); err != nil {
			return err
		}
		if _, err := tx.CreateBucketIfNotExists(messagesBucket); err != nil {
			return err
		}
		_, _ = rand.Read(s.secret[:])
		return errors.Join(meta.Put(formatKey, []byte(format)), meta.Put(secretKey, s.secret[:]))
	}
	if got := string(meta.Get(formatKey)); got != format || tx.Bucket(messagesBucket) == nil {
		return fmt.Errorf("it has format %q, and this version reads format %q", got, format)
	}
	copy(s.secret[:], meta.Get(secretKey))
	return nil
}

// explain puts a failure of the file into words.
func (s *Spool) explain(err *error) {
	switch {
	case *err == nil:
	case errors.Is(*err, berrors.ErrTimeout):
		*err = fmt.Errorf("the spool in %s is in use by another process", s.dir)
	case errors.Is(*err, berrors.ErrInvalid),
		errors.Is(*err, berrors.ErrChecksum),
		errors.Is(*err, berrors.ErrVersionMismatch):
		*err = fmt.Errorf("%s is damaged or is not a spool: %w", filepath.Join(s.dir, fileName), *err)
	default:
		*err = fmt.Errorf("the spool in %s: %w", s.dir, *err)
	}
}

// Key is a secret of the spool's own for fingerprints, the same whenever it is opened.
func (s *Spool) Key() [32]byte { return s.secret }

// Dir is the spool's folder.
func (s *Spool) Dir() string { return s.dir }

// Close closes the file.
func (s *Spool) Close() error { return s.db.Close() }

// Stats returns figures about the spool now.
func (s *Spool) Stats() source.Spool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// measure updates the figures after a transaction.
func (s *Spool) measure(dropped uint64) {
	st := s.db.Stats()
	var stats source.Spool
	_ = s.db.View(func(tx *bbolt.Tx) error {
		stats.Bytes = tx.Size() - int64(st.FreePageN+st.PendingPageN)*int64(s.db.Info().PageSize)
		c := tx.Bucket(messagesBucket).Cursor()
		first, _ := c.First()
		last, _ := c.Last()
		if first != nil {
			stats.Messages = number(last) - number(first) + 1
		}
		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	stats.MaxBytes, stats.Dropped = s.cfg.MaxBytes, s.stats.Dropped+dropped
	s.stats = stats
}

func number(key []byte) uint64 {
	if len(key) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key)
}

// cost is about what a record takes of the file.
func cost(r int) int64 {
	size := int64(r) + int64(r)/32 + 64
	if size > pageBytes/4 {
		size += pageBytes
	}
	return size
}

// syncDir makes sure that a new file in a folder outlives a crash of the machine, where folders can
// be synced.
func syncDir(dir string) error {
	f, err := os.Open(dir) // #nosec G304 -- the folder that --spool names
	if err != nil {
		return err
	}
	defer f.Close()
	_ = f.Sync()
	return nil
}
