package query

import (
	"context"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Names is the header names of the messages that match.
type Names struct {
	// Keys are in the order of [archive.Snapshot.Keys], and bounded as those are.
	Keys []archive.KeyCount
	// Matched counts the messages, Damaged those of them that are damaged somewhere.
	Matched, Damaged uint64
	Complete         bool
	Explain
}

// Names counts the names at the top level of the messages that match. It reads no table beside what
// the filter reads, but of messages without a shape. Where ctx ends first its error comes with what
// was counted so far.
func (q *Filter) Names(ctx context.Context, s archive.Snapshot, r PageRequest) (Names, error) {
	var workers []*nameCounter
	explain, err := q.scan(ctx, s, r, func(archive.Columns) collector {
		c := &nameCounter{unshaped: s.KeyCounter()}
		workers = append(workers, c)
		return c
	})
	n := addNames(s, workers)
	n.Complete, n.Explain = err == nil, explain
	return n, err
}

// NamesOf counts the names of messages of a snapshot.
func NamesOf(s archive.Snapshot, messages []archive.Message) Names {
	c := &nameCounter{unshaped: s.KeyCounter()}
	for _, m := range messages {
		c.message(m)
	}
	n := addNames(s, []*nameCounter{c})
	n.Complete = true
	return n
}

func addNames(s archive.Snapshot, workers []*nameCounter) (n Names) {
	total := s.KeyCounter()
	var shapes []uint64
	for _, c := range workers {
		n.Matched += c.matched
		n.Damaged += c.damaged
		shapes = append(shapes, make([]uint64, max(0, len(c.shapes)-len(shapes)))...)
		addAll(shapes, c.shapes)
	}
	total.Shapes(shapes)
	for _, c := range workers {
		total.Merge(c.unshaped)
	}
	n.Keys = total.Keys()
	return n
}

// nameCounter is one worker's share.
type nameCounter struct {
	shapes           []uint64 // messages by the ID of their shape
	unshaped         *archive.KeyCounter
	matched, damaged uint64
}

// shape asks for each message: its shape does not say what is damaged deeper in it.
func (c *nameCounter) shape(uint16, uint64) bool { return false }

func (c *nameCounter) segment(t *stretch, all []truths) {
	eachYes(c, t, all)
}

func (c *nameCounter) message(m archive.Message) {
	c.matched++
	if m.Marks().Damaged {
		c.damaged++
	}
	id, ok := m.ShapeID()
	if !ok {
		c.unshaped.Message(m)
		return
	}
	if missing := int(id) + 1 - len(c.shapes); missing > 0 {
		c.shapes = append(c.shapes, make([]uint64, missing)...)
	}
	c.shapes[id]++
}
