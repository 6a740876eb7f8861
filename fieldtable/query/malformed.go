package query

import "github.com/headerglass/headerglass/fieldtable"

// malformed is malformed(): is the header table damaged anywhere, nested values
// included?
type malformed struct{}

func (malformed) eval(s *Scratch) truth {
	if s.marked {
		return truthOf(s.message.Marks().Damaged)
	}
	return truthOf(s.tableState() == unreadable || s.tableState() == present && s.table().Valid() != nil)
}

func (malformed) shape(v *shapeView) truth {
	if v.shape.Damaged {
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
