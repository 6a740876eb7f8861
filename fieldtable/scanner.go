package fieldtable

// Field is one entry of a table. Name may hold any octets and belongs to the table: it is not a
// copy. Offset is that of the name's length octet and End that after the value, both from the
// outermost table's first length octet.
type Field struct {
	Name        []byte
	Value       Value
	Offset, End int
}

// Scanner reads a table's fields or an array's elements in wire order, and no further than it is
// asked to. It is a value: a copy keeps its own place.
type Scanner struct {
	container
	w     *widths
	named bool
	// failed says that what is at pos could not be read.
	failed bool
	pos    uint64
	count  int // of elements before pos
	// The element that Next read last: its first octet, its tag, the offset after it (0: none yet),
	// its place in the order.
	start, tagAt, stop uint64
	index              int
	// up stands on the table or array that this scanner is in, if it came from Into.
	up *Scanner
}

func newScanner(c container, named bool) Scanner {
	_, w, first := c.bounds()
	return Scanner{container: c, w: w, named: named, pos: first}
}

// measure finds the tag and the end of the element at s.pos.
func (s *Scanner) measure() (tagAt, end uint64, ok bool) {
	b, p := s.root[:s.end], s.pos
	if p >= uint64(len(b)) || s.failed {
		return 0, 0, false
	}
	tagAt = p
	if s.named {
		tagAt = p + 1 + uint64(b[p])
	}
	if tagAt < uint64(len(b)) {
		if end = s.w.extent(b, tagAt); end <= uint64(len(b)) {
			return tagAt, end, true
		}
		if end = s.w.exactExtent(b, tagAt); end <= uint64(len(b)) {
			return tagAt, end, true
		}
	}
	s.failed = true
	return 0, 0, false
}

// Next reads the next element, which Field and Value then return. It returns false at the end and
// at damage; Err tells which.
func (s *Scanner) Next() bool {
	tagAt, end, ok := s.measure()
	if !ok {
		return false
	}
	s.start, s.tagAt, s.stop, s.index = s.pos, tagAt, end, s.count
	s.pos = end
	s.count++
	return true
}

// Skip passes over the next element as Next does, but leaves Field and Value as they were.
func (s *Scanner) Skip() bool {
	_, end, ok := s.measure()
	if !ok {
		return false
	}
	s.pos = end
	s.count++
	return true
}

// Field returns the field that Next read last, the zero Field before that. An array's elements have
// a nil Name.
func (s *Scanner) Field() (f Field) {
	f.Name, f.Value = s.Name(), s.Value()
	f.Offset, f.End = int(s.start), int(s.stop)
	return f
}

// Name returns the name of the field that Next read last; nil before that and in an array.
func (s *Scanner) Name() []byte {
	if s.stop == 0 || !s.named {
		return nil
	}
	return s.root[s.start+1 : s.tagAt : s.tagAt]
}

// Value returns the value that Next read last, the zero Value before that.
func (s *Scanner) Value() Value {
	if s.stop == 0 {
		return Value{}
	}
	return newValue(s.root, s.d, s.depth, s.tagAt, s.stop)
}

// Index returns how many elements come before the one that Next read last.
func (s *Scanner) Index() int { return s.index }

// Offset returns where the scanner stands: at the first octet of what Next would read, or of what
// it could not read.
func (s *Scanner) Offset() int { return int(s.pos) }

// Into returns a Scanner for the table or array that Next read last; ok is false if it read
// something else. The new scanner knows by s what it lies in, so that its errors find their path
// without searching for it: use it only while s stays where it is.
func (s *Scanner) Into() (inner Scanner, ok bool) {
	v := s.Value()
	if v.kind != KindTable && v.kind != KindArray {
		return Scanner{}, false
	}
	inner = newScanner(v.inside(), v.kind == KindTable)
	inner.up = s
	return inner, true
}

// Err returns a *SyntaxError if Next or Skip met damage or, at the end of the outermost table, if
// the table as a whole is flawed: its length, or octets that follow it. Otherwise it returns nil.
func (s *Scanner) Err() error {
	if e := s.damage(); e != nil {
		return e
	}
	return nil
}

func (s *Scanner) damage() *SyntaxError {
	switch {
	case s.failed:
		found := s.w.diagnose(s.root[:s.end], s.pos, s.named)
		e := found.syntaxError(s.d)
		e.Path = s.pathOfDamage(found.reason != nameTruncated)
		return &e
	case s.flaw != sound && s.pos >= uint64(s.end):
		return s.flawed()
	}
	return nil
}

// AppendPath appends the path of the element that Next read last.
func (s *Scanner) AppendPath(dst []byte) []byte {
	if s.stop == 0 {
		return s.appendOuterPath(dst)
	}
	return s.appendStep(s.appendOuterPath(dst), s.start, s.tagAt, s.index)
}

// pathOfDamage returns the path of the element at s.pos; without own, of what holds it.
func (s *Scanner) pathOfDamage(own bool) string {
	path := s.appendOuterPath(nil)
	if own {
		tagAt := s.pos
		if s.named {
			tagAt += 1 + uint64(s.root[s.pos])
		}
		path = s.appendStep(path, s.pos, tagAt, s.count)
	}
	return string(shorten(path))
}

func (s *Scanner) appendOuterPath(dst []byte) []byte {
	switch {
	case s.up != nil:
		return s.up.AppendPath(dst)
	case s.depth > 0:
		return append(dst, pathTo(s.root, s.d, uint64(s.at)-1, true)...)
	}
	return dst
}

func (s *Scanner) appendStep(path []byte, start, tagAt uint64, index int) []byte {
	if s.named {
		return AppendStep(path, s.root[start+1:tagAt])
	}
	return AppendIndex(path, index)
}
