package query

import (
	"unicode"
	"unicode/utf8"
)

// finder finds a text in others, in any case of its letters.
type finder struct {
	// low is the text in lower case; runes are its characters where not all of them are ASCII.
	low   []byte
	runes []rune
	// skip is how far the text may move where an octet stands at its end (Horspool).
	skip [256]uint8
}

func newFinder(text string) finder {
	f := finder{low: make([]byte, len(text))}
	ascii := true
	for i := range len(text) {
		f.low[i] = lowByte(text[i])
		ascii = ascii && text[i] < utf8.RuneSelf
	}
	if !ascii {
		for rest := []byte(text); len(rest) > 0; {
			r, n := decode(rest)
			f.runes, rest = append(f.runes, lowRune(r)), rest[n:]
		}
		return f
	}
	const most = 255
	last := len(f.low) - 1
	for i := range f.skip {
		f.skip[i] = uint8(min(last+1, most)) // #nosec G115 -- at most most
	}
	for i, c := range f.low[:max(last, 0)] {
		far := uint8(min(last-i, most)) // #nosec G115 -- at most most
		f.skip[c] = far
		if 'a' <= c && c <= 'z' {
			f.skip[c-'a'+'A'] = far
		}
	}
	return f
}

func lowByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// lowRune leaves what is not ASCII beyond it.
func lowRune(r rune) rune {
	if r < utf8.RuneSelf {
		return rune(lowByte(byte(r)))
	}
	if low := unicode.ToLower(r); low >= utf8.RuneSelf {
		return low
	}
	return r
}

// in reports whether the text, which is not empty, stands anywhere in b.
func (f *finder) in(b []byte) bool {
	if f.runes != nil {
		for ; len(b) > 0; b = b[size(b):] {
			if f.begins(b) {
				return true
			}
		}
		return false
	}
	last := len(f.low) - 1
	for at := last; at < len(b); at += int(f.skip[b[at]]) {
		i, j := last, at
		for i >= 0 && lowByte(b[j]) == f.low[i] {
			i, j = i-1, j-1
		}
		if i < 0 {
			return true
		}
	}
	return false
}

func size(b []byte) int {
	_, n := utf8.DecodeRune(b)
	return n
}

func (f *finder) begins(b []byte) bool {
	for _, want := range f.runes {
		if len(b) == 0 {
			return false
		}
		r, n := decode(b)
		if lowRune(r) != want {
			return false
		}
		b = b[n:]
	}
	return true
}
