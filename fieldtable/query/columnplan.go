package query

import (
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// isOpen stands beside several truths of a message, of which only reading it tells the right one.
// Several without it are damage, as everywhere: reading would tell no more.
const isOpen truths = 1 << 3

const openTruth = anyTruth | isOpen

// open is t, which the names and types of a message leave open.
func open(t truths) truths {
	if t&(t-1) != 0 {
		t |= isOpen
	}
	return t
}

func notOpen(t truths) truths { return t.not() | t&isOpen }

func andOpen(a, b truths) truths {
	t := a.and(b)
	if t&(t-1) != 0 {
		t |= (a | b) & isOpen
	}
	return t
}

// A plan answers a filter, or a part of it, for the messages of one segment from columns and
// shapes, without looking at them.
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
		if !columnable(n) {
			return shape
		}
		column := newPlanColumn(n, p.reader(n), shape)
		if p.matcher.shaped && shape.settled {
			return &planRest{shape, column}
		}
		return column
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
		settled:  settledByShape(n),
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
	settled  bool // reading would tell no more
	view     shapeView
	snapshot archive.Snapshot

	segment archive.Segment
	byID    []truths // by the number of a shape in the segment
	union   truths
}

func (p *planShape) look(t *stretch) truths {
	p.segment, p.union = t.segment, openTruth
	if !p.shaped {
		return p.union
	}
	p.union = 0
	counts := t.shapeCounts()
	if n := int(counts[len(counts)-1].ID) + 1; n > len(p.byID) {
		p.byID = make([]truths, n)
	}
	for _, c := range counts {
		of := openTruth
		if p.view.shape = p.snapshot.Shape(c.ID); p.view.shape != nil {
			p.view.values = false
			of = p.node.shape(&p.view)
			if !p.settled || p.view.values {
				of = open(of)
			}
		}
		p.byID[c.ID] = of
		p.union |= of
	}
	return p.union
}

func (p *planShape) fill(out []truths) {
	if !p.shaped {
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
	if p.keys, p.otherwise, ok = equalities(c.test); !ok {
		p.otherwise = openTruth
	} else if c.negate {
		p.otherwise = p.otherwise.not()
	}
	return p
}

// of is the condition where there is no value.
func (p *planColumn) of(there presence) truths {
	t := outcome(there, p.condition.test)
	if p.condition.negate {
		t = t.not()
	}
	return t
}

func (p *planColumn) look(t *stretch) truths {
	if p.column = p.reader.of(t.segment); p.column == nil {
		return p.shape.look(t)
	}
	p.unfind()
	if p.column.Keyed() {
		p.union = p.lookKeyed()
	} else {
		p.union = p.lookDictionary()
	}
	return p.union
}

// unfind forgets what was found in the last segment.
func (p *planColumn) unfind() {
	for _, code := range p.found {
		p.keyed[code] = p.otherwise
	}
	p.found = p.found[:0]
}

func (p *planColumn) lookDictionary() (union truths) {
	counts := p.column.Counts()
	p.byCode = append(p.byCode[:0], p.of(absent), p.of(unreadable), openTruth)
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
		p.keyed[archive.NoValue], p.keyed[archive.Hidden] = p.of(absent), p.of(unreadable)
		p.keyed[archive.Unread] = openTruth
	}
	var union truths
	values := len(p.column.Codes())
	for code, n := range p.column.Counts() {
		if n > 0 {
			union |= p.keyed[code]
			values -= int(n)
		}
	}
	if values > 0 {
		union |= p.otherwise
	}
	for _, key := range p.keys {
		if code, ok := p.column.Find(key); ok {
			p.keyed[code] = openTruth
			p.found = append(p.found, code)
			union |= openTruth
		}
	}
	return union
}

func (p *planColumn) fill(out []truths) {
	if p.column == nil {
		p.shape.fill(out)
		return
	}
	byCode := p.codes()
	for i, code := range p.column.Codes() {
		out[i] = byCode[code]
	}
}

// codes is what the codes of the column are.
func (p *planColumn) codes() []truths {
	if p.column.Keyed() {
		return p.keyed
	}
	return p.byCode
}

// count adds up the messages for which the condition is yes, and those for which damage leaves
// that open. ok is false where some have to be looked at.
func (p *planColumn) count(not bool) (n, damaged uint64, ok bool) {
	if p.column == nil {
		return 0, 0, false
	}
	byCode, others := p.codes(), len(p.column.Codes())
	ok = true
	add := func(t truths, of int) {
		if not {
			t = notOpen(t)
		}
		switch {
		case of == 0 || t&isYes == 0:
		case t&isOpen != 0:
			ok = false
		case t == isYes:
			n += uint64(of) // #nosec G115 -- a count
		default:
			damaged += uint64(of) // #nosec G115 -- likewise
		}
	}
	for code, of := range p.column.Counts() {
		add(byCode[code], int(of))
		others -= int(of)
	}
	// The others are of a keyed column.
	add(p.otherwise, others)
	return n, damaged, ok && len(p.found) == 0
}

// planRest is a condition that shapes settle. A column answers for the messages that have none,
// which are those with the largest tables.
type planRest struct {
	*planShape
	column *planColumn
}

func (p *planRest) look(t *stretch) truths {
	p.column.column = nil
	union := p.planShape.look(t)
	if union&isOpen == 0 {
		return union
	}
	rest := p.column.look(t)
	if p.column.column == nil {
		return union
	}
	for _, c := range t.shapeCounts() {
		if of := p.byID[c.ID]; of&isOpen == 0 {
			rest |= of
		}
	}
	return rest
}

func (p *planRest) fill(out []truths) {
	p.planShape.fill(out)
	if p.column.column == nil {
		return
	}
	byCode := p.column.codes()
	for i, code := range p.column.column.Codes() {
		if out[i]&isOpen != 0 {
			out[i] = byCode[code]
		}
	}
}

type planNegation struct {
	of plan
}

func (p *planNegation) look(t *stretch) truths { return notOpen(p.of.look(t)) }

func (p *planNegation) fill(out []truths) {
	p.of.fill(out)
	for i, t := range out {
		out[i] = notOpen(t)
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
			of = notOpen(of)
		}
		p.truths[p.looked] = of
		all = andOpen(all, of)
	}
	if p.or {
		all = notOpen(all)
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
				t = notOpen(t)
			}
			if t != isYes {
				out[j] = andOpen(out[j], t)
			}
		}
	}
	if p.or {
		for i, t := range out {
			out[i] = notOpen(t)
		}
	}
}
