package facts

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Word is a part of a sentence: plain, or a name or a tag as it stands in the message.
type Word struct {
	Text    string
	Literal bool
}

// Change is one thing that differs, in words: second `tenant` dropped.
type Change []Word

// String writes literal words in backticks.
func (c Change) String() string {
	var b strings.Builder
	for _, w := range c {
		if w.Literal {
			b.WriteString("`" + w.Text + "`")
		} else {
			b.WriteString(w.Text)
		}
	}
	return b.String()
}

// maxCompared bounds the fields of a table, and the changes, that are told.
const (
	maxCompared = 2000
	maxTold     = 20
)

// Changes says what was made of a published message on its way to a consumer; none where the
// headers, the properties, the route and the body arrived as they were.
func Changes(published, delivered Message, d *fieldtable.Dialect) []Change {
	if d == nil {
		d = fieldtable.Lenient()
	}
	var c changes
	switch {
	case published.HasHeaders && !delivered.HasHeaders:
		c.say(Change{{"header table dropped", false}})
	case !published.HasHeaders && delivered.HasHeaders:
		c.added("", fieldtable.View(delivered.Headers, d).Scan())
	case !bytes.Equal(published.Headers, delivered.Headers):
		before, after := fieldtable.View(published.Headers, d), fieldtable.View(delivered.Headers, d)
		c.table("", fieldsOf(before.Scan()), fieldsOf(after.Scan()))
		c.tags()
		if len(c.told) == 0 {
			c.say(Change{{"header table written otherwise", false}})
		}
	}
	c.properties(published.Properties, delivered.Properties)
	c.became("exchange ", published.Exchange, delivered.Exchange)
	c.became("routing key ", published.RoutingKey, delivered.RoutingKey)
	if published.BodySize != delivered.BodySize || !samePrefix(published.Body, delivered.Body) {
		c.say(Change{{"body changed", false}})
	}
	if more := len(c.told) - maxTold; more > 0 {
		c.told = append(c.told[:maxTold], Change{{"and " + strconv.Itoa(more) + " more", false}})
	}
	return c.told
}

// samePrefix compares as much as is kept of both.
func samePrefix(a, b []byte) bool {
	n := min(len(a), len(b))
	return bytes.Equal(a[:n], b[:n])
}

// changes collects what differs.
type changes struct {
	told  []Change
	moved []retagged
}

// retagged is how many values have another tag and the same meaning.
type retagged struct {
	from, to byte
	times    int
}

func (c *changes) say(one Change) { c.told = append(c.told, one) }

func (c *changes) became(what string, before, after []byte) {
	if !bytes.Equal(before, after) {
		c.say(Change{{what, false}, {string(before), true}, {" became ", false}, {string(after), true}})
	}
}

type named struct {
	name string
	v    fieldtable.Value
}

func fieldsOf(s fieldtable.Scanner) (all []named) {
	for len(all) < maxCompared && s.Next() {
		all = append(all, named{string(s.Field().Name), s.Field().Value})
	}
	return all
}

// table compares the fields of a table, which is at a path.
func (c *changes) table(path string, before, after []named) {
	from := pair(before, after)
	var order []int
	for _, i := range from {
		if i >= 0 {
			order = append(order, i)
		}
	}
	if !slices.IsSorted(order) {
		word := "in another order"
		if slices.IsSortedFunc(after, func(a, b named) int { return strings.Compare(a.name, b.name) }) {
			word = "sorted"
		}
		if path != "" {
			c.say(Change{{path, true}, {" " + word, false}})
		} else {
			c.say(Change{{word, false}})
		}
	}
	for i, f := range before {
		if slices.Contains(order, i) {
			continue
		}
		which := ""
		same := func(g named) bool { return g.name == f.name }
		if nth, all := countOf(before[:i], same)+1, countOf(before, same); all > 1 {
			which = ordinal(nth) + " "
		}
		c.say(Change{{which, false}, {query.FieldPath(path, []byte(f.name)), true}, {" dropped", false}}.trim())
	}
	for i, f := range after {
		p := query.FieldPath(path, []byte(f.name))
		if from[i] < 0 {
			c.say(Change{{p, true}, {" added", false}})
			continue
		}
		c.value(p, before[from[i]].v, f.v)
	}
}

