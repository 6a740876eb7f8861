package query

import (
	"cmp"
	"context"
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Top returns the messages that come first of all that match when they are put in the order of an
// operand's values, which is that of Sort; of equal ones, the newest come first. Limit bounds them.
// It reads on all cores. Where Budget is used up or ctx ends, the page has the first of those that
// were looked at and is not Complete. There is nothing to go on with: Next is 0.
func (q *Filter) Top(
	ctx context.Context, s archive.Snapshot, r PageRequest, by *Operand, descending bool,
) (Page, error) {
	if p := by.condition.prop; p != nil && p.name == "seq" { // the order that they are kept in
		r.Ascending = !descending
		page, err := q.Page(ctx, s, r)
		page.Next = 0
		return page, err
	}
	within, cancel := context.WithTimeout(ctx, cmp.Or(r.Budget, DefaultBudget))
	defer cancel()
	var workers []*topCollector
	explain, err := q.scan(within, s, r, func(columns archive.Columns) collector {
		c := newTopCollector(s, &r, by, descending, columns)
		workers = append(workers, c)
		return c
	})
	p := Page{Complete: err == nil, Explain: explain}
	all := newTopCollector(s, &r, by, descending, archive.Columns{})
	for _, c := range workers {
		p.Matched += c.matched
		all.rows = append(all.rows, c.rows...)
	}
	if r.IncludeDamaged {
		p.Matched -= p.Damaged
	}
	all.cut()
	for i := range all.rows {
		p.Messages = append(p.Messages, all.rows[i].message)
	}
	return p, ctx.Err()
}

// topCollector is one worker's share.
type topCollector struct {
	by         *Operand
	request    *PageRequest
	descending bool
	limit      int
	matched    uint64

	// rows are the first of the messages seen, and some that came after them and may be too many.
	rows []topRow
	// last is the last of the first, once there are as many as the limit.
	last *topRow

	scratch Scratch
	column  *columnReader // nil: the operand has none
	keys    []sortKey     // scratch, by code
}

type topRow struct {
	message archive.Message
	seq     uint64
	key     sortKey
}

func newTopCollector(
	s archive.Snapshot, r *PageRequest, by *Operand, descending bool, columns archive.Columns,
) *topCollector {
	c := &topCollector{by: by, request: r, descending: descending, limit: cmp.Or(max(r.Limit, 0), defaultLimit)}
	if columnable(&by.condition) {
		c.column = r.columnReader(s, columns, &by.condition)
	}
	return c
}

func (c *topCollector) shape(uint16, uint64) bool { return false }

func (c *topCollector) message(m archive.Message) {
	c.matched++
	key := c.by.sortKey(m, cmp.Or(c.request.Dialect, c.request.ArchiveDialect), &c.scratch)
	c.add(topRow{message: m, seq: m.Seq(), key: key})
}

// segment makes a key once for each value of a dictionary.
func (c *topCollector) segment(t *stretch, all []truths) {
	var column *archive.Column
	if c.column != nil {
		column = c.column.of(t.segment)
	}
	if column == nil || column.Keyed() {
		eachYes(c, t, all)
		return
	}
	c.keys = slices.Grow(c.keys[:0], len(column.Counts()))[:len(column.Counts())]
	clear(c.keys)
	for code := archive.FirstValue; int(code) < len(c.keys); code++ {
		c.keys[code] = newSortKey(c.column.load(column.Value(code)))
	}
	for i, code := range column.Codes() {
		if all[i]&isYes == 0 {
			continue
		}
		if code == archive.Unread {
			c.message(t.segment.At(i))
			continue
		}
		c.matched++
		row := topRow{seq: t.segment.First() + uint64(i), key: c.keys[code]} // #nosec G115 -- an index
		if c.last == nil || c.order(&row, c.last) < 0 {
			row.message = t.segment.At(i)
			c.add(row)
		}
	}
}

func (c *topCollector) add(row topRow) {
	if c.last != nil && c.order(&row, c.last) > 0 {
		return
	}
	c.rows = append(c.rows, row)
	if len(c.rows) >= 2*c.limit {
		c.cut()
	}
}

// cut puts the rows in order and lets go of those beyond the limit.
func (c *topCollector) cut() {
	slices.SortFunc(c.rows, func(a, b topRow) int { return c.order(&a, &b) })
	if len(c.rows) >= c.limit {
		clear(c.rows[c.limit:])
		c.rows = c.rows[:c.limit]
		last := c.rows[c.limit-1]
		c.last = &last
	}
}

func (c *topCollector) order(a, b *topRow) int {
	return cmp.Or(a.key.order(&b.key, c.descending), cmp.Compare(b.seq, a.seq))
}
