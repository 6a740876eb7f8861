package archive

import (
	"sync/atomic"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// interner gives shapes their IDs and knows which are still in use. It belongs to the writer.
type interner struct {
	ids        map[string]uint16
	live       []uint32 // messages kept, by ID; as long as the table
	free       []uint16 // IDs to give out, the next one last
	dead       int      // shapes without a message kept
	bytes      int64
	maxBytes   int64
	maxShapes  int
	duplicates duplicates
}

func newInterner(cfg Config) interner {
	return interner{
		ids:        make(map[string]uint16),
		live:       make([]uint32, 1),
		maxBytes:   cfg.shapeBudget(),
		maxShapes:  cfg.MaxShapes,
		duplicates: newDuplicates(),
	}
}

// full reports whether there is no room for one shape more of this size.
func (in *interner) full(bytes int64) bool {
	return in.bytes+bytes > in.maxBytes || len(in.ids) >= in.maxShapes
}

func (in *interner) use(id uint16) {
	if id == Unshaped {
		return
	}
	if in.live[id] == 0 {
		in.dead--
	}
	in.live[id]++
}

func (in *interner) release(counts []ShapeCount) {
	for _, c := range counts {
		if c.ID == Unshaped {
			continue
		}
		in.live[c.ID] -= c.N
		if in.live[c.ID] == 0 {
			in.dead++
		}
	}
}

// intern returns the ID of the shape of a message with this content header payload, or Unshaped
// when there is no room for it, and whether a name occurs twice in it.
func (w *Writer) intern(k *shapeKey, payload []byte) (id uint16, duplicates bool) {
	in := &w.shapes
	if k.large {
		encoded, _ := wire.ViewContentHeader(payload).HeaderTable()
		return Unshaped, in.duplicates.inTable(fieldtable.View(encoded, w.a.cfg.Dialect), encoded)
	}
	key, fields := k.key, k.fields
	if id, ok := in.ids[string(key)]; ok {
		return id, w.st.shapes.get(id).Duplicates
	}
	duplicates = in.duplicates.in(key)
	bytes := shapeBytes(len(key), fields)
	if in.full(bytes) {
		// Reclaiming copies the table, so it must give back a good part of it.
		if in.dead <= len(in.ids)/8 {
			return Unshaped, duplicates
		}
		w.reclaimShapes()
		if in.full(bytes) {
			return Unshaped, duplicates
		}
	}
	if len(in.free) == 0 {
		w.growShapes()
	}
	id = in.free[len(in.free)-1]
	in.free = in.free[:len(in.free)-1]
	sh := newShape(string(key), fields, duplicates)
	in.ids[sh.key] = id
	in.bytes += bytes
	in.dead++
	w.st.shapes.slots[id].Store(sh)
	return id, duplicates
}

// growShapes publishes a larger table. It is called when every ID of the old one is in use.
func (w *Writer) growShapes() {
	const least = 64
	in := &w.shapes
	old := w.st.shapes.slots
	table := &shapeTable{slots: make([]atomic.Pointer[Shape], min(max(2*len(old), least), in.maxShapes+1))}
	for i := range old {
		table.slots[i].Store(old[i].Load())
	}
	for id := len(table.slots) - 1; id >= len(old); id-- {
		in.free = append(in.free, uint16(id))
	}
	in.live = append(in.live, make([]uint32, len(table.slots)-len(old))...)
	w.publish(w.st.segments, table)
}

// reclaimShapes publishes a table without the shapes that no message kept has, so that their IDs
// can be given to others. Snapshots taken before keep the table that their messages' IDs belong to.
func (w *Writer) reclaimShapes() {
	in := &w.shapes
	old := w.st.shapes.slots
	table := &shapeTable{slots: make([]atomic.Pointer[Shape], len(old))}
	for i := range old {
		sh := old[i].Load()
		switch {
		case sh == nil:
		case in.live[i] > 0:
			table.slots[i].Store(sh)
		default:
			delete(in.ids, sh.key)
			in.free = append(in.free, uint16(i))
			in.bytes -= sh.bytes()
		}
	}
	in.dead = 0
	w.publish(w.st.segments, table)
}
