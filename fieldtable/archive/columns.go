package archive

import (
	"hash/maphash"
	"sync"

	"github.com/headerglass/headerglass/fieldtable"
)

// ColumnName is what a column is kept under: whatever is built under one name is the same. Dialect
// is the one that the messages were read under.
type ColumnName struct {
	Name    string
	Dialect *fieldtable.Dialect
}

// Columns gives one question the columns of a snapshot. It is safe for concurrent use.
type Columns struct {
	cache    *columnCache
	question uint64
}

// Columns begins a question.
func (s Snapshot) Columns() Columns { return Columns{s.columns, s.columns.ask()} }

// Of returns the column of a segment, which read builds where it is not kept. It is nil where the
// segment is the newest, which still grows, and where there is no room for the column: then the
// messages have to be read. read is called at most once and must add every message of the segment.
func (c Columns) Of(g Segment, name ColumnName, b *ColumnBuilder, read func(*ColumnBuilder)) *Column {
	if !g.sealed {
		return nil
	}
	kept, room := c.cache.get(g, name, c.question)
	if kept != nil || !room {
		return kept
	}
	b.begin(g.Len(), c.cache.seed)
	read(b)
	if len(b.codes) != g.Len() {
		panic("archive: a column must have every message of its segment")
	}
	built := b.column()
	c.cache.add(g, name, built, c.question)
	return built
}

// columnCache keeps the columns of the segments in use, those of each name together: a question
// goes through all segments, so that its columns are wanted all or none. Where there is no room,
// the names that no question has used for the longest go first, but never those of the same
// question or a later one: what does not fit then is not kept, and read again.
type columnCache struct {
	seed maphash.Seed
	max  int64

	mu        sync.Mutex
	questions uint64
	first     uint64 // number of the oldest message kept: columns before are let go of
	bytes     int64  // of all, their names included
	names     map[ColumnName]*namedColumns
}

// namedColumns is guarded by the cache's mu.
type namedColumns struct {
	used     uint64 // the last question
	bytes    int64
	segments map[uint64]*Column // by the number of the segment's first message
}

const (
	// maxColumnNames bounds how many names are remembered, however little they take.
	maxColumnNames = 256
	nameBytes      = 512 // what a name takes beside its octets and columns
)

func newColumnCache(limit int64) *columnCache {
	return &columnCache{seed: maphash.MakeSeed(), max: limit, names: make(map[ColumnName]*namedColumns)}
}

// ask returns the number of a new question.
func (c *columnCache) ask() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.questions++
	return c.questions
}

// get returns a column; nil: it is not kept. room says whether it could be.
func (c *columnCache) get(g Segment, name ColumnName, question uint64) (kept *Column, room bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.names[name]
	if n != nil {
		n.used = max(n.used, question)
		if kept = n.segments[g.First()]; kept != nil {
			return kept, true
		}
	}
	least := columnBytes + 2*int64(g.Len())
	if n == nil {
		least += nameBytes + int64(len(name.Name))
	}
	return nil, g.First() >= c.first && c.makeRoom(name, least, question)
}

// add keeps a column if there is room for it and its segment is still in use.
func (c *columnCache) add(g Segment, name ColumnName, built *Column, question uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.names[name]
	size := built.bytes()
	if n == nil {
		size += nameBytes + int64(len(name.Name))
	} else if n.segments[g.First()] != nil {
		return // another question was faster
	}
	if g.First() < c.first || !c.makeRoom(name, size, question) {
		return
	}
	if n == nil {
		n = &namedColumns{segments: make(map[uint64]*Column)}
		c.names[name] = n
	}
	n.used = max(n.used, question)
	n.segments[g.First()] = built
	n.bytes += size
	c.bytes += size
}

// makeRoom drops names until size more bytes fit, and one more name if this one is new.
func (c *columnCache) makeRoom(name ColumnName, size int64, question uint64) bool {
	for c.bytes+size > c.max || c.names[name] == nil && len(c.names) >= maxColumnNames {
		var oldest ColumnName
		var of *namedColumns
		for other, n := range c.names {
			if other != name && n.used < question && (of == nil || n.used < of.used) {
				oldest, of = other, n
			}
		}
		if of == nil {
			return false
		}
		c.bytes -= of.bytes
		delete(c.names, oldest)
	}
	return true
}

// drop lets go of the columns of an evicted segment.
func (c *columnCache) drop(s *segment, n uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first = s.base + uint64(n)
	for _, named := range c.names {
		if gone := named.segments[s.base]; gone != nil {
			delete(named.segments, s.base)
			named.bytes -= gone.bytes()
			c.bytes -= gone.bytes()
		}
	}
}

func (c *columnCache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
