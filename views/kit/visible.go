// Package kit is how anything looks: a publisher's text, numbers, times, dumps of bytes, type tags,
// icons and problems.
package kit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Part is a run of text: as it is, or an escape that stands for what cannot be seen.
type Part struct {
	Text   string
	Escape bool
}

// Parts makes every character of a publisher's text visible and harmless to the text around it.
// Printable characters stay as they are; control, formatting (so also bidirectional), private-use,
// unassigned and otherwise invisible characters, and spaces other than U+0020, become escapes: \n,
// \r, \t, \x1b, \u202e, \U000e0041. A byte that is not part of valid UTF-8 becomes \xff. Joining
// the parts' texts of a text without such characters gives the text back.
func Parts(s []byte) []Part {
	var parts []Part
	start := 0
	flush := func(end int) {
		if end > start {
			parts = append(parts, Part{Text: string(s[start:end])})
		}
	}
	var esc strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		if r < utf8.RuneSelf && r >= ' ' && r != 0x7f ||
			r >= utf8.RuneSelf && !(r == utf8.RuneError && size == 1) && !hidden(r) {
			i += size
			continue
		}
		flush(i)
		esc.Reset()
		for i < len(s) {
			r, size = utf8.DecodeRune(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				fmt.Fprintf(&esc, `\x%02x`, s[i])
			case !hidden(r):
				size = 0
			default:
				esc.WriteString(escape(r))
			}
			if size == 0 {
				break
			}
			i += size
			if r == '\n' {
				break // so that a line break can be drawn after its escape
			}
		}
		parts = append(parts, Part{Text: esc.String(), Escape: true})
		start = i
	}
	flush(len(s))
	return parts
}

// plain reports whether s is printable ASCII, as nearly all of it is.
func plain(s []byte) bool {
	for _, c := range s {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// VisibleText is [Visible] as one string, for attributes and titles.
func VisibleText(s []byte) string {
	if plain(s) {
		return string(s)
	}
	var b strings.Builder
	for _, p := range Parts(s) {
		b.WriteString(p.Text)
	}
	return b.String()
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// hidden says whether a character leaves no mark of its own on the page.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == '\u2800' // braille blank
}

// Clip cuts text to at most n bytes without splitting a character.
func Clip(s []byte, n int) []byte {
	if len(s) <= n {
		return s
	}
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}
