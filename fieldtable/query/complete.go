package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Completion is a name that can stand where the cursor is.
type Completion struct {
	// Insert is the name as it has to be written in a filter.
	Insert string
	// Name is a header's own name, or a property's with its $.
	Name string
	// Meaning describes a property.
	Meaning string
	// Count is how many messages carry the header, 0 for properties.
	Count uint64
}

// Complete proposes header names really seen and properties for the word that
// ends at byte offset of the filter, at most limit of them. They replace src[start:offset].
// There are none where a value is expected.
func Complete(s archive.Snapshot, src string, offset, limit int) (items []Completion, start int) {
	offset = max(0, min(offset, len(src)))
	word, prev, ok := wordBefore(src[:min(offset, MaxSource)])
	if !ok || prev.kind == tokOp || prev.keyword("LIKE") || prev.keyword("IS") {
		return nil, offset
	}
	prefix := word.text
	if word.kind != tokName && strings.HasPrefix(prefix, "$") {
		for _, p := range properties() {
			if strings.HasPrefix("$"+p.name, strings.ToLower(prefix)) && len(items) < limit {
				items = append(items, Completion{Insert: "$" + p.name, Name: "$" + p.name, Meaning: p.meaning})
			}
		}
		return items, word.off
	}
	counts := map[string]uint64{}
	for id, n := range s.ShapeCounts() {
		sh := s.Shape(uint16(id))
		if n == 0 || sh == nil {
			continue
		}
		for i, f := range sh.Fields {
			if len(f.Name) < len(prefix) || !strings.EqualFold(f.Name[:len(prefix)], prefix) ||
				sh.Duplicates &&
					slices.ContainsFunc(sh.Fields[:i], func(e archive.ShapeField) bool { return e.Name == f.Name }) {
				continue
			}
			counts[f.Name] += n
		}
	}
	for name, n := range counts {
		items = append(items, Completion{Insert: string(appendName(nil, name)), Name: name, Count: n})
	}
	slices.SortFunc(items, func(a, b Completion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return items[:min(max(limit, 0), len(items))], word.off
}

// wordBefore returns the word or unfinished name that src ends with, empty at the
// end after anything else, and the token before it. ok is false inside of text.
func wordBefore(src string) (word, prev token, ok bool) {
	l := lexer{src: src}
	for {
		t, err := l.next()
		if err != nil {
			at := err.Offset
			if at < len(src) && src[at] == '"' {
				// The name is still being written; an escape in it is not complete.
				return token{
					kind: tokName,
					off:  at,
					end:  len(src),
					text: strings.TrimSuffix(src[at+1:], `\`),
				}, prev, true
			}
			return token{}, prev, false
		}
		if t.kind == tokEnd {
			return token{kind: tokEnd, off: len(src), end: len(src)}, prev, true
		}
		if t.kind == tokWord && t.end == len(src) {
			return t, prev, true
		}
		prev = t
	}
}
