package archive

import (
	"errors"
	"unicode"
	"unicode/utf8"
)

// glob is a pattern for names: folded characters, anyOne and anyNumber.
type glob []rune

const (
	anyOne    rune = -1
	anyNumber rune = -2
	// notText is an octet of a name that is not UTF-8. No character of a pattern is equal to it.
	notText rune = -3
)

// cutGlob takes the first pattern off a comma-separated list, without the spaces around it.
func cutGlob(list string) (g glob, rest string, err error) {
	trimmed := 0 // length of g without spaces at its end
	for i := 0; i < len(list); {
		r, size := utf8.DecodeRuneInString(list[i:])
		i += size
		switch r {
		case ',':
			return g[:trimmed], list[i:], nil
		case ' ':
			if len(g) > 0 {
				g = append(g, r)
			}
			continue
		case '\\':
			r, size = utf8.DecodeRuneInString(list[i:])
			if size == 0 {
				return nil, "", errors.New(`a pattern ends with \`)
			}
			i += size
			g = append(g, fold(r))
		case '*':
			g = append(g, anyNumber)
		case '?':
			g = append(g, anyOne)
		default:
			g = append(g, fold(r))
		}
		trimmed = len(g)
	}
	return g[:trimmed], "", nil
}

// match reports whether all of name is as g says. It takes at most len(g) × len(name) steps.
func (g glob) match(name []byte) bool {
	// After an anyNumber at star-1, the characters from back on are tried against what follows it.
	at, i, star, back := 0, 0, -1, 0
	for at < len(name) {
		r, size := cutRune(name[at:])
		switch {
		case i < len(g) && g[i] == anyNumber:
			i++
			star, back = i, at
		case i < len(g) && (g[i] == anyOne || g[i] == r):
			i++
			at += size
		case star < 0:
			return false
		default:
			_, size := cutRune(name[back:])
			back += size
			i, at = star, back
		}
	}
	for i < len(g) && g[i] == anyNumber {
		i++
	}
	return i == len(g)
}

// cutRune returns the first character of a name, folded.
func cutRune(name []byte) (r rune, size int) {
	if c := name[0]; c < utf8.RuneSelf {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		return rune(c), 1
	}
	r, size = utf8.DecodeRune(name)
	if r == utf8.RuneError && size == 1 {
		return notText, 1
	}
	return fold(r), size
}

// fold maps characters that differ only in case to the same one.
func fold(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }
