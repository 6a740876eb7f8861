package archive

import (
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"math/bits"
	"slices"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Span is a run of octets of a content header payload.
type Span struct{ From, To int }

// blanker finds what a Redaction removes from content headers. It belongs to the writer and keeps
// its memory for the next message.
type blanker struct {
	*Redaction
	dialect *fieldtable.Dialect
	// others are the dialects that read some tag with another width than dialect does; contested
	// has, for each tag, the bits of those that do so with it. In a table with such a tag, the
	// fields after it may begin elsewhere for them, so names are looked for under each of them too.
	others    []*fieldtable.Dialect
	contested [256]uint64

	// The table being looked through.
	encoded  []byte
	base     int                 // where it begins in the payload
	reading  *fieldtable.Dialect // dialect, or one of others
	disputed uint64              // bits of others that disagree on a value met so far

	// known remembers what header answered: most names come again. It has at most knownNames
	// entries.
	known map[string]bool

	fills   []blankFill // what to overwrite
	removed []Span      // what to report as removed
}

type blankFill struct {
	Span
	octet byte
}

const knownNames = 4096

// hits is header with a memory.
func (b *blanker) hits(name []byte) bool {
	hit, ok := b.known[string(name)]
	if !ok {
		hit = b.header(name)
		if len(b.known) >= knownNames {
			clear(b.known)
		}
		b.known[string(name)] = hit
	}
	return hit
}

// newBlanker returns nil where nothing is to be removed. Messages are read in d, and as those of
// all read them that disagree with it on where a value ends.
func newBlanker(r *Redaction, d *fieldtable.Dialect, all []*fieldtable.Dialect) *blanker {
	if r == nil {
		return nil
	}
	b := &blanker{Redaction: r, dialect: d, known: make(map[string]bool)}
	for tag := range b.contested {
		for _, rival := range d.Rivals(byte(tag), all) {
			i := slices.Index(b.others, rival)
			if i < 0 {
				i = len(b.others)
				b.others = append(b.others, rival)
			}
			b.contested[tag] |= 1 << i
		}
	}
	return b
}

// find works out what is to be removed from a payload, which it only reads. Afterwards removed is
// in order and without overlaps.
func (b *blanker) find(payload []byte) {
	b.fills, b.removed = b.fills[:0], b.removed[:0]
	h := wire.ViewContentHeader(payload)
	for p, err := range h.All() {
		if err != nil {
			b.unnamed(err, len(payload))
			break
		}
		if slices.Contains(b.properties, p.Name) {
			octet := byte(0)
			if _, text := p.Text(); text {
				octet = '*'
			}
			b.remove(Span{p.End - len(p.Raw), p.End}, octet)
		}
	}
	if table, ok := h.HeaderTable(); ok && len(b.headers) > 0 {
		b.table(table, h.HeaderTableOffset())
	}
	slices.SortFunc(b.removed, func(a, c Span) int { return cmp.Compare(a.From, c.From) })
	b.removed = mergeSpans(b.removed)
}

// unnamed removes what follows damage in the property list: octets whose property is not known.
func (b *blanker) unnamed(damage error, end int) {
	e, ok := errors.AsType[*wire.PropertyError](damage)
	if !ok {
		return
	}
	from := e.Offset
	if e.Err == wire.ErrPropertyTruncated {
		switch wire.FormOf(e.Name) {
		case wire.FormTable:
			return // table sees to it
		case wire.FormShortStr:
			from++ // its length stays
		}
	}
	b.remove(Span{from, end}, '*')
}

// table looks for headers in the table that begins at offset base of the payload.
func (b *blanker) table(encoded []byte, base int) {
	b.encoded, b.base, b.reading, b.disputed = encoded, base, b.dialect, 0
	defer func() { b.encoded = nil }()
	t := fieldtable.View(encoded, b.dialect)
	if n, ok := t.DeclaredLen(); !ok || uint64(n)+4 > uint64(len(encoded)) {
		b.remove(Span{base + min(4, len(encoded)), base + len(encoded)}, '*')
		return
	}
	b.walk(t.Scan(), len(encoded), walkMode{named: true, certain: true})
	for walked := uint64(0); b.disputed&^walked != 0; { // the other readings may meet other tags
		i := bits.TrailingZeros64(b.disputed &^ walked)
		walked |= 1 << i
		b.reading = b.others[i]
		b.walk(fieldtable.View(encoded, b.reading).Scan(), len(encoded), walkMode{named: true})
	}
}

// walkMode says what is walked, and what to remove from it where no name in it asks for that.
type walkMode struct {
	named   bool // a table, not an array
	all     bool // everything: a name around it asked for it
	certain bool // what cannot be read: no other reading is any likelier
}

// walk looks through a table or an array that ends at offset end of the outermost table. Its
// recursion is bounded because fieldtable takes nesting beyond MaxDepth for damage.
func (b *blanker) walk(s fieldtable.Scanner, end int, mode walkMode) {
	for s.Next() {
		v, name := s.Value(), s.Name()
		b.disputed |= b.contested[v.Tag()]
		hit := mode.all || mode.named && b.hits(name)
		payload := Span{b.base + v.End() - len(v.Raw()), b.base + v.End()}
		if mode.all {
			b.fill(Span{b.base + v.Offset() - len(name), b.base + v.Offset()}, '*')
		}
		switch v.Kind() {
		case fieldtable.KindTable, fieldtable.KindArray:
			if hit && !mode.all && payload.From < payload.To {
				b.removed = append(b.removed, payload)
			}
			inner := walkMode{all: hit, certain: mode.certain}
			if t, ok := v.Table(); ok {
				inner.named = true
				b.walk(t.Scan(), v.End(), inner)
			} else if a, ok := v.Array(); ok {
				b.walk(a.Scan(), v.End(), inner)
			}
		case fieldtable.KindLongStr, fieldtable.KindShortStr:
			if hit {
				b.remove(payload, '*')
			}
		default:
			if hit {
				b.remove(payload, 0)
			}
		}
	}
	if at := s.Offset(); at < end && (mode.all || mode.certain) {
		b.unreadable(at, end, mode.named)
	}
}

// unreadable removes what is left of a table or array from the element at offset at on, which
// cannot be read. What says so stays: the name or its length, the tag, the value's length. So the
// damage is the same afterwards.
func (b *blanker) unreadable(at, end int, named bool) {
	tagAt := at
	if named {
		tagAt += 1 + int(b.encoded[at])
	}
	from := tagAt + 1
	switch {
	case tagAt > end:
		from = at + 1
	case tagAt < end:
		from += b.reading.LengthOctets(b.encoded[tagAt])
	}
	b.remove(Span{b.base + min(from, end), b.base + end}, '*')
}

func (b *blanker) remove(s Span, octet byte) {
	if s.From < s.To {
		b.fill(s, octet)
		b.removed = append(b.removed, s)
	}
}

func (b *blanker) fill(s Span, octet byte) { b.fills = append(b.fills, blankFill{s, octet}) }

// apply overwrites what find has found, in a copy of the same payload.
func (b *blanker) apply(payload []byte) {
	for _, f := range b.fills {
		for i := f.From; i < f.To; i++ {
			payload[i] = f.octet
		}
	}
	if cap(b.fills) > keepScratch {
		b.fills, b.removed = nil, nil
	}
}

// mergeSpans joins spans, which are in order, where they overlap.
func mergeSpans(spans []Span) []Span {
	merged := spans[:0]
	for _, s := range spans {
		if n := len(merged); n > 0 && s.From < merged[n-1].To {
			merged[n-1].To = max(merged[n-1].To, s.To)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// appendSpans writes merged spans as pairs of varints: octets from the end of the one before, and
// octets long. It takes no more octets than the spans reach: none is empty, the first begins behind
// a fixed part of 14 octets, and only a property can begin where another span ends.
func appendSpans(dst []byte, spans []Span) []byte {
	at := 0
	for _, s := range spans {
		dst = binary.AppendUvarint(dst, uint64(s.From-at))
		dst = binary.AppendUvarint(dst, uint64(s.To-s.From))
		at = s.To
	}
	return dst
}

// readSpans yields what appendSpans wrote.
func readSpans(b []byte) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		at := 0
		for len(b) > 0 {
			skip, n := binary.Uvarint(b)
			size, m := binary.Uvarint(b[max(n, 0):])
			if n <= 0 || m <= 0 {
				return
			}
			from := at + int(skip)
			at = from + int(size)
			if !yield(Span{from, at}) {
				return
			}
			b = b[n+m:]
		}
	}
}
