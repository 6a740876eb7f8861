package query

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/nearest"
)

// Note says what in a filter may mean something else than was meant.
type Note struct {
	// Text is one or two sentences.
	Text string
	// Readings are filters that were perhaps meant, the likeliest first; there may be none.
	Readings []string
}

const (
	maxNotes    = 5
	maxReadings = 3
	maxCompare  = 200 // names seen that a missing one is compared with
)

// Notes looks at the names of a filter beside those that were seen: which of them no message has,
// and which words that are compared as text are also a header's name. The filter itself may match
// all the same.
func (q *Filter) Notes(seen []archive.KeyCount) []Note {
	names := make(map[string]bool, len(seen))
	for _, k := range seen {
		names[k.Key] = true
	}
	var notes []Note
	noted := map[string]bool{}
	visit(q.root, func(c *condition) {
		if c.prop == nil && !noted["name "+c.path.name] && !names[c.path.name] {
			noted["name "+c.path.name] = true
			if note, ok := q.missing(c, names, seen); ok {
				notes = append(notes, note)
			}
		}
		for _, word := range words(c.test) {
			if !noted["word "+word] && names[word] {
				noted["word "+word] = true
				notes = append(notes, q.alsoName(word))
			}
		}
	})
	for _, text := range q.textsInArithmetic() {
		notes = append(notes, Note{Text: text + " is no number: what is calculated with it is unknown."})
	}
	return notes[:min(len(notes), maxNotes)]
}

// textsInArithmetic are the texts that are written where only numbers can be calculated with.
func (q *Filter) textsInArithmetic() (texts []string) {
	var in func(e expression, calculated bool)
	in = func(e expression, calculated bool) {
		switch e := e.(type) {
		case *arithmetic:
			in(e.left, true)
			in(e.right, true)
		case *signedExpression:
			in(e.of, true)
		case *constant:
			if _, number := e.asNumber(); calculated && !number && !slices.Contains(texts, e.text) {
				texts = append(texts, e.text)
			}
		}
	}
	var look func(n node)
	look = func(n node) {
		switch n := n.(type) {
		case negation:
			look(n.of)
		case *junction:
			for _, of := range n.written {
				look(of)
			}
		case *unknownCheck:
			look(n.of)
		case *calculation:
			in(n.left, false)
			in(n.right, false)
		case *calculatedTest:
			in(n.of, false)
		}
	}
	look(q.root)
	return texts
}

// visit shows the conditions of a filter, those in calculations included, in the order written.
func visit(n node, show func(*condition)) {
	switch n := n.(type) {
	case negation:
		visit(n.of, show)
	case *junction:
		for _, of := range n.written {
			visit(of, show)
		}
	case *calculation:
		n.left.conditions(show)
		n.right.conditions(show)
	case *calculatedTest:
		n.of.conditions(show)
	case *unknownCheck:
		visit(n.of, show)
	case *condition:
		show(n)
	}
}

// words are the bare words that a value is compared with.
func words(p predicate) (found []string) {
	add := func(l *literal) {
		if l.bare && l.kind == literalWord && !l.isBool {
			found = append(found, string(l.text))
		}
	}
	switch p := p.(type) {
	case *comparison:
		add(&p.to)
	case *betweenBounds:
		add(&p.low)
		add(&p.high)
	case *inList:
		for i := range p.values {
			add(&p.values[i])
		}
	}
	return found
}

func (q *Filter) alsoName(word string) Note {
	n := Note{Text: word + " is compared as text here, and is also the name of a header."}
	if filter, ok := q.reread(&parser{headerWord: word}); ok {
		n.Readings = []string{filter}
	}
	return n
}

// missing is for a name that no message has at top level. ok is false where it means something else
// that may be there.
func (q *Filter) missing(c *condition, names map[string]bool, seen []archive.KeyCount) (n Note, ok bool) {
	if c.also != nil && (c.also.prop != nil || names[c.also.path.name]) {
		return Note{}, false
	}
	name := c.path.name
	n.Text = "No message that is kept has a header " + string(appendName(nil, name)) + "."
	if filter, ok := q.apart(name, names); ok {
		n.Text += " Names may hold - and /: arithmetic needs spaces around them."
		n.Readings = append(n.Readings, filter)
	}
	if filter, ok := q.withColon(name, names); ok {
		n.Readings = append(n.Readings, filter)
	}
	n.Readings = append(n.Readings, q.nearest(name, seen)...)
	if word, ok := q.Word(); ok {
		n.Readings = append(n.Readings, Anywhere(word))
	}
	return n, true
}

// Word is the filter where that is a header's name alone, which may as well be a word that is
// looked for.
func (q *Filter) Word() (word string, ok bool) {
	c, ok := q.root.(*condition)
	if !ok || c.prop != nil || len(c.path.steps) > 0 {
		return "", false
	}
	of, ok := c.test.(existence)
	return c.path.name, ok && !of.call
}

// withColon reads a name such as tenant:acme as a name that was seen and its value.
func (q *Filter) withColon(name string, names map[string]bool) (string, bool) {
	for i := range len(name) {
		if name[i] == ':' && names[name[:i]] && i+1 < len(name) {
			return q.respelled(name, name[:i+1]+" "+name[i+1:])
		}
	}
	return "", false
}

// apart reads a name such as weight-1 or 17/4 as arithmetic, if each part of it is a number or a
// name that was seen.
func (q *Filter) apart(name string, names map[string]bool) (string, bool) {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '/' })
	if len(parts) < 2 {
		return "", false
	}
	for _, part := range parts {
		if !isNumber(part) && !names[part] {
			return "", false
		}
	}
	return q.respelled(name, strings.NewReplacer("-", " - ", "/", " / ").Replace(name))
}

// respelled is the filter with a word in it written in another way.
func (q *Filter) respelled(name, spelling string) (string, bool) {
	var b strings.Builder
	l := lexer{src: q.text}
	for last := 0; ; {
		t, err := l.next()
		if err != nil {
			return "", false
		}
		b.WriteString(q.text[last:t.off])
		if last = t.end; t.kind == tokWord && t.text == name {
			b.WriteString(spelling)
		} else {
			b.WriteString(q.text[t.off:t.end])
		}
		if t.kind == tokEnd {
			break
		}
	}
	filter, err := Compile(b.String())
	if err != nil {
		return "", false
	}
	return filter.text, true
}

// nearest are the filters that this one becomes with a name that was seen and resembles a missing
// one in the place of that.
func (q *Filter) nearest(missing string, seen []archive.KeyCount) []string {
	type near struct {
		filter   string
		distance int
	}
	var found []near
	for _, k := range seen[:min(len(seen), maxCompare)] {
		if d := nearest.Distance(fold(missing), fold(k.Key)); d <= max(len(missing)/3, 1) {
			rename := func(name string) string {
				if name == missing {
					return k.Key
				}
				return name
			}
			if filter, ok := q.reread(&parser{rename: rename}); ok {
				found = append(found, near{filter, d})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var filters []string
	for _, n := range found[:min(len(found), maxReadings)] {
		filters = append(filters, n.filter)
	}
	return filters
}

// reread is the filter as the parser reads it, if that makes another one.
func (q *Filter) reread(p *parser) (string, bool) {
	p.lex.src = q.text
	root, err := p.parse()
	if err != nil {
		return "", false
	}
	text := string(root.append(nil))
	return text, text != q.text
}

// fold makes names comparable that differ only in case and punctuation.
func fold(s string) string {
	const most = 64
	s = s[:min(len(s), most)]
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', '.', ':', ' ':
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
