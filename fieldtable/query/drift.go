package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Keys are the headers at top level of the messages that match.
type Keys struct {
	// Keys are by falling count of messages, then by name.
	Keys    []KeyCount
	Matched uint64
	// Bounded: there are more names than are told apart.
	Bounded  bool
	Complete bool
	Explain
}

// KeyCount is how many messages carry a header, and with which types: several tags
// are a drift of its type.
type KeyCount struct {
	Key   string
	Count uint64
	Tags  map[byte]uint64
}

const maxKeys = 20_000

// KeyCounts counts the headers of all messages that match. A message counts once
// for a name, with the tag of the first header of that name.
func (q *Query) KeyCounts(ctx context.Context, s archive.Snapshot, r PageRequest) (Keys, error) {
	var workers []*keyCounter
	explain, err := q.scan(ctx, s, r, func() collector {
		c := &keyCounter{
			dialect: orLenient(cmp.Or(r.Dialect, r.ArchiveDialect)),
			shapes:  map[uint16]uint64{},
			keys:    map[string]*KeyCount{},
		}
		c.shaped = c.dialect == orLenient(r.ArchiveDialect)
		workers = append(workers, c)
		return c
	})
	k := Keys{Complete: err == nil, Explain: explain}
	var total keyCounter
	total.keys = map[string]*KeyCount{}
	for _, c := range workers {
		k.Matched += c.matched
		for id, n := range c.shapes {
			total.addShape(s.Shape(id), n)
		}
		for _, key := range c.keys {
			for tag, n := range key.Tags {
				total.add(key.Key, tag, n)
			}
		}
		k.Bounded = k.Bounded || c.bounded
	}
	k.Bounded = k.Bounded || total.bounded
	for _, key := range total.keys {
		k.Keys = append(k.Keys, *key)
	}
	slices.SortFunc(k.Keys, func(a, b KeyCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
	})
	return k, err
}

// keyCounter is one worker's share: counts of shapes, and of the keys of messages
// without one.
type keyCounter struct {
	dialect *fieldtable.Dialect
	shaped  bool
	shapes  map[uint16]uint64
	keys    map[string]*KeyCount
	seen    map[string]struct{}
	matched uint64
	bounded bool
}

func (c *keyCounter) shape(id uint16, n uint64) bool {
	if id == archive.Unshaped {
		return false
	}
	c.matched += n
	c.shapes[id] += n
	return true
}

func (c *keyCounter) message(m archive.Message) {
	if id, ok := m.ShapeID(); ok && c.shaped {
		c.shape(id, 1)
		return
	}
	c.matched++
	encoded, ok := m.HeaderTable()
	if !ok {
		return
	}
	clear(c.seen)
	if c.seen == nil {
		c.seen = map[string]struct{}{}
	}
	scan := fieldtable.View(encoded, c.dialect).Scan()
	for scan.Next() {
		f := scan.Field()
		if _, again := c.seen[string(f.Name)]; again {
			continue
		}
		name := string(f.Name)
		c.seen[name] = struct{}{}
		c.add(name, f.Value.Tag(), 1)
	}
}

func (c *keyCounter) addShape(sh *archive.Shape, n uint64) {
	if sh == nil || n == 0 {
		return
	}
	for i, f := range sh.Fields {
		if sh.Duplicates && slices.ContainsFunc(sh.Fields[:i], func(e archive.ShapeField) bool { return e.Name == f.Name }) {
			continue
		}
		c.add(f.Name, f.Tag, n)
	}
}

func (c *keyCounter) add(name string, tag byte, n uint64) {
	k := c.keys[name]
	if k == nil {
		if len(c.keys) == maxKeys {
			c.bounded = true
			return
		}
		k = &KeyCount{Key: name, Tags: map[byte]uint64{}}
		c.keys[name] = k
	}
	k.Count += n
	k.Tags[tag] += n
}
