package query

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// everywhere is a condition such as
//
//	anywhere('acme')
//
// Does the text stand in a header's name or in what is displayed of its value, at any depth, in the
// exchange, the routing key or a property that is text? Letters may be of either case. Octets count
// as text and as the hexadecimal digits that are displayed of them.
type everywhere struct {
	text string
	find finder
	// textual: only text can be displayed so. The characters of all else are otherCharacters.
	textual bool
}

// otherCharacters are those of numbers, octets, true, false, NaN and Inf in lower case.
const otherCharacters = "0123456789abcdef+-.ilnrstu"

func newEverywhere(text string) *everywhere {
	e := &everywhere{text: text, find: newFinder(text)}
	e.textual = strings.ContainsFunc(strings.ToLower(text), func(r rune) bool {
		return !strings.ContainsRune(otherCharacters, r)
	})
	return e
}

// Anywhere writes the filter for the messages that have a text anywhere.
func Anywhere(text string) string { return string(newEverywhere(text).append(nil)) }

func (q *everywhere) append(dst []byte) []byte {
	dst = append(dst, "anywhere("...)
	if utf8.ValidString(q.text) && !strings.ContainsFunc(q.text, unicode.IsControl) {
		dst = appendText(dst, q.text)
	} else {
		dst = appendQuoted(dst, q.text)
	}
	return append(dst, ')')
}

func (q *everywhere) cost() cost { return costWalk }

func (q *everywhere) shape(v *shapeView) truths {
	for _, f := range v.shape.Fields {
		if q.find.in([]byte(f.Name)) {
			return isYes
		}
	}
	return anyTruth
}

func (q *everywhere) eval(s *Scratch) truths {
	h := s.message.Header()
	s.bytesRead += int64(len(h.Payload()))
	if q.textual && s.marked && !s.message.Marks().Damaged && !s.message.Redacted() &&
		!q.find.in(h.Payload()) && !q.find.in(s.message.Exchange()) && !q.find.in(s.message.RoutingKey()) {
		return isNo // text and names stand in the payload as they are
	}
	return q.look(s, nil)
}

// look goes through the places; found, which may be nil, is told of each that has the text. Without
// it the first is enough.
func (q *everywhere) look(s *Scratch, found func(operand string)) truths {
	t := isNo
	// is takes what holds of a place, and reports whether that is enough.
	is := func(of truths, operand func() string) bool {
		if of == isYes && found != nil {
			found(operand())
		}
		t = t.or(of)
		return t == isYes && found == nil
	}
	if is(truthOf(q.find.in(s.message.Exchange())), func() string { return "$exchange" }) ||
		is(truthOf(q.find.in(s.message.RoutingKey())), func() string { return "$routing_key" }) {
		return t
	}
	for p, err := range s.message.Header().All() {
		of := isNo
		switch {
		case err != nil:
			of = noOrYes
		case wire.FormOf(p.Name) != wire.FormShortStr:
			continue
		case s.message.RemovedWithin(p.Offset, p.End):
			of = isUnknown
		case q.find.in(p.Raw):
			of = isYes
		}
		if is(of, func() string { return "$" + p.Name }) {
			return t
		}
	}
	switch s.tableState() {
	case absent:
		return t
	case unreadable:
		return t.or(noOrYes)
	}
	scan := s.table().Scan()
	for scan.Next() {
		name := scan.Name()
		of := truthOf(q.find.in(name))
		if of != isYes {
			v := scan.Value()
			of = q.value(s, &v)
		}
		if is(of, func() string { return string(appendName(nil, string(name))) }) {
			return t
		}
	}
	if scan.Err() != nil {
		t = t.or(noOrYes)
	}
	return t
}

// value looks into one value; into tables and arrays as deep as they are read.
func (q *everywhere) value(s *Scratch, v *fieldtable.Value) truths {
	if s.message.Redacted() && s.message.ValueRemoved(v) {
		return isUnknown
	}
	var scan fieldtable.Scanner
	switch v.Kind() {
	case fieldtable.KindVoid:
		return isNo
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		return truthOf(q.find.in(v.Raw()))
	case fieldtable.KindTable:
		t, _ := v.Table()
		scan = t.Scan()
	case fieldtable.KindArray:
		a, _ := v.Array()
		scan = a.Scan()
	case fieldtable.KindBytes, fieldtable.KindChar8:
		if q.find.in(v.Raw()) {
			return isYes
		}
		fallthrough
	default:
		s.text = v.AppendText(s.text[:0])
		return truthOf(q.find.in(s.text))
	}
	t := isNo
	for t != isYes && scan.Next() {
		if t = t.or(truthOf(q.find.in(scan.Name()))); t != isYes {
			inner := scan.Value()
			t = t.or(q.value(s, &inner))
		}
	}
	if t != isYes && scan.Err() != nil {
		t = t.or(noOrYes)
	}
	return t
}

// Whereabouts is how many messages have a text under an operand.
type Whereabouts struct {
	// Operand is a header's name or a property, as a filter has it.
	Operand string
	Count   uint64
}

// Whereabouts counts where the messages of the request that match the filter have a text, the most
// frequent operands first, at most limit. What is nested counts for the header that it lies in.
// Where ctx ends first, its error comes with what was counted so far.
func (q *Filter) Whereabouts(
	ctx context.Context, s archive.Snapshot, r PageRequest, text string, limit int,
) ([]Whereabouts, error) {
	if text == "" {
		return nil, nil
	}
	filter := &Filter{root: join(false, []node{q.root, newEverywhere(text)}), keys: q.keys}
	var workers []*whereaboutsCounter
	_, err := filter.scan(ctx, s, r, func(archive.Columns) collector {
		c := &whereaboutsCounter{of: newEverywhere(text), counts: map[string]uint64{}}
		c.scratch.dialect = orLenient(cmp.Or(r.Dialect, r.ArchiveDialect))
		workers = append(workers, c)
		return c
	})
	total := map[string]uint64{}
	for _, c := range workers {
		for operand, n := range c.counts {
			total[operand] += n
		}
	}
	var found []Whereabouts
	for operand, n := range total {
		found = append(found, Whereabouts{operand, n})
	}
	slices.SortFunc(found, func(a, b Whereabouts) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Operand, b.Operand))
	})
	return found[:min(limit, len(found))], err
}

// whereaboutsCounter is one worker's share.
type whereaboutsCounter struct {
	of      *everywhere
	scratch Scratch
	counts  map[string]uint64
	seen    []string // in one message
}

func (c *whereaboutsCounter) shape(uint16, uint64) bool { return false }

func (c *whereaboutsCounter) segment(t *stretch, all []truths) {
	for i, of := range all {
		if of&isYes != 0 {
			c.message(t.segment.At(i))
		}
	}
}

func (c *whereaboutsCounter) message(m archive.Message) {
	c.scratch.message = m
	c.scratch.start(c.scratch.dialect, nil, nil)
	c.seen = c.seen[:0]
	c.of.look(&c.scratch, func(operand string) {
		if slices.Contains(c.seen, operand) { // a duplicate header counts once
			return
		}
		c.seen = append(c.seen, operand)
		if _, known := c.counts[operand]; known || len(c.counts) < maxDistinct {
			c.counts[operand]++
		}
	})
}
