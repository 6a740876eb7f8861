package listing

import (
	"cmp"
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// KeyList is the panel of header names seen. Nil Keys draws "no headers yet".
type KeyList struct {
	Keys     []archive.KeyCount
	Active   map[string]bool // the names that are part of the current filter
	Messages uint64          // what the counts are out of
	More     int             // names left out of Keys
}

// Facet is how the values of a header are spread over the messages that match, or what is wrong
// with how the header is named.
type Facet struct {
	query.Facet
	// Error says what is wrong with Operand; nil = nothing, and the rest is set.
	Error *query.Error
	// Kept is how many messages there are, of which a count that is not complete has looked at
	// some.
	Kept uint64
}

// InPart reports whether the time limit ended the count.
func (f *Facet) InPart() bool { return f != nil && f.Error == nil && !f.Complete }

// tagCount is how often a header had one type.
type tagCount struct {
	tag   byte
	count uint64
}

// tagCounts sorts types, the most frequent first.
func tagCounts(tags map[byte]uint64) []tagCount {
	counts := make([]tagCount, 0, len(tags))
	for tag, n := range tags {
		counts = append(counts, tagCount{tag, n})
	}
	slices.SortFunc(counts, func(a, b tagCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.tag, b.tag))
	})
	return counts
}
