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
	if s.marked && !s.message.Marks().Damaged && !s.message.Redacted() &&
		!q.find.in(h.Payload()) && !q.find.in(s.message.Exchange()) && !q.find.in(s.message.RoutingKey()) {
		// Text and names stand in the payload as they are.
		if q.textual {
			return isNo
		}
		return q.headers(s, false, nil)
	}
	return q.look(s, nil)
}

// look goes through the places; found, which may be nil, is told of each that has the text. Without
// it the first is enough.
func (q *everywhere) look(s *Scratch, found func(operand string)) truths {
	t := isNo
	facts := [...]struct {
		operand string
		text    []byte
	}{{"$exchange", s.message.Exchange()}, {"$routing_key", s.message.RoutingKey()}}
	for _, f := range facts {
		if q.find.in(f.text) {
			if t = isYes; found == nil {
				return t
			}
			found(f.operand)
		}
	}
	for p, err := range s.message.Header().All() {
		switch text, ok := p.Text(); {
		case err != nil:
			t = t.or(noOrYes)
		case !ok:
		case s.message.RemovedWithin(p.Offset, p.End):
			t = t.or(isUnknown)
		case q.find.in(text):
			if t = isYes; found == nil {
				return t
			}
			found("$" + p.Name)
		}
	}
	return t.or(q.headers(s, true, found))
}

// headers is look in the header table; where text is false, what is text need not be looked at.
func (q *everywhere) headers(s *Scratch, text bool, found func(operand string)) truths {
	switch s.tableState() {
	case absent:
		return isNo
	case unreadable:
		return noOrYes
	}
	t := isNo
	scan := s.table().Scan()
	for scan.Next() {
		name := scan.Name()
		of := truthOf(text && q.find.in(name))
		if of != isYes {
			of = q.value(s, scan.Value(), text)
		}
		if of == isYes && found != nil {
			found(string(appendName(nil, string(name))))
		} else if of == isYes {
			return isYes
		}
		t = t.or(of)
	}
	if scan.Err() != nil {
		t = t.or(noOrYes)
	}
	return t
}

// value looks into one value; into tables and arrays as deep as they are read.
func (q *everywhere) value(s *Scratch, v fieldtable.Value, text bool) truths {
	if s.message.Redacted() && s.message.ValueRemoved(&v) {
		return isUnknown
	}
	var scan fieldtable.Scanner
	switch v.Kind() {
	case fieldtable.KindVoid:
		return isNo
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		return truthOf(text && q.find.in(v.Raw()))
	case fieldtable.KindTable:
		t, _ := v.Table()
		scan = t.Scan()
	case fieldtable.KindArray:
		a, _ := v.Array()
		scan = a.Scan()
	case fieldtable.KindBytes, fieldtable.KindChar8:
		if text && q.find.in(v.Raw()) {
			return isYes
		}
		fallthrough
	default:
		s.text = v.AppendText(s.text[:0])
		return truthOf(q.find.in(s.text))
	}
	t := isNo
	for t != isYes && scan.Next() {
		if t = t.or(truthOf(text && q.find.in(scan.Name()))); t != isYes {
			t = t.or(q.value(s, scan.Value(), text))
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
	eachYes(c, t, all)
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
