package query

import (
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// A plan answers a filter, or a part of it, for the messages of one segment from columns and
// shapes, without looking at them. As everywhere, more than one truth means that the message has to
// be read.
type plan interface {
	// look finds the columns for the messages of t, and returns which truths there are among them.
	look(t *stretch) truths
	// fill writes the truths of each message of the segment that look was called with last.
	fill(out []truths)
}

// planner makes the plan of a filter.
type planner struct {
	matcher  *Matcher
	request  *PageRequest
	snapshot archive.Snapshot
	columns  archive.Columns
	readers  []*columnReader
}

func (p *planner) plan(n node) plan {
	switch n := n.(type) {
	case everything:
		return planConstant(isYes)
	case truthValue:
		return planConstant(truthOf(bool(n)))
	case negation:
		return &planNegation{of: p.plan(n.of)}
	case *junction:
		j := &planJunction{or: n.or, truths: make([]truths, len(n.ordered))}
		for _, of := range n.ordered {
			j.of = append(j.of, p.plan(of))
		}
		return j
	case *condition:
		shape := p.byShape(n)
		if columnable(n) && !(p.matcher.shaped && settledByShape(n)) {
			return newPlanColumn(n, p.reader(n), shape)
		}
		return shape
	}
	return p.byShape(n)
}

// reader is the one of c's operand.
func (p *planner) reader(c *condition) *columnReader {
	for _, r := range p.readers {
		if r.name.Name == c.operand() {
			return r
		}
	}
	r := p.request.columnReader(p.snapshot, p.columns, c)
	p.readers = append(p.readers, r)
	return r
}

func (p *planner) byShape(n node) *planShape {
	return &planShape{
		node:     n,
		shaped:   p.matcher.shaped,
		view:     shapeView{dialect: p.matcher.dialect},
		snapshot: p.snapshot,
	}
}

// planConstant is the same for all messages.
type planConstant truths

func (c planConstant) look(*stretch) truths { return truths(c) }
func (c planConstant) fill(out []truths)    { fillWith(out, truths(c)) }

func fillWith(out []truths, t truths) {
	for i := range out {
		out[i] = t
	}
}

// planShape is what the names and types of a message say of a condition.
type planShape struct {
	node     node
	shaped   bool // the shapes are of the dialect asked for
	view     shapeView
	snapshot archive.Snapshot

	segment archive.Segment
	byID    []truths // by the number of a shape in the segment
	union   truths
}

func (p *planShape) look(t *stretch) truths {
	p.segment, p.union = t.segment, anyTruth
	if !p.shaped {
		return p.union
	}
	p.union = 0
	counts := t.shapeCounts()
	if n := int(counts[len(counts)-1].ID) + 1; n > len(p.byID) {
		p.byID = make([]truths, n)
	}
	for _, c := range counts {
		of := anyTruth
		if p.view.shape = p.snapshot.Shape(c.ID); p.view.shape != nil {
			of = p.node.shape(&p.view)
		}
		p.byID[c.ID] = of
		p.union |= of
	}
	return p.union
}

func (p *planShape) fill(out []truths) {
	if p.union&(p.union-1) == 0 || !p.shaped {
		fillWith(out, p.union)
		return
	}
	for i := range out {
		out[i] = p.byID[p.segment.ShapeAt(i)]
	}
}

// planColumn is a condition on one value.
type planColumn struct {
	condition *condition
	reader    *columnReader
	shape     *planShape // where there is no column

	// What is asked of a column that is keyed: the keys that may be equal, and what the condition
	// is for all others.
	keys      [][]byte
	otherwise truths

	column *archive.Column
	byCode []truths // of the codes of the dictionary
	keyed  []truths // of any code: otherwise, but for those found by the last look
	found  []uint16
	union  truths
}

func newPlanColumn(c *condition, reader *columnReader, shape *planShape) *planColumn {
	p := &planColumn{condition: c, reader: reader, shape: shape}
	var ok bool
	if p.keys, p.otherwise, ok = equalities(c.test); ok && c.negate {
		p.otherwise = p.otherwise.not()
	}
	return p
}

// without is the condition where there is no value.
func (p *planColumn) without() truths {
	t := p.condition.test.absent()
	if p.condition.negate {
		t = t.not()
	}
	return t
}

func (p *planColumn) look(t *stretch) truths {
	if p.column = p.reader.of(t.segment); p.column == nil {
		return p.shape.look(t)
	}
	if p.column.Keyed() {
		p.union = p.lookKeyed()
	} else {
		p.union = p.lookDictionary()
	}
	return p.union
}

func (p *planColumn) lookDictionary() (union truths) {
	counts := p.column.Counts()
	p.byCode = append(p.byCode[:0], p.without(), anyTruth)
	s := &p.reader.scratch
	for code := archive.FirstValue; int(code) < len(counts); code++ {
		t := p.condition.test.holds(s, p.reader.load(p.column.Value(code)))
		if p.condition.negate {
			t = t.not()
		}
		p.byCode = append(p.byCode, t)
	}
	for code, n := range counts {
		if n > 0 {
			union |= p.byCode[code]
		}
	}
	return union
}

func (p *planColumn) lookKeyed() truths {
	if p.keyed == nil {
		p.keyed = make([]truths, 1<<16)
		fillWith(p.keyed, p.otherwise)
		p.keyed[archive.NoValue], p.keyed[archive.Unread] = p.without(), anyTruth
	}
	for _, code := range p.found {
		p.keyed[code] = p.otherwise
	}
	p.found = p.found[:0]
	var union truths
	counts := p.column.Counts()
	none, unread := counts[archive.NoValue], counts[archive.Unread]
	if none > 0 {
		union |= p.without()
	}
	if unread > 0 {
		union = anyTruth
	}
	if int(none+unread) < len(p.column.Codes()) {
		union |= p.otherwise
	}
	for _, key := range p.keys {
		if code, ok := p.column.Find(key); ok {
			p.keyed[code] = anyTruth
			p.found = append(p.found, code)
			union = anyTruth
		}
	}
	return union
}

func (p *planColumn) fill(out []truths) {
	if p.column == nil {
		p.shape.fill(out)
		return
	}
	byCode := p.byCode
	if p.column.Keyed() {
		byCode = p.keyed
	}
	for i, code := range p.column.Codes() {
		out[i] = byCode[code]
	}
}

// count adds up the messages for which the condition is yes. ok is false where some have to be
// read.
func (p *planColumn) count(not bool) (n uint64, ok bool) {
	if p.column == nil || p.column.Keyed() {
		return 0, false
	}
	for code, of := range p.column.Counts() {
		t := p.byCode[code]
		if not {
			t = t.not()
		}
		if of > 0 && t == isYes {
			n += uint64(of)
		} else if of > 0 && t&isYes != 0 {
			return 0, false
		}
	}
	return n, true
}

type planNegation struct {
	of plan
}

func (p *planNegation) look(t *stretch) truths { return p.of.look(t).not() }

func (p *planNegation) fill(out []truths) {
	p.of.fill(out)
	for i, t := range out {
		out[i] = t.not()
	}
}

// planJunction is AND, or OR as the AND of the opposites.
type planJunction struct {
	or     bool
	of     []plan
	truths []truths // what look found of each, turned round for OR
	looked int      // how many were looked at: the others do not matter
	room   []truths
}

func (p *planJunction) look(t *stretch) truths {
	all := isYes
	for p.looked = 0; p.looked < len(p.of) && all != isNo; p.looked++ {
		of := p.of[p.looked].look(t)
		if p.or {
			of = of.not()
		}
		p.truths[p.looked] = of
		all = all.and(of)
	}
	if p.or {
		all = all.not()
	}
	return all
}

func (p *planJunction) fill(out []truths) {
	fillWith(out, isYes)
	p.room = slices.Grow(p.room[:0], len(out))[:len(out)]
	for i, of := range p.of[:p.looked] {
		if p.truths[i] == isYes {
			continue
		}
		of.fill(p.room)
		for j, t := range p.room {
			if p.or {
				t = t.not()
			}
			out[j] = out[j].and(t)
		}
	}
	if p.or {
		for i, t := range out {
			out[i] = t.not()
		}
	}
}
