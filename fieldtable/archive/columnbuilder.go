package archive

import (
	"hash/maphash"
	"slices"
)

// ColumnBuilder collects a column, message after message. Its memory is used again for the next
// one. The zero value is ready; one goroutine uses it at a time.
type ColumnBuilder struct {
	// Key appends the key of a value. Values that a question takes for equal must have the same
	// key. ok is false for a value that has none; in a keyed column its message is Unread. Nil: no
	// value has.
	Key func(dst, value []byte) (key []byte, ok bool)
	// Entries bounds the dictionary: with more distinct values the column is keyed. 0: an eighth of
	// the messages.
	Entries int

	messages int
	codes    []uint16

	// The dictionary, until there are too many values.
	counts []uint32
	ends   []uint32
	values []byte
	index  map[string]uint16
	last   uint16 // code of the last value: the next message often has the same

	keyed  bool
	seed   maphash.Seed
	hashes []uint64
	key    []byte
}

const (
	// A dictionary has room for one entry in so many messages, and some at least; its values take
	// at most so many octets a message.
	entryShare   = 8
	leastEntries = 64
	valueShare   = 32
)

// begin makes b ready for a segment of so many messages.
func (b *ColumnBuilder) begin(messages int, seed maphash.Seed) {
	if b.index == nil {
		b.index = make(map[string]uint16)
	}
	clear(b.index)
	b.messages, b.seed, b.keyed, b.last = messages, seed, false, NoValue
	b.codes, b.hashes = b.codes[:0], b.hashes[:0]
	b.counts, b.ends, b.values = append(b.counts[:0], 0, 0, 0), b.ends[:0], b.values[:0]
}

// None adds a message without a value.
func (b *ColumnBuilder) None() { b.add(NoValue) }

// Hidden adds a message with damage where a value may be.
func (b *ColumnBuilder) Hidden() { b.add(Hidden) }

// Unread adds a message whose value only reading tells.
func (b *ColumnBuilder) Unread() { b.add(Unread) }

// Value adds a message with a value, which is not kept.
func (b *ColumnBuilder) Value(value []byte) {
	if !b.keyed {
		if b.last >= FirstValue && string(b.value(b.last)) == string(value) {
			b.add(b.last)
			return
		}
		if code, ok := b.entry(value); ok {
			b.last = code
			b.add(code)
			return
		}
		b.toKeyed()
	}
	b.add(b.hash(value))
}

func (b *ColumnBuilder) add(code uint16) {
	b.codes = append(b.codes, code)
	if int(code) < len(b.counts) {
		b.counts[code]++
	}
}

func (b *ColumnBuilder) value(code uint16) []byte { return entryOf(b.values, b.ends, code) }

// entry returns the code of a value in the dictionary. ok is false where there is no room for it.
func (b *ColumnBuilder) entry(value []byte) (code uint16, ok bool) {
	if code, ok = b.index[string(value)]; ok {
		return code, true
	}
	most := min(max(b.messages/entryShare, leastEntries), maxEntries)
	if b.Entries > 0 {
		most = min(b.Entries, maxEntries)
	}
	if len(b.ends) >= most || len(b.values)+len(value) > valueShare*max(b.messages, leastEntries) {
		return 0, false
	}
	code = uint16(len(b.counts)) // #nosec G115 -- at most maxEntries
	b.index[string(value)] = code
	b.counts = append(b.counts, 0)
	b.values = append(b.values, value...)
	b.ends = append(b.ends, uint32(len(b.values))) // #nosec G115 -- far below
	return code, true
}

// toKeyed gives the messages so far the codes of a keyed column.
func (b *ColumnBuilder) toKeyed() {
	codes := []uint16{NoValue, Hidden, Unread}
	for i := range b.ends {
		codes = append(codes, b.hash(b.value(FirstValue+uint16(i)))) // #nosec G115 -- at most maxEntries
	}
	b.counts, b.keyed = b.counts[:FirstValue], true
	clear(b.counts)
	before := b.codes
	b.codes = b.codes[:0]
	for _, code := range before {
		b.add(codes[code])
	}
}

func (b *ColumnBuilder) hash(value []byte) (code uint16) {
	ok := b.Key != nil
	if ok {
		b.key, ok = b.Key(b.key[:0], value)
	}
	if !ok {
		return Unread
	}
	h := maphash.Bytes(b.seed, b.key)
	b.hashes = append(b.hashes, h)
	return codeOf(h)
}

// column is what was collected.
func (b *ColumnBuilder) column() *Column {
	c := &Column{codes: slices.Clone(b.codes), counts: slices.Clone(b.counts), seed: b.seed}
	if b.keyed {
		c.keys = newFilter(b.hashes)
	} else {
		c.ends, c.values = slices.Clone(b.ends), slices.Clone(b.values)
	}
	return c
}
