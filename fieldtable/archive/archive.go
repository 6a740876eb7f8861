package archive

import (
	"cmp"
	"errors"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
)

// Config configures an Archive. The zero value is usable.
type Config struct {
	// bound on segments, shapes and columns together; 0: 256 MiB, at least 64 KiB
	MaxBytes  int64
	BodyLimit int                 // octets kept of a body; 0: 64 KiB, negative: none
	Dialect   *fieldtable.Dialect // reads the tags for shapes and marks; nil: Lenient
	// 0: a 64th of MaxBytes, between 256 KiB and 4 MiB; at most an eighth of MaxBytes
	SegmentBytes int
	MaxShapes    int // 0 or more than 65,535: 65,535
	// what to remove from messages before they are stored; nil: nothing
	Redact *Redaction
	// where the messages come from
	Origin Origin
}

// The bounds of a Config that has none.
const (
	DefaultMaxBytes  = 256 << 20
	DefaultBodyLimit = 64 << 10
)

const (
	minMaxBytes = 64 << 10
	minSegment  = 256 << 10
	maxSegment  = 4 << 20
	maxShapes   = 1<<16 - 1
	shapeShare  = 32 // shapes take at most one part in so many of MaxBytes
	columnShare = 8  // columns likewise
)

func (c Config) withDefaults() Config {
	c.MaxBytes = max(cmp.Or(c.MaxBytes, DefaultMaxBytes), minMaxBytes)
	c.BodyLimit = max(cmp.Or(c.BodyLimit, DefaultBodyLimit), 0)
	if c.Dialect == nil {
		c.Dialect = fieldtable.Lenient()
	}
	if c.SegmentBytes <= 0 {
		c.SegmentBytes = int(min(max(c.MaxBytes/64, minSegment), maxSegment))
	}
	c.SegmentBytes = int(min(int64(c.SegmentBytes), c.MaxBytes/8))
	if c.MaxShapes <= 0 || c.MaxShapes > maxShapes {
		c.MaxShapes = maxShapes
	}
	return c
}

// segmentBudget is the part of MaxBytes that segments may take.
func (c Config) segmentBudget() int64 { return c.MaxBytes - c.shapeBudget() - c.columnBudget() }

func (c Config) shapeBudget() int64 { return c.MaxBytes / shapeShare }

func (c Config) columnBudget() int64 { return c.MaxBytes / columnShare }

// ErrEvicted and ErrNotYet say why a snapshot does not have a message.
var (
	ErrEvicted = errors.New("the message has been evicted: older messages make room for newer ones")
	ErrNotYet  = errors.New("no message with this number has arrived yet")
)

// Archive is the store. See the package documentation for its bounds and for who may call what.
type Archive struct {
	cfg Config

	// state is replaced as a whole by the writer and never edited, with two exceptions that both
	// only add: the last segment's n grows, and empty slots of shapes are filled.
	state atomic.Pointer[state]

	writer   Writer
	arrivals *arrivals
	columns  *columnCache
	evicted  atomic.Int64  // octets ever
	pinned   *atomic.Int64 // evicted octets not yet collected
	bell     bell
}

// state is what readers see.
type state struct {
	// Consecutive: each segment begins at the number after the last of the one before. All but the
	// last are sealed: their n and counts do not change any more. Never empty.
	segments []*segment
	shapes   *shapeTable
	bytes    int64 // memory of the segments and the shapes' estimate when the state was made
}

// New returns an empty archive.
func New(cfg Config) *Archive {
	a := &Archive{
		cfg:      cfg.withDefaults(),
		arrivals: newArrivals(),
		columns:  newColumnCache(cfg.withDefaults().columnBudget()),
		pinned:   new(atomic.Int64),
	}
	a.writer = newWriter(a)
	return a
}

// Writer returns the archive's only writer. One goroutine at a time may use it; a message that was
// begun and not committed is forgotten by the next Begin.
func (a *Archive) Writer() *Writer { return &a.writer }

// Dialect is the one that shapes and marks were read under.
func (a *Archive) Dialect() *fieldtable.Dialect { return a.cfg.Dialect }

// BodyLimit is how many octets are kept of a body.
func (a *Archive) BodyLimit() int { return a.cfg.BodyLimit }

// Snapshot returns what the archive holds now. It takes no lock and copies nothing.
func (a *Archive) Snapshot() Snapshot {
	for {
		st := a.state.Load()
		n := st.segments[len(st.segments)-1].n.Load()
		// A message counted in n may have a shape of a newer state. If the state is still the same,
		// every message in n was committed under it.
		if a.state.Load() == st {
			return Snapshot{st: st, n: n, arrivals: a.arrivals, columns: a.columns, dialect: a.cfg.Dialect}
		}
	}
}

// EvictedBytes is how much memory of segments was ever evicted. What a snapshot keeps from being
// freed is at most what it has grown by since before the snapshot was taken.
func (a *Archive) EvictedBytes() int64 { return a.evicted.Load() }

// Stats are figures about an archive at one moment.
type Stats struct {
	Stored   uint64 // messages ever committed
	Evicted  uint64 // of these, messages that are gone
	Bytes    int64  // memory of the segments, shapes and columns
	MaxBytes int64  // its bound
	Columns  int64  // of Bytes, memory of the columns
	// evicted memory that snapshots still use or the garbage collector has not yet freed
	Pinned   int64
	Segments int       // in use
	Shapes   int       // interned
	Unshaped uint64    // messages kept without a shape
	Oldest   time.Time // when the oldest message kept was received; zero: none kept
}

// Stats returns figures about the archive now.
func (a *Archive) Stats() Stats {
	s, columns := a.Snapshot(), a.columns.size()
	stats := Stats{
		Stored:   s.Last(),
		Evicted:  s.First() - 1,
		Bytes:    s.st.bytes + columns,
		Columns:  columns,
		MaxBytes: a.cfg.MaxBytes,
		Pinned:   a.pinned.Load(),
		Segments: len(s.st.segments),
		Shapes:   s.st.shapes.len(),
		Unshaped: s.ShapeCounts()[Unshaped],
	}
	if m, err := s.Get(s.First()); err == nil {
		stats.Oldest = m.Received()
	}
	return stats
}
