package listing

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/address"
)

// KeyList is the panel of properties and header names. Nil Keys draws "no header names yet".
type KeyList struct {
	Keys     []archive.KeyCount
	Active   map[string]bool // the names that are part of the current filter
	Messages uint64          // what the counts are out of
	Damaged  uint64          // how many of these are damaged
	Partial  bool            // a filter or a time range leaves messages out
	InPart   bool            // the time limit ended the count
	More     int             // names left out of Keys
	Find     string          // what the names listed hold; "": all are listed
	// Values says that the properties' values can be asked for.
	Values bool
	// Sourced says that the messages come from several sources, which are values like others.
	Sourced bool
	drawn   string // Keys as they are drawn, from Fit; "": not yet
	facet   *Facet // of the name that is open, from Fit
	chart   Histogram
}

// offeredProperty is a property, or what death left in a header, that the panel offers by itself.
type offeredProperty struct{ operand, label string }

// properties are those that tell messages apart as people do: by kind, by who sent them, by where
// they went and why they are here.
func (k KeyList) properties() []offeredProperty {
	if !k.Values {
		return nil
	}
	var offered []offeredProperty
	if k.Sourced {
		offered = append(offered, offeredProperty{"$source", "source"})
	}
	offered = append(offered, []offeredProperty{
		{"$type", "type"}, {"$app_id", "app_id"}, {"$user_id", "user_id"}, {"$content_type", "content_type"},
		{"$exchange", "exchange"}, {"$routing_key", "routing key"},
	}...)
	if slices.ContainsFunc(k.Keys, func(c archive.KeyCount) bool { return c.Key == "x-death" }) {
		offered = append(offered,
			offeredProperty{"x-death[0].queue", "death queue"}, offeredProperty{"x-death[0].reason", "death reason"})
	}
	return offered
}

// lists reports whether the panel has a line for an operand; "" needs none.
func (k KeyList) lists(operand string) bool {
	return operand == "" ||
		slices.ContainsFunc(k.properties(), func(p offeredProperty) bool { return p.operand == operand }) ||
		slices.ContainsFunc(k.Keys, func(c archive.KeyCount) bool { return query.Name([]byte(c.Key)) == operand })
}

// keyCondition is the filter "has this header", whose name is given as a filter has it.
func keyCondition(name string, k archive.KeyCount) string { return presence(name, k.Tags) }

func presence(path string, tags map[byte]uint64) string {
	kinds := make([]fieldtable.Kind, 0, len(tags))
	for tag := range tags {
		kinds = append(kinds, fieldtable.Lenient().Kind(tag))
	}
	return query.PresenceCondition(path, kinds...)
}

// Facet is how the values of a header are spread over the messages that match, or what is wrong
// with how the header is named.
type Facet struct {
	query.Facet
	// Error says what is wrong with Operand; nil = nothing, and the rest is set.
	Error *query.Error
	// Kept is how many messages there are, of which a count that is not complete has looked at
	// some.
	Kept  uint64
	drawn string // Values as they are drawn, from Fit; "": not yet
}

// InPart reports whether the time limit ended the count.
func (f *Facet) InPart() bool { return f != nil && f.Error == nil && !f.Complete }

func (f *Facet) has() string   { return presence(f.Operand, f.Tags) }
func (f *Facet) lacks() string { return "NOT " + f.has() }

// Fit leaves out values, the rarest first, until they take size bytes at most as they are drawn.
func (f *Facet) Fit(ctx context.Context, h Histogram, links address.Links, size int) (*Facet, error) {
	if f == nil || f.Error != nil {
		return f, nil
	}
	fits := *f
	and := links.Ands()
	ctx = templ.InitializeContext(ctx) // once for all of them
	var drawn bytes.Buffer
	for i, v := range f.Values {
		before := drawn.Len()
		if err := valueItem(v, f, h, and).Render(ctx, &drawn); err != nil {
			return f, err
		}
		if drawn.Len() > size {
			drawn.Truncate(before)
			fits.Values = f.Values[:i]
			for _, v := range f.Values[i:] {
				fits.Other += v.Count
			}
			break
		}
	}
	fits.drawn = drawn.String()
	return &fits, nil
}

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

// rareFirst turns counts round: the odd one out is what is looked for.
func rareFirst(counts []tagCount) []tagCount {
	slices.Reverse(counts)
	return counts
}

// nameBytes is what a name takes as it is drawn, as a rule.
const nameBytes = 1 << 9

// Fit leaves out names, the rarest first, until the panel takes size bytes at most as it is drawn.
// f is the values of the name that is open; nil where they come from elsewhere.
func (k KeyList) Fit(
	ctx context.Context, f *Facet, h Histogram, links address.Links, size int,
) (KeyList, error) {
	fits := k
	fits.Keys, fits.More = nil, k.More+len(k.Keys)
	k.facet, k.chart = f, h
	to := linksOfNames(links)
	ctx = templ.InitializeContext(ctx) // once for all of them
	var drawn bytes.Buffer
	drawn.Grow(min(size, len(k.Keys)*nameBytes))
	for i, key := range k.Keys {
		before := drawn.Len()
		if err := keyItem(key, k, to).Render(ctx, &drawn); err != nil {
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
