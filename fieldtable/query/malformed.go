package query

import "github.com/headerglass/headerglass/fieldtable"

// malformed is malformed(): is the content header damaged anywhere, the header table and the values
// nested in it included?
type malformed struct{}

func (malformed) eval(s *Scratch) truth {
	if s.marked {
		return truthOf(s.message.Marks().Damaged)
	}
	if s.message.Header().Valid() != nil {
		return isYes
	}
	return truthOf(s.tableState() == present && s.table().Valid() != nil)
}

func (malformed) shape(v *shapeView) truth {
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

func (malformed) cost() cost               { return costFacts }
func (malformed) append(dst []byte) []byte { return append(dst, "malformed()"...) }
