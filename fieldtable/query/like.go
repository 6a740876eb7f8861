package query

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
)

// likePattern is LIKE, such as
//
//	task LIKE 'shop.%.send_'
//
// with % for any run of characters and _ for exactly one (a byte where the text is not UTF-8). As
// with =, a pattern in single quotes is for text only, one in double quotes is for the displayed
// text of any value. Where the escape character is % or _ itself, it escapes only these two.
type likePattern struct {
	not     bool
	pattern literal
	escape  string // one character, or empty
	pieces  []piece
}

// piece is a run of the pattern without %. A pattern may have thousands, so it is small.
type piece struct {
	text []byte   // where the run has no _
	wild *wildRun // otherwise
}

// wildRun is a run with _ in it.
type wildRun struct {
	// runes has anyRune for _.
	runes []rune
	// masks are the places of the runes other than _, each rune once: bit i is place i.
	masks []runeMask
	// anywhere is the places of _.
	anywhere uint64
	// ascii has for each of the first 128 runes its place in masks, counted from 1, where there are
	// more than fewMasks.
	ascii *[utf8.RuneSelf]uint8
}

type runeMask struct {
	r    rune
	mask uint64
}

const (
	anyRune = -1
	// byteRune + b stands for a byte that is not UTF-8.
	byteRune = utf8.MaxRune + 1
	// maxWild bounds a run with _ to the bits of a mask.
	maxWild = 64
	// fewMasks are looked at one after the other.
	fewMasks = 8
)

// newLike compiles the pattern; problem says what is wrong with it.
func newLike(pattern literal, escape string, not bool) (l *likePattern, problem string) {
	l = &likePattern{not: not, pattern: pattern, escape: escape}
	var text []byte
	var runes []rune
	wild := false
	flush := func() bool {
		p := piece{text: text}
		if wild {
			if len(runes) > maxWild {
				return false
			}
			p = piece{wild: newWildRun(runes)}
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
		case string(char) == escape && (r != '%' && r != '_' || len(rest) > 0 && (rest[0] == '%' || rest[0] == '_')):
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
		if p := l.pieces[i]; i == len(l.pieces)-1 || p.wild != nil || len(p.text) > 0 {
			kept = append(kept, p)
		}
	}
	l.pieces = slices.Clone(kept)
	return l, ""
}

// containingPattern is the pattern for what contains a text, with the escape character that it
// needs, if any.
func containingPattern(text []byte) (pattern []byte, escape string) {
	pattern = append(pattern, '%')
	for _, c := range text {
		if c == '%' || c == '_' || c == '!' && bytes.ContainsAny(text, "%_") {
			pattern, escape = append(pattern, '!'), "!"
		}
		pattern = append(pattern, c)
	}
	return append(pattern, '%'), escape
}

// decode is utf8.DecodeRune, but tells bytes that are not UTF-8 apart.
func decode(b []byte) (rune, int) {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		r = byteRune + rune(b[0])
	}
	return r, n
}

func newWildRun(runes []rune) *wildRun {
	p := &wildRun{runes: runes}
	for i, r := range runes {
		if r == anyRune {
			p.anywhere |= 1 << i
			continue
		}
		at := slices.IndexFunc(p.masks, func(m runeMask) bool { return m.r == r })
		if at < 0 {
			at = len(p.masks)
			p.masks = append(p.masks, runeMask{r: r})
		}
		p.masks[at].mask |= 1 << i
	}
	if len(p.masks) > fewMasks {
		p.ascii = new([utf8.RuneSelf]uint8)
		for i, m := range p.masks {
			if m.r < utf8.RuneSelf {
				p.ascii[m.r] = uint8(i + 1) // #nosec G115 -- at most maxWild
			}
		}
	}
	return p
}

// places are where r stands in the piece, the places of _ not among them.
func (p *wildRun) places(r rune) uint64 {
	if p.ascii != nil && r < utf8.RuneSelf {
		if i := p.ascii[r]; i > 0 {
			return p.masks[i-1].mask
		}
		return 0
	}
	for i := range p.masks {
		if p.masks[i].r == r {
			return p.masks[i].mask
		}
	}
	return 0
}

// prefix returns the length of p at the start of b, or -1.
func (p *piece) prefix(b []byte) int {
	if p.wild == nil {
		if bytes.HasPrefix(b, p.text) {
			return len(p.text)
		}
		return -1
	}
	at := 0
	for _, want := range p.wild.runes {
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
	if p.wild == nil {
		return bytes.HasSuffix(b, p.text)
	}
	start := len(b)
	for range p.wild.runes {
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
	if p.wild == nil {
		if i := bytes.Index(b, p.text); i >= 0 {
			return i + len(p.text)
		}
		return -1
	}
	last := uint64(1) << (len(p.wild.runes) - 1)
	var partial uint64
	for at := 0; at < len(b); {
		r, n := decode(b[at:])
		at += n
		mask := p.wild.anywhere | p.wild.places(r)
		if partial = (partial<<1 | 1) & mask; partial&last != 0 {
			return at
		}
	}
	return -1
}

func (l *likePattern) matches(b []byte) bool {
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

func (l *likePattern) holds(s *Scratch, d *datum) truths {
	var t truths
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

func (*likePattern) absent() truths { return isUnknown }

func (l *likePattern) tag(tag byte, d *fieldtable.Dialect) truths {
	if d.Kind(tag) == fieldtable.KindVoid {
		return isUnknown
	}
	return anyTruth
}

func (l *likePattern) append(dst []byte, left string) []byte {
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
