package query

import (
	"slices"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Filter is a compiled filter. It is immutable and safe for concurrent use.
type Filter struct {
	root node
	// keys are the top-level header names that conditions compare, each once.
	keys []string
	text string
	// byShape: names and tags settle every verdict.
	byShape bool
}

// Compile reads a filter; its error is an *Error. The empty filter matches every
// message.
func Compile(src string) (*Filter, error) {
	if src == "" { // as most pages have it
		return &Filter{root: everything{}, byShape: true}, nil
	}
	root, keys, err := parse(src)
	if err != nil {
		return nil, err
	}
	text := string(root.append(nil))
	if len(text) > MaxSource {
		return nil, tooLong(src)
	}
	return &Filter{root: root, keys: keys, text: text, byShape: settledByShape(root)}, nil
}

// String is the filter in canonical form: what it compiles to is the same filter.
func (q *Filter) String() string { return q.text }

// Keys returns the top-level header names that a match has to find.
func (q *Filter) Keys() []string { return slices.Clone(q.keys) }

// MatchesAll reports whether q is the empty filter.
func (q *Filter) MatchesAll() bool { return q.root == everything{} }

// ByShape reports whether the names and types of a message's headers decide
// every verdict, so that no message needs to be read.
func (q *Filter) ByShape() bool { return q.byShape }

// Scratch is the working memory of a match, so that none is allocated per
// message. The zero value is ready; one goroutine uses it at a time.
type Scratch struct {
	message archive.Message
	dialect *fieldtable.Dialect
	// marked: the marks of the message are of this dialect.
	marked bool
	keys   []string
	memo   *fieldtable.Memo
	// shape is the message's, nil where it is not known; then places are those of the keys in it.
	shape  *archive.Shape
	places []int

	// encoded and found are valid once looked is set, values and damaged once
	// projected is.
	encoded   []byte
	found     presence
	looked    bool
	projected bool
	damaged   bool
	values    []fieldtable.Value

	datum datum
	inner fieldtable.Value
	text  []byte
	// origin is the property of the archive that is looked at.
	origin []byte
	names  map[string]struct{}
	// bytesRead counts the bytes of header tables that were looked at.
	bytesRead int64
}

// Match decides one message, read under the given dialect, nil for Lenient. What the archive knows
// about it under its own dialect is not used: see Matcher.
func (q *Filter) Match(m archive.Message, d *fieldtable.Dialect, s *Scratch) Verdict {
	s.marked = false
	return q.match(m, orLenient(d), nil, s).verdict()
}

func orLenient(d *fieldtable.Dialect) *fieldtable.Dialect {
	if d == nil {
		return fieldtable.Lenient()
	}
	return d
}

func (q *Filter) match(m archive.Message, d *fieldtable.Dialect, memo *fieldtable.Memo, s *Scratch) truths {
	s.message = m
	s.start(d, memo, q.keys)
	return q.root.eval(s)
}

// start makes s.message the one to look at.
func (s *Scratch) start(d *fieldtable.Dialect, memo *fieldtable.Memo, keys []string) {
	s.dialect, s.memo, s.keys, s.shape = d, memo, keys, nil
	s.looked, s.projected = false, false
}

// tableState finds the header table. It is unreadable where the property is set
// and the content header ends before it.
func (s *Scratch) tableState() presence {
	if s.looked {
		return s.found
	}
	s.looked = true
	var ok bool
	s.encoded, ok = s.message.HeaderTable()
	switch {
	case ok:
		s.found = present
	case s.message.Header().Flags()&wire.FlagHeaders != 0:
		s.found = unreadable
	default:
		s.found = absent
	}
	return s.found
}

// table is the header table where tableState is present.
func (s *Scratch) table() fieldtable.Table { return fieldtable.View(s.encoded, s.dialect) }

// header returns the value of the query's key in the given slot. The first call
// finds all of the keys in one pass.
func (s *Scratch) header(slot int) (*fieldtable.Value, presence) {
	if !s.projected {
		if p := s.project(); p != present {
			return nil, p
		}
	}
	v := &s.values[slot]
	switch {
	case s.memo != nil:
		var err error
		*v, err = s.memo.Lookup(s.keys[slot])
		return v, presenceOf(err)
	case !v.IsZero():
		return v, present
	case s.damaged:
		return v, unreadable
	}
	return v, absent
}

func (s *Scratch) project() presence {
	n := len(s.keys)
	if cap(s.values) < n {
		s.values = make([]fieldtable.Value, n)
	}
	s.values = s.values[:n]
	if s.memo == nil && s.shape != nil && s.pick() {
		s.projected = true
		return present
	}
	if p := s.tableState(); p != present {
		return p
	}
	s.projected = true
	if s.memo != nil {
		return present
	}
	found, err := 0, error(nil)
	if n == 1 { // the everyday case: Lookup does without what several keys need
		if s.values[0], err = s.table().Lookup(s.keys[0]); err == nil {
			found = 1
		} else if err == fieldtable.ErrAbsent {
			err = nil
		}
	} else {
		found, err = s.table().Project(s.keys, s.values)
	}
	s.damaged = err != nil
	end := 0
	if found == n {
		for i := range s.values {
			end = max(end, s.values[i].End())
		}
	} else {
		end = len(s.encoded)
	}
	s.bytesRead += int64(end)
	return present
}

// pick takes the values from where the archive noted that they are. It reports whether there are
// such notes.
func (s *Scratch) pick() bool {
	s.damaged = s.shape.Damaged
	for slot, i := range s.places {
		if i < 0 {
			s.values[slot] = fieldtable.Value{}
			continue
		}
		encoded, at, ok := s.message.Place(i)
		if !ok {
			return false
		}
		if v := &s.values[slot]; v.Seek(encoded, s.dialect, at) {
			s.bytesRead += int64(v.End() - at)
		}
	}
	return true
}

// load makes v the value under test.
func (s *Scratch) load(v *fieldtable.Value) {
	s.datum.setValue(v)
	s.datum.removed = s.message.Redacted() && s.message.ValueRemoved(v)
}

// holds tests what is loaded. A comparison with a value that was removed is unknown, unless its
// type settles it.
func (s *Scratch) holds(t predicate) truths {
	if s.datum.removed {
		switch t.(type) {
		case *comparison, *betweenBounds, *inList, *likePattern, *regularExpression:
			if v := s.datum.value; v != nil {
				if of := t.tag(v.Tag(), s.dialect); of&(of-1) == 0 {
					return of
				}
			}
			return isUnknown
		}
	}
	return t.holds(s, &s.datum)
}

// displayed returns the text shown for d, valid until the next call.
func (s *Scratch) displayed(d *datum) []byte {
	if d.class == classText {
		return d.bytes
	}
	s.text = d.appendDisplayed(s.text[:0])
	return s.text
}
