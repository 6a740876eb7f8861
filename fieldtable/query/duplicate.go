package query

// duplicate is duplicate("k"): does the table carry a header of that name twice
// or more? Without a name: any header.
type duplicate struct {
	name string
	any  bool
}

func (q *duplicate) eval(s *Scratch) truth {
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
func (s *Scratch) anyDuplicate() truth {
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

func (q *duplicate) shape(v *shapeView) truth {
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

func (q *duplicate) cost() cost {
	if q.any {
		return costFacts
	}
	return costWalk
}

func (q *duplicate) append(dst []byte) []byte {
	dst = append(dst, "duplicate("...)
	if !q.any {
		dst = appendName(dst, q.name)
	}
	return append(dst, ')')
}
