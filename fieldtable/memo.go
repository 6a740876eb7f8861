package fieldtable

import (
	"hash/maphash"
	"sync"
)

// Memo answers repeated lookups in one table from at most one pass over it: it remembers the fields
// that it came across and where it stopped, so that a hit, a miss and a key already passed cost no
// second scan. It is safe for concurrent use.
type Memo struct {
	seed maphash.Seed

	mu   sync.Mutex
	scan Scanner
	// slots is a hash table of the fields that scan has passed, of duplicates only the first. Its
	// length is 0 or a power of two, and at most 3 in 4 are used, so that every probe ends at an
	// empty one.
	slots []memoSlot
	used  int
	// err is nil until scan has come to its end; then every key that is not in slots gets it:
	// ErrAbsent or the damage.
	err error
}

// memoSlot is empty if start is 0: no field begins where a table's length is.
type memoSlot struct{ hash, start uint64 }

// NewMemo returns a Memo that has read nothing yet.
func NewMemo(t Table) *Memo {
	return &Memo{seed: maphash.MakeSeed(), scan: t.Scan()}
}

// Lookup answers as Table.Lookup does.
func (m *Memo) Lookup(key string) (Value, error) {
	hash := maphash.String(m.seed, key)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.slots) > 0 {
		if slot := slotOf(m, hash, key); slot.start != 0 {
			return m.value(slot.start), nil
		}
	}
	for m.err == nil && m.scan.Next() {
		if m.keep() && string(m.scan.Name()) == key {
			return m.scan.Value(), nil
		}
	}
	if m.err == nil {
		if m.err = m.scan.Err(); m.err == nil {
			m.err = ErrAbsent
		}
	}
	return Value{}, m.err
}

// keep remembers the field that scan has just read. It returns false for a duplicate.
func (m *Memo) keep() bool {
	if 4*m.used >= 3*len(m.slots) {
		m.grow()
	}
	name := m.scan.Name()
	hash := maphash.Bytes(m.seed, name)
	slot := slotOf(m, hash, name)
	if slot.start != 0 {
		return false
	}
	*slot = memoSlot{hash, m.scan.start}
	m.used++
	return true
}

// slotOf returns the slot of the name, or the empty one where it belongs.
func slotOf[T string | []byte](m *Memo, hash uint64, name T) *memoSlot {
	mask := uint64(len(m.slots) - 1)
	for i := hash; ; i++ {
		slot := &m.slots[i&mask]
		if slot.start == 0 || slot.hash == hash && string(m.name(slot.start)) == string(name) {
			return slot
		}
	}
}

func (m *Memo) name(start uint64) []byte {
	b := m.scan.root[start:]
	return b[1 : 1+uint64(b[0])]
}

// value measures the field at start, which scan has passed, again.
func (m *Memo) value(start uint64) Value {
	s := &m.scan
	tagAt := start + 1 + uint64(s.root[start])
	return newValue(s.root, s.d, s.depth, tagAt, s.w.exactExtent(s.root[:s.end], tagAt))
}

func (m *Memo) grow() {
	old := m.slots
	m.slots = make([]memoSlot, max(16, 2*len(old)))
	mask := uint64(len(m.slots) - 1)
	for _, slot := range old {
		if slot.start == 0 {
			continue
		}
		i := slot.hash
		for m.slots[i&mask].start != 0 {
			i++
		}
		m.slots[i&mask] = slot
	}
}