func (c Change) trim() Change {
	return slices.DeleteFunc(c, func(w Word) bool { return w.Text == "" && !w.Literal })
}

func countOf(all []named, is func(named) bool) (n int) {
	for _, f := range all {
		if is(f) {
			n++
		}
	}
	return n
}

func ordinal(n int) string {
	words := []string{"first", "second", "third", "fourth", "fifth"}
	if n <= len(words) {
		return words[n-1]
	}
	return strconv.Itoa(n) + "th"
}

// pair finds for each field the one of before that it was, -1 where there is none: of one name that
// with the same bytes, else that with the same meaning, else the first that is left.
func pair(before, after []named) []int {
	from := make([]int, len(after))
	taken := make([]bool, len(before))
	byName := map[string][]int{}
	for i, f := range before {
		byName[f.name] = append(byName[f.name], i)
	}
	for i := range from {
		from[i] = -1
	}
	for _, alike := range []func(a, b fieldtable.Value) bool{
		func(a, b fieldtable.Value) bool { return bytes.Equal(a.Encoded(), b.Encoded()) },
		sameMeaning,
		func(a, b fieldtable.Value) bool { return true },
	} {
		for i, f := range after {
			for _, j := range byName[f.name] {
				if from[i] < 0 && !taken[j] && alike(before[j].v, f.v) {
					from[i], taken[j] = j, true
				}
			}
		}
	}
	return from
}

func sameMeaning(a, b fieldtable.Value) bool {
	if _, container := ContainerOf(a); container {
		return a.Kind() == b.Kind()
	}
	return bytes.Equal(a.AppendText(nil), b.AppendText(nil))
}

func (c *changes) value(path string, before, after fieldtable.Value) {
	if bytes.Equal(before.Encoded(), after.Encoded()) {
		return
	}
	in, is := ContainerOf(before)
	out, still := ContainerOf(after)
	switch {
	case is && still && in.Array == out.Array && in.Array:
		c.array(path, in.Scan, out.Scan)
	case is && still && in.Array == out.Array:
		c.table(path, fieldsOf(in.Scan), fieldsOf(out.Scan))
	case is || still || !sameMeaning(before, after):
		c.say(Change{{path, true}, {" changed", false}})
	case before.Tag() != after.Tag():
		c.retag(before.Tag(), after.Tag())
	default:
		c.say(Change{{path, true}, {" written otherwise, with the same meaning", false}})
	}
}

// array compares element by element.
func (c *changes) array(path string, before, after fieldtable.Scanner) {
	for i := 0; i < maxCompared; i++ {
		was, is := before.Next(), after.Next()
		p := query.ElementPath(path, i)
		switch {
		case was && is:
			c.value(p, before.Field().Value, after.Field().Value)
			continue
		case was:
			c.say(Change{{p, true}, {" dropped", false}})
		case is:
			c.say(Change{{p, true}, {" added", false}})
		}
		return
	}
}

func (c *changes) retag(from, to byte) {
	for i := range c.moved {
		if m := &c.moved[i]; m.from == from && m.to == to {
			m.times++
			return
		}
	}
	c.moved = append(c.moved, retagged{from, to, 1})
}

// tags says which tags became which.
func (c *changes) tags() {
	for _, m := range c.moved {
		one := Change{{string(rune(m.from)), true}, {" became ", false}, {string(rune(m.to)), true}}
		if m.times > 1 {
			one = append(one, Word{" " + strconv.Itoa(m.times) + " times", false})
		}
		c.say(one)
	}
}

// added says that every field is new.
func (c *changes) added(path string, s fieldtable.Scanner) { c.table(path, nil, fieldsOf(s)) }

// properties compares the basic properties but for the headers.
func (c *changes) properties(before, after []wire.Property) {
	at := func(list []wire.Property, name string) int {
		return slices.IndexFunc(list, func(p wire.Property) bool { return p.Name == name })
	}
	for _, name := range wire.PropertyNames() {
		i, j := at(before, name), at(after, name)
		word := ""
		switch {
		case wire.FormOf(name) == wire.FormTable || i < 0 && j < 0:
		case i < 0:
			word = " added"
		case j < 0:
			word = " dropped"
		case !bytes.Equal(before[i].Raw, after[j].Raw):
			word = " changed"
		}
		if word != "" {
			c.say(Change{{"property ", false}, {name, true}, {word, false}})
		}
	}
}
