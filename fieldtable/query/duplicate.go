package query

// duplicateCheck is a condition such as
//
//	duplicate(tenant)
//
// Does the table carry a header of that name twice or more? Without a name: any header.
type duplicateCheck struct {
	name string
	any  bool
}

func (q *duplicateCheck) eval(s *Scratch) truths {
	switch s.tableState() {
	case absent:
		return isNo
	case unreadable:
		return noOrYes
	}
	if q.any {
		if s.marked && s.message.Marks().Duplicates {
			return isYes
		}
		if s.marked && !s.message.Marks().Damaged {
			return isNo
		}
		return s.anyDuplicate()
	}
	n := 0
	scan := s.table().Scan()
	for scan.Next() {
		if string(scan.Field().Name) == q.name {
			if n++; n > 1 {
				return isYes
			}
		}
	}
	if scan.Err() != nil {
		return noOrYes
	}
	return isNo
}

// anyDuplicate is for readings that the archive has no marks for.
func (s *Scratch) anyDuplicate() truths {
	clear(s.names)
	if s.names == nil {
		s.names = map[string]struct{}{}
	}
	scan := s.table().Scan()
	for scan.Next() {
		name := scan.Field().Name
		if _, seen := s.names[string(name)]; seen {
			return isYes
		}
		s.names[string(name)] = struct{}{}
	}
	if scan.Err() != nil {
		return noOrYes
	}
	return isNo
}

func (q *duplicateCheck) shape(v *shapeView) truths {
	n := 0
	for _, f := range v.shape.Fields {
		if f.Name == q.name {
			n++
		}
	}
	switch {
	case q.any && v.shape.Duplicates, !q.any && n > 1:
		return isYes
	case v.shape.Damaged:
		return noOrYes
	}
	return isNo
}

func (q *duplicateCheck) cost() cost {
	if q.any {
		return costFacts
	}
	return costWalk
}

func (q *duplicateCheck) append(dst []byte) []byte {
	dst = append(dst, "duplicate("...)
	if !q.any {
		dst = appendName(dst, q.name)
	}
	return append(dst, ')')
}
