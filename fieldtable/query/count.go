package query

import (
	"context"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Count is how many messages of a range match.
type Count struct {
	Matched uint64
	// Complete: the whole range was looked at.
	Complete bool
	Explain
}

// Count counts over the whole range, on all cores. Limit and Budget do not apply;
// where ctx ends first its error comes with the count so far.
func (q *Filter) Count(ctx context.Context, s archive.Snapshot, r PageRequest) (Count, error) {
	var workers []*counter
	explain, err := q.scan(ctx, s, r, func(archive.Columns) collector {
		c := &counter{}
		workers = append(workers, c)
		return c
	})
	n := Count{Explain: explain, Complete: err == nil}
	for _, c := range workers {
		n.Matched += c.n
	}
	return n, err
}

type counter struct{ n uint64 }

func (c *counter) message(archive.Message) { c.n++ }

func (c *counter) segment(_ *stretch, all []truths) {
	for _, t := range all {
		c.n += t.yes()
	}
}

func (c *counter) shape(_ uint16, n uint64) bool {
	c.n += n
	return true
}
