package archive

import "hash/maphash"

// A Column is what the messages of one sealed segment have under one name: a code for each message
// and, apart from the segment, the values that the codes stand for. It is made by reading the
// messages once and never changes. What a value is, whoever builds the column says; to the column
// it is octets.
//
// Where there are few distinct values, a column has a dictionary of them, in the order of their
// first message. Where there are many, it is keyed: a code is 16 bits of a hash of the value's key,
// and a filter tells which keys no message has. Messages with the same key have the same code; so
// may others.
type Column struct {
	codes []uint16

	counts []uint32 // messages of each code; of a keyed column, those without a value that could be told
	// Of a dictionary: where each value ends, and all of them.
	ends   []uint32
	values []byte

	keys filter // nil: there is a dictionary
	seed maphash.Seed
}

// The codes of messages without a value that could be told, and the first of the others.
const (
	NoValue    uint16 = iota // there is none
	Hidden                   // damage comes before it, if there is any
	Unread                   // only the message itself tells
	FirstValue               // of a dictionary
)

// maxEntries bounds a dictionary by what a code can tell apart.
const maxEntries = 1<<16 - int(FirstValue)

// Codes has the code of each message of the segment. Not to be changed.
func (c *Column) Codes() []uint16 { return c.codes }

// Keyed reports whether the column has no dictionary.
func (c *Column) Keyed() bool { return c.keys != nil }

// Counts has for each code how many messages have it; of a keyed column for those before
// FirstValue only. Not to be changed.
func (c *Column) Counts() []uint32 { return c.counts }

// Value returns the value of a code of the dictionary. Not to be changed.
func (c *Column) Value(code uint16) []byte { return entryOf(c.values, c.ends, code) }

func entryOf(values []byte, ends []uint32, code uint16) []byte {
	i, start := code-FirstValue, uint32(0)
	if i > 0 {
		start = ends[i-1]
	}
	return values[start:ends[i]:ends[i]]
}

// Find returns the code of a key in a keyed column. ok is false where no message has the key; where
// it is true, messages with the code may have it.
func (c *Column) Find(key []byte) (code uint16, ok bool) {
	h := maphash.Bytes(c.seed, key)
	return codeOf(h), c.keys.has(h)
}

func codeOf(hash uint64) uint16 {
	code := uint16(hash) // #nosec G115 -- 16 bits of it
	if code < FirstValue {
		code += FirstValue
	}
	return code
}

// columnBytes is what a column takes beside its arrays: itself, and its place among the others.
const columnBytes = 256

func (c *Column) bytes() int64 {
	return columnBytes + 2*int64(cap(c.codes)) + 4*int64(cap(c.counts)+cap(c.ends)) +
		int64(cap(c.values)) + c.keys.bytes()
}
