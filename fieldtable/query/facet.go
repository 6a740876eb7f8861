package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Facet is how the values of an operand are spread over the messages that match.
type Facet struct {
	Operand string
	// Values are the most frequent ones, by falling count.
	Values []FacetValue
	// Matched counts the messages, With those that have a value. Under [*] one
	// message may have several values.
	Matched, With uint64
	// Other counts values that are not among Values.
	Other uint64
	// Tags counts the values by their type on the wire: several are a drift. Those of
	// properties are not in it.
	Tags map[byte]uint64
	// Bounded: there were more distinct values than are told apart, so that a rare
	// one may be missing from Values.
	Bounded  bool
	Complete bool
	Explain
}

// FacetValue is one value, as displayed, of one type.
type FacetValue struct {
	Text string
	// Cut: Text is only the beginning of longer values.
	Cut bool
	// Kind is KindInvalid and Tag 0 for properties.
	Kind  fieldtable.Kind
	Tag   byte
	Count uint64
	unit  fieldtable.Unit // of timestamps
}

// Filter writes the condition that the facet's operand has this value, "" where the
// value is too long to be written out.
func (v FacetValue) Filter(operand string) string {
	switch {
	case v.Cut:
		return ""
	case v.Tag != 0 || v.Kind != fieldtable.KindInvalid:
		return equal(operand, v.Kind, v.unit, v.Text)
	}
	if p, ok := propertyByName(strings.TrimPrefix(operand, "$")); ok {
		return p.equal(v.Text, v.unit)
	}
	return ""
}

// Without writes the condition for the messages that do not have this value, those included that
// have none; "" where Filter writes none.
func (v FacetValue) Without(operand string) string {
	is := v.Filter(operand)
	switch {
	case is == "":
		return ""
	case v.Kind == fieldtable.KindVoid:
		return operand + " IS NOT NULL"
	case v.Kind == fieldtable.KindTable || v.Kind == fieldtable.KindArray:
		return "NOT " + is
	}
	return excluding(operand, is)
}

const (
	// maxDistinct bounds the values that one worker tells apart.
	maxDistinct = 10_000
	// maxFacetText bounds what is kept of a value, in bytes.
	maxFacetText = 256
)

// Facet counts the values of an operand over all messages that match, and returns
// the top ones, at most limit. Where ctx ends first its error comes with what was
// counted so far.
func (q *Filter) Facet(ctx context.Context, s archive.Snapshot, r PageRequest, o *Operand, limit int) (Facet, error) {
	var workers []*facetCounter
	explain, err := q.scan(ctx, s, r, func(columns archive.Columns) collector {
		c := newFacetCounter(o, &r, s, columns)
		workers = append(workers, c)
		return c
	})
	f := Facet{Operand: o.text, Tags: map[byte]uint64{}, Complete: err == nil, Explain: explain}
	unit := orLenient(cmp.Or(r.Dialect, r.ArchiveDialect)).TimestampUnit()
	total := map[facetKey]uint64{}
	for _, c := range workers {
		f.Matched += c.matched
		f.With += c.with
		f.Other += c.other
		f.Bounded = f.Bounded || c.other > 0
		for tag, n := range c.tags {
			if n > 0 {
				f.Tags[byte(tag)] += n
			}
		}
		for k, n := range c.counts {
			total[k] += *n
		}
	}
	for k, n := range total {
		f.Values = append(
			f.Values,
			FacetValue{Text: k.text, Cut: k.cut, Kind: k.kind, Tag: k.tag, Count: n, unit: unit},
		)
	}
	slices.SortFunc(f.Values, func(a, b FacetValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text), cmp.Compare(a.Tag, b.Tag))
	})
	for _, v := range f.Values[min(limit, len(f.Values)):] {
		f.Other += v.Count
	}
	f.Values = f.Values[:min(limit, len(f.Values))]
	return f, err
}

type facetKey struct {
	text string
	cut  bool
	kind fieldtable.Kind
	tag  byte
}

// facetCounter is one worker's share.
type facetCounter struct {
	operandReader
	column  *columnReader // nil: the operand has none
	matches []uint64      // scratch, by code
	counts  map[facetKey]*uint64
	tags    [256]uint64
	matched uint64
	with    uint64
	other   uint64
}

func newFacetCounter(o *Operand, r *PageRequest, s archive.Snapshot, columns archive.Columns) *facetCounter {
	c := &facetCounter{counts: map[facetKey]*uint64{}}
	if columnable(&o.condition) {
		c.column = r.columnReader(s, columns, &o.condition)
	}
	c.operandReader = newOperandReader(o, r, func(s *Scratch, d *datum) bool {
		c.add(s, d, 1)
		return true
	})
	return c
}

func (c *facetCounter) shape(uint16, uint64) bool { return false }

func (c *facetCounter) message(m archive.Message) {
	c.matched++
	if c.read(m) > 0 {
		c.with++
	}
}

// segment adds up codes, and looks at a value once for all messages that have it.
func (c *facetCounter) segment(t *stretch, all []truths) {
	var column *archive.Column
	if c.column != nil {
		column = c.column.of(t.segment)
	}
	if column == nil || column.Keyed() {
		eachYes(c, t, all)
		return
	}
	n := len(column.Counts())
	c.matches = slices.Grow(c.matches[:0], n)[:n]
	clear(c.matches)
	for i, code := range column.Codes() {
		c.matches[code] += all[i].yes()
	}
	c.matched += c.matches[archive.NoValue] + c.matches[archive.Hidden]
	for i := archive.FirstValue; int(i) < n; i++ {
		if of := c.matches[i]; of > 0 {
			c.matched += of
			c.with += of
			c.add(&c.scratch, c.column.load(column.Value(i)), of)
		}
	}
	if c.matches[archive.Unread] > 0 {
		for i, code := range column.Codes() {
			if code == archive.Unread && all[i]&isYes != 0 {
				c.message(t.segment.At(i))
			}
		}
	}
}

func (c *facetCounter) add(s *Scratch, d *datum, times uint64) {
	text := s.displayed(d)
	cut := len(text) > maxFacetText
	text = text[:min(len(text), maxFacetText)]
	var kind fieldtable.Kind
	var tag byte
	if d.value != nil {
		kind, tag = d.value.Kind(), d.value.Tag()
		c.tags[tag] += times
	}
	// Written like this, the string is only made for a value that is new.
	if n, ok := c.counts[facetKey{string(text), cut, kind, tag}]; ok {
		*n += times
		return
	}
	if len(c.counts) == maxDistinct {
		c.other += times
		return
	}
	c.counts[facetKey{string(text), cut, kind, tag}] = new(times)
}

// operandReader shows the values of an operand in one message after the other.
type operandReader struct {
	condition *condition
	keys      []string
	dialect   *fieldtable.Dialect
	scratch   Scratch
	n         *int
}

func newOperandReader(o *Operand, r *PageRequest, visit func(*Scratch, *datum) (more bool)) operandReader {
	n := new(int)
	return operandReader{
		keys:    o.keys,
		dialect: orLenient(cmp.Or(r.Dialect, r.ArchiveDialect)),
		n:       n,
		condition: o.condition.with(visitor{func(s *Scratch, d *datum) bool {
			*n++
			return visit(s, d)
		}}),
	}
}

// read returns how many values m has.
func (o *operandReader) read(m archive.Message) int {
	*o.n = 0
	o.scratch.message = m
	o.scratch.start(o.dialect, nil, o.keys)
	o.condition.eval(&o.scratch)
	return *o.n
}
