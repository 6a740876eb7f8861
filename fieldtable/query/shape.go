package query

import (
	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// shapeView is a shape with the dialect that it was made under.
type shapeView struct {
	shape   *archive.Shape
	dialect *fieldtable.Dialect
	// values: what a header says is left open, which its type does not settle.
	values bool
}

// matchShape decides by the names and types of a message's headers alone. d is
// the archive's dialect, under which shapes are made. Where decided is false, the
// message itself has to be read. Unknown then also stands for No: the names rule
// out a match, whichever of the two it is.
func (q *Filter) matchShape(sh *archive.Shape, d *fieldtable.Dialect) (t truths, decided bool) {
	if sh == nil {
		t = anyTruth
		if q.MatchesAll() {
			t = isYes
		}
		return t, q.MatchesAll()
	}
	v := shapeView{shape: sh, dialect: d}
	t = q.root.shape(&v)
	return t, q.byShape && !v.values || t == isYes || t&isYes == 0
}

// settledByShape reports whether a message's shape alone gives n's verdict. For a damaged shape
// the verdict may be Damaged; reading the message would not change that.
func settledByShape(n node) bool {
	switch n := n.(type) {
	case negation:
		return settledByShape(n.of)
	case *junction:
		for _, n := range n.written {
			if !settledByShape(n) {
				return false
			}
		}
		return true
	case *calculation, *calculatedTest:
		return false
	case *unknownCheck:
		return settledByShape(n.of)
	case *condition:
		if n.prop != nil || n.also != nil || len(n.path.steps) > 0 {
			return false
		}
		switch n.test.(type) {
		case existence, nullCheck, *typeCheck:
			return true
		}
		return false
	case damageCheck:
		return false // damage can be deeper
	case *everywhere:
		return false
	}
	return true
}
