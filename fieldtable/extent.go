package fieldtable

import (
	"encoding/binary"
	"math"
)

// widths says for every tag how far its value reaches, one code a tag:
//
//	0 to 8            the value is that many octets
//	prefixed | 4      a length of 4 octets, then as many as it says
//	… | inTable       the same, and what follows is a table (inArray: an array)
//	irregular | n     a length of n octets (1 or 2), or one of the codes below
type widths [256]uint8

const (
	sizeMask  = 0x0f
	inTable   = 0x10
	inArray   = 0x20
	irregular = 0x40
	prefixed  = 0x80

	noWidth = irregular
	tooDeep = irregular | sizeMask
)

// extent returns the offset after the value whose tag is b[at], which must be within b. It and
// exactExtent are the only places where a length from the input becomes an offset, and an offset
// within b is safe to slice at. One beyond b is for exactExtent to judge: extent is the part that
// is worth inlining, and knows neither irregular codes nor the last 4 octets.
func (w *widths) extent(b []byte, at uint64) uint64 {
	c := uint64(w[b[at]])
	if c < irregular {
		return at + 1 + c
	}
	// from < to, always so, lets the compiler drop the bounds check.
	if from, to := at+1, at+5; c >= prefixed && from < to && to <= uint64(len(b)) {
		return to + uint64(binary.BigEndian.Uint32(b[from:to]))
	}
	return math.MaxUint64
}

// exactExtent is extent for every case: if what it returns is beyond b too, the value does not fit
// or its tag has no width.
func (w *widths) exactExtent(b []byte, at uint64) uint64 {
	c := uint64(w[b[at]])
	size := c & sizeMask
	rest := b[at+1:]
	switch {
	case c == noWidth, c == tooDeep:
		return math.MaxUint64
	case c&(irregular|prefixed) == 0:
		return at + 1 + size
	case uint64(len(rest)) < size:
		return math.MaxUint64
	}
	var n uint64
	for _, octet := range rest[:size] {
		n = n<<8 | uint64(octet)
	}
	return at + 1 + size + n
}

// damage is a SyntaxError before its path is known.
type damage struct {
	reason reason
	at     uint64 // offset of the octet to blame
	tag    byte
	hasTag bool
}

// diagnose says what is wrong with the element at p, which extent or its name's length found not to
// fit in b.
func (w *widths) diagnose(b []byte, p uint64, named bool) damage {
	n, tagAt := uint64(len(b)), p
	if named {
		tagAt = p + 1 + uint64(b[p])
		if tagAt > n {
			return damage{reason: nameTruncated, at: p}
		}
		if tagAt == n {
			return damage{reason: missingTag, at: n}
		}
	}
	tag := b[tagAt]
	switch c := uint64(w[tag]); {
	case c == noWidth:
		return damage{unknownTag, tagAt, tag, true}
	case c == tooDeep:
		return damage{depthExceeded, tagAt, tag, true}
	case c&(irregular|prefixed) == 0:
		return damage{valueTruncated, tagAt + 1, tag, true}
	case n-tagAt-1 < c&sizeMask:
		return damage{lengthTruncated, tagAt + 1, tag, true}
	}
	return damage{lengthOverrun, tagAt + 1, tag, true}
}
