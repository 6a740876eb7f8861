package query

import (
	"bytes"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
)

// like is LIKE with % for any run of characters and _ for exactly one (a byte
// where the text is not UTF-8). As with =, a pattern in single quotes is for text
// only, one in double quotes is for the displayed text of any value.
type like struct {
	not     bool
	pattern literal
	escape  string // one character, or empty
	pieces  []piece
}

// piece is a run of the pattern without %.
type piece struct {
	// text is the run where it has no _.
	text []byte
	// runes is the run otherwise, with anyRune for _.
	runes []rune
	// masks has for each rune of runes the set of its places; bit i is place i.
	masks map[rune]uint64
	// ascii is masks for the first 128 runes, and anywhere the places of _.
	ascii    [utf8.RuneSelf]uint64
	anywhere uint64
}

const (
	anyRune = -1
	// byteRune + b stands for a byte that is not UTF-8.
	byteRune = utf8.MaxRune + 1
	// maxWild bounds a run with _ to the bits of a mask.
	maxWild = 64
)

// newLike compiles the pattern; problem says what is wrong with it.
func newLike(pattern literal, escape string, not bool) (l *like, problem string) {
	l = &like{not: not, pattern: pattern, escape: escape}
	var text []byte
	var runes []rune
	wild := false
	flush := func() bool {
		p := piece{text: text}
		if wild {
			if len(runes) > maxWild {
				return false
			}
			p = newWildPiece(runes)
		}
		l.pieces = append(l.pieces, p)
		text, runes, wild = nil, nil, false
		return true
	}
	rest := pattern.text
	for len(rest) > 0 {
		r, n := decode(rest)
		char := rest[:n]
		rest = rest[n:]
		switch {
		case string(char) == escape:
			if len(rest) == 0 {
				return nil, "The pattern ends with its escape character."
			}
			r, n = decode(rest)
			char, rest = rest[:n], rest[n:]
		case r == '%':
			if !flush() {
				return nil, "A run of the pattern with _ in it may have at most 64 characters between two %."
			}
			continue
		case r == '_':
			r, wild = anyRune, true
		}
		text, runes = append(text, char...), append(runes, r)
	}
	if !flush() {
		return nil, "A run of the pattern with _ in it may have at most 64 characters between two %."
	}
	// Empty pieces only matter at the two ends.
	kept := l.pieces[:1]
	for i := 1; i < len(l.pieces); i++ {
		if p := l.pieces[i]; i == len(l.pieces)-1 || p.runes != nil || len(p.text) > 0 {
			kept = append(kept, p)
		}
	}
	l.pieces = kept
	return l, ""
}

// decode is utf8.DecodeRune, but tells bytes that are not UTF-8 apart.
func decode(b []byte) (rune, int) {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		r = byteRune + rune(b[0])
	}
	return r, n
}

func newWildPiece(runes []rune) piece {
	p := piece{runes: runes, masks: map[rune]uint64{}}
	for i, r := range runes {
		switch {
		case r == anyRune:
			p.anywhere |= 1 << i
		case r < utf8.RuneSelf:
			p.ascii[r] |= 1 << i
		default:
			p.masks[r] |= 1 << i
		}
	}
	return p
}

// prefix returns the length of p at the start of b, or -1.
func (p *piece) prefix(b []byte) int {
	if p.runes == nil {
		if bytes.HasPrefix(b, p.text) {
			return len(p.text)
		}
		return -1
	}
	at := 0
	for _, want := range p.runes {
		if at == len(b) {
			return -1
		}
		r, n := decode(b[at:])
		if want != anyRune && want != r {
			return -1
		}
		at += n
	}
	return at
}

// isSuffix reports whether b ends with p.
func (p *piece) isSuffix(b []byte) bool {
	if p.runes == nil {
		return bytes.HasSuffix(b, p.text)
	}
	start := len(b)
	for range p.runes {
		if start == 0 {
			return false
		}
		_, n := utf8.DecodeLastRune(b[:start])
		start -= n
	}
	return p.prefix(b[start:]) == len(b)-start
}

// find returns the end of the first p in b, or -1. With _ it keeps the set of all
// partial matches in one word (shift-and), so that no text costs more than one
// pass.
func (p *piece) find(b []byte) int {
	if p.runes == nil {
		if i := bytes.Index(b, p.text); i >= 0 {
			return i + len(p.text)
		}
		return -1
	}
	last := uint64(1) << (len(p.runes) - 1)
	var partial uint64
	for at := 0; at < len(b); {
		r, n := decode(b[at:])
		at += n
		mask := p.anywhere
		if r < utf8.RuneSelf {
			mask |= p.ascii[r]
		} else {
			mask |= p.masks[r]
		}
		if partial = (partial<<1 | 1) & mask; partial&last != 0 {
			return at
		}
	}
	return -1
}

func (l *like) matches(b []byte) bool {
	first, last := &l.pieces[0], &l.pieces[len(l.pieces)-1]
	n := first.prefix(b)
	if n < 0 {
		return false
	}
	if len(l.pieces) == 1 {
		return n == len(b)
	}
	b = b[n:]
	for i := 1; i < len(l.pieces)-1; i++ {
		n := l.pieces[i].find(b)
		if n < 0 {
			return false
		}
		b = b[n:]
	}
	return last.isSuffix(b)
}

func (l *like) holds(s *Scratch, d *datum) truth {
	var t truth
	switch {
	case d.class == classVoid:
		return isUnknown
	case d.class == classText:
		t = truthOf(l.matches(d.bytes))
	case l.pattern.kind == literalText:
		t = isNo
	default:
		t = truthOf(l.matches(s.displayed(d)))
	}
	if l.not {
		t = t.not()
	}
	return t
}

func (*like) absent() truth { return isUnknown }

func (l *like) tag(tag byte, d *fieldtable.Dialect) truth {
	if d.Kind(tag) == fieldtable.KindVoid {
		return isUnknown
	}
	return anyTruth
}

func (l *like) append(dst []byte, left string) []byte {
	dst = append(dst, left...)
	if l.not {
		dst = append(dst, " NOT"...)
	}
	dst = l.pattern.append(append(dst, " LIKE "...))
	if l.escape != "" {
		dst = appendText(append(dst, " ESCAPE "...), l.escape)
	}
	return dst
}
