package listing

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/address"
)

// KeyList is the panel of header names seen. Nil Keys draws "no headers yet".
type KeyList struct {
	Keys     []archive.KeyCount
	Active   map[string]bool // the names that are part of the current filter
	Messages uint64          // what the counts are out of
	More     int             // names left out of Keys
	drawn    string          // Keys as they are drawn, from Fit; "": not yet
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

// Fit leaves out names, the rarest first, until the panel takes size bytes at most as it is drawn.
func (k KeyList) Fit(ctx context.Context, links address.Links, size int) (KeyList, error) {
	fits := k
	fits.Keys, fits.More = nil, k.More+len(k.Keys)
	and := links.Ands()
	var drawn bytes.Buffer
	for i, key := range k.Keys {
		before := drawn.Len()
		if err := keyItem(key, k, links, and).Render(ctx, &drawn); err != nil {
			return k, err
		}
		if drawn.Len() > size {
			drawn.Truncate(before)
			break
		}
		fits.Keys, fits.More = k.Keys[:i+1], fits.More-1
	}
	fits.drawn = drawn.String()
	return fits, nil
}
