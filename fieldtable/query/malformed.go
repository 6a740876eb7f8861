package query

import "github.com/headerglass/headerglass/fieldtable"

// damageCheck is the condition
//
//	malformed()
//
// Is the content header damaged anywhere, the header table and the values
// nested in it included?
type damageCheck struct{}

func (damageCheck) eval(s *Scratch) truths {
	if s.marked {
		return truthOf(s.message.Marks().Damaged)
	}
	if s.message.Header().Valid() != nil {
		return isYes
	}
	return truthOf(s.tableState() == present && s.table().Valid() != nil)
}

func (damageCheck) shape(v *shapeView) truths {
	if v.shape.Damaged || v.shape.HeaderDamaged {
		return isYes
	}
	for _, f := range v.shape.Fields {
		switch v.dialect.Kind(f.Tag) {
		case fieldtable.KindTable, fieldtable.KindArray:
			return noOrYes
		}
	}
	return isNo
}

func (damageCheck) cost() cost               { return costFacts }
func (damageCheck) append(dst []byte) []byte { return append(dst, "malformed()"...) }
