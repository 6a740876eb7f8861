package query

import (
	"strings"
	"unicode"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Lone returns the word or id that src consists of, if it is no filter: no header that was seen has
// this name, and it is no condition. Then it is something to look for.
func Lone(src string, seen []archive.KeyCount) (word string, ok bool) {
	word = strings.TrimSpace(src)
	if !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) ||
		strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`()='"<>[],$`, r) }) {
		return "", false
	}
	q, err := Compile(word)
	if err != nil {
		return word, true
	}
	c, ok := q.root.(*condition)
	if !ok {
		return "", false
	}
	if _, ok = c.test.(existence); !ok || c.prop != nil || c.also != nil && c.also.prop != nil {
		return "", false
	}
	for _, k := range seen {
		if k.Key == c.path.name || k.Key == word || c.also != nil && k.Key == c.also.path.name {
			return "", false
		}
	}
	return word, true
}

// Anywhere returns the text that the filter looks for everywhere, if it is nothing else.
func (q *Filter) Anywhere() (text string, ok bool) {
	if e, ok := q.root.(*everywhere); ok {
		return e.text, true
	}
	return "", false
}
