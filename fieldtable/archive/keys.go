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
	var ids []uint16
	for id := range s.Shapes() {
		if counts[id] > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b uint16) int { return cmp.Compare(counts[b], counts[a]) })

	k := keyCounter{index: make(map[string]int)}
	for _, id := range ids {
		for _, f := range s.Shape(id).Fields {
			k.add(f.Name, f.Tag, counts[id])
		}
		k.message++
	}
	if counts[Unshaped] > 0 {
		k.addUnshaped(s)
	}
	slices.SortFunc(k.keys, func(a, b keyTotal) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
	})
	list := make([]KeyCount, len(k.keys))
	for i, t := range k.keys {
		list[i] = t.KeyCount
	}
	return list
}

// keyCounter adds up names over shapes and messages.
type keyCounter struct {
	index   map[string]int // into keys
	keys    []keyTotal
	message int // the shape or message being added, so that duplicates in it count once
	walked  int
}

type keyTotal struct {
	KeyCount
	message int
	times   int    // in this message
	tags    []byte // counted for this message
}

func (k *keyCounter) add(name string, tag byte, n uint64) {
	i, ok := k.index[name]
	if !ok {
		if len(k.keys) == MaxKeys {
			return
		}
		i = len(k.keys)
		k.index[name] = i
		k.keys = append(k.keys, keyTotal{KeyCount: KeyCount{Key: name, Tags: make(map[byte]uint64, 1)}, message: -1})
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

func (k *keyCounter) addUnshaped(s Snapshot) {
	for g, n := range s.SegmentsBackward(0) {
		if counts := g.ShapeCounts(); len(counts) == 0 || counts[0].ID != Unshaped {
			continue
		}
		for i := n - 1; i >= 0; i-- {
			if g.ShapeAt(i) != Unshaped {
				continue
			}
			table, _ := g.At(i).HeaderTable()
			names := fieldtable.View(table, s.dialect).Scan()
			for at := names.Offset(); names.Skip(); at = names.Offset() {
				if k.walked++; k.walked > maxWalked {
					return
				}
				tagAt := at + 1 + int(table[at])
				k.addBytes(table[at+1:tagAt], table[tagAt])
			}
			k.message++
		}
	}
}

// addBytes is add for one message, without a copy of a name that is known.
func (k *keyCounter) addBytes(name []byte, tag byte) {
	if i, ok := k.index[string(name)]; ok {
		k.add(k.keys[i].Key, tag, 1)
	} else if len(k.keys) < MaxKeys {
		k.add(string(name), tag, 1)
	}
}
