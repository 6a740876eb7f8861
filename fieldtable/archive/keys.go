package archive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
)

// MaxKeys bounds the list that Keys returns.
const MaxKeys = 16384

// maxWalked is how many names are walked of messages without a shape.
const maxWalked = 1 << 17

// KeyCount is how many messages carry a header.
type KeyCount struct {
	Key   string          // the name's octets
	Count uint64          // messages that have it, each once
	Most  int             // the most fields of this name at the top level of one message
	Tags  map[byte]uint64 // messages that have it with this tag, each once for each tag
}

// Keys lists the names at the top level of the snapshot's header tables, most frequent first, then
// by name. Messages that have a shape are not touched; of those without one the names are walked,
// the newest first, until there were too many.
// Once the list has MaxKeys names, no other is added: the most frequent shapes come first, then the
// newest messages.
func (s Snapshot) Keys() []KeyCount {
	counts := s.ShapeCounts()
	k := s.KeyCounter()
	k.Shapes(counts)
	if counts[Unshaped] > 0 {
		k.addUnshaped(s)
	}
	return k.Keys()
}

// Damaged is how many messages of the snapshot are damaged somewhere. It reads their marks alone.
func (s Snapshot) Damaged() (n uint64) {
	var m Message
	for g, end := range s.SegmentsBackward(0) {
		for i := range end {
			if g.Load(i, &m); m.Marks().Damaged {
				n++
			}
		}
	}
	return n
}

// KeyCounter counts the names of some messages of a snapshot, as [Snapshot.Keys] does for all. It
// belongs to one goroutine.
type KeyCounter struct {
	snapshot Snapshot
	index    map[string]int // into keys
	keys     []keyTotal
	message  int // the shape or message being added, so that duplicates in it count once
	walked   int
}

type keyTotal struct {
	KeyCount
	message int
	times   int    // in this message
	tags    []byte // counted for this message
}

// KeyCounter returns a counter of names that has none.
func (s Snapshot) KeyCounter() *KeyCounter {
	return &KeyCounter{snapshot: s, index: make(map[string]int)}
}

// Shapes adds messages by their shapes: how many there are of each, indexed by ID. Those at
// Unshaped are left out.
func (k *KeyCounter) Shapes(counts []uint64) {
	var ids []uint16
	for id := range k.snapshot.Shapes() {
		if int(id) < len(counts) && counts[id] > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b uint16) int { return cmp.Compare(counts[b], counts[a]) })
	for _, id := range ids {
		for _, f := range k.snapshot.Shape(id).Fields {
			k.add(f.Name, f.Tag, counts[id])
		}
		k.message++
	}
}

// Message adds one message by its table. It reports whether it did: there is an end to how many
// names are walked.
func (k *KeyCounter) Message(m Message) bool {
	table, _ := m.HeaderTable()
	names := fieldtable.View(table, k.snapshot.dialect).Scan()
	for at := names.Offset(); names.Skip(); at = names.Offset() {
		if k.walked++; k.walked > maxWalked {
			return false
		}
		tagAt := at + 1 + int(table[at])
		k.addBytes(table[at+1:tagAt], table[tagAt])
	}
	k.message++
	return true
}

// Merge adds what another counter has counted, of other messages.
func (k *KeyCounter) Merge(other *KeyCounter) {
	for _, t := range other.keys {
		i, ok := k.place(t.Key)
		if !ok {
			continue
		}
		to := &k.keys[i]
		to.Count += t.Count
		to.Most = max(to.Most, t.Most)
		for tag, n := range t.Tags {
			to.Tags[tag] += n
		}
	}
}

// Keys lists what was counted in the order of [Snapshot.Keys].
func (k *KeyCounter) Keys() []KeyCount {
	list := make([]KeyCount, len(k.keys))
	for i, t := range k.keys {
		list[i] = t.KeyCount
	}
	slices.SortFunc(list, func(a, b KeyCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
	})
	return list
}

// place is where a name is counted; ok is false where there is no room for another.
func (k *KeyCounter) place(name string) (i int, ok bool) {
	if i, ok = k.index[name]; ok {
		return i, true
	}
	if len(k.keys) == MaxKeys {
		return 0, false
	}
	i = len(k.keys)
	k.index[name] = i
	k.keys = append(k.keys, keyTotal{KeyCount: KeyCount{Key: name, Tags: make(map[byte]uint64, 1)}, message: -1})
	return i, true
}

func (k *KeyCounter) add(name string, tag byte, n uint64) {
	i, ok := k.place(name)
	if !ok {
		return
	}
	t := &k.keys[i]
	if t.message != k.message {
		t.message, t.times, t.tags = k.message, 0, t.tags[:0]
		t.Count += n
	}
	t.times++
	t.Most = max(t.Most, t.times)
	if !slices.Contains(t.tags, tag) {
		t.tags = append(t.tags, tag)
		t.Tags[tag] += n
	}
}

func (k *KeyCounter) addUnshaped(s Snapshot) {
	for g, n := range s.SegmentsBackward(0) {
		if counts := g.ShapeCounts(); len(counts) == 0 || counts[0].ID != Unshaped {
			continue
		}
		for i := n - 1; i >= 0; i-- {
			if g.ShapeAt(i) == Unshaped && !k.Message(g.At(i)) {
				return
			}
		}
	}
}

// addBytes is add for one message, without a copy of a name that is known.
func (k *KeyCounter) addBytes(name []byte, tag byte) {
	if i, ok := k.index[string(name)]; ok {
		k.add(k.keys[i].Key, tag, 1)
	} else if len(k.keys) < MaxKeys {
		k.add(string(name), tag, 1)
	}
}
