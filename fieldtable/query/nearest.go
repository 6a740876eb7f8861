package query

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

const (
	maxNearest = 3   // filters offered
	maxCompare = 200 // names seen that a missing one is compared with
)

// Nearest offers filters for one that matches nothing: those that it becomes with a name that was
// seen in place of one that was not and resembles it.
func (q *Filter) Nearest(seen []archive.KeyCount) []string {
	type near struct {
		filter   string
		distance int
	}
	var found []near
	for _, wanted := range q.keys {
		if slices.ContainsFunc(seen, func(k archive.KeyCount) bool { return k.Key == wanted }) {
			continue
		}
		for _, k := range seen[:min(len(seen), maxCompare)] {
			if d := distance(fold(wanted), fold(k.Key)); d <= max(len(wanted)/3, 1) {
				if filter, ok := q.renamed(wanted, k.Key); ok {
					found = append(found, near{filter, d})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var filters []string
	for _, n := range found[:min(len(found), maxNearest)] {
		filters = append(filters, n.filter)
	}
	return filters
}

// renamed is the filter with another name in the place of one.
func (q *Filter) renamed(from, to string) (string, bool) {
	p := &parser{lex: lexer{src: q.text}, rename: func(name string) string {
		if name == from {
			return to
		}
		return name
	}}
	root, err := p.parse()
	if err != nil {
		return "", false
	}
	return string(root.append(nil)), true
}

// fold makes names comparable that differ only in case and punctuation.
func fold(s string) string {
	const most = 64
	s = s[:min(len(s), most)]
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', '.', ':', ' ':
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// distance is the number of bytes to insert, delete or replace to get from a
// to b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
