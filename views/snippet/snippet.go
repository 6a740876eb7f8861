// Package snippet writes a message as the code that publishes it again, for several clients.
package snippet

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

const (
	codeTableBytes = 64 << 10 // of a header table that is written as code
	codeBodyBytes  = 4 << 10  // of a body that is; a longer one is read from the downloaded file
)

// Code is a message, or one of its headers, as the code that publishes it again.
type Code struct {
	Languages []Language
	// Text is ASCII: printable characters and line ends.
	Text   string
	TooBig bool   // the table is beyond what is written as code
	Path   string // the one header that Text holds; "" = the whole message
	URL    string // of the whole message's code
}

// Language is a client that code can be written for.
type Language struct {
	Name, Label, URL string
	Selected         bool
}

// Build writes a message for the client that the page's query names, with t as its header
// table. With At in the query it writes the header that begins there alone.
//
// What a publisher chose stands in the code as literals only, and never in a comment, so it stays
// data whatever it is.
func Build(m facts.Message, t fieldtable.Table, links address.Links) Code {
	all := writers()
	chosen := all[0]
	var code Code
	for _, w := range all {
		if w.style().name == links.State.Lang {
			chosen = w
		}
	}
	c := newCoder(chosen)
	for _, w := range all {
		name := w.style().name
		code.Languages = append(code.Languages, Language{
			Name: name, Label: w.style().label, Selected: name == c.name,
			URL: links.Opened(m.Key(), func(s *address.State) { s.Tab, s.Lang = address.TabCode, name }),
		})
	}
	code.URL = links.Opened(m.Key(), func(q *address.State) { q.At, q.Skip = 0, 0 })
	if m.Seq != 0 { // else there is no file of it
		code.Languages = append(code.Languages, Language{
			Name: again, Label: "headerglass publish", Selected: links.State.Lang == again,
			URL: links.Opened(m.Key(), func(s *address.State) { s.Tab, s.Lang = address.TabCode, again }),
		})
		if links.State.Lang == again {
			code.Languages[0].Selected = false
			code.Text = publishAgain(m)
			return code
		}
	}
	if m.HasHeaders && len(t.Encoded()) > codeTableBytes {
		code.TooBig = true
		return code
	}
	c.without = facts.Within(m.Removed, m.HeadersOffset)
	if at := links.State.At; at != 0 && m.HasHeaders {
		if way, ok := t.Descend(at); ok && !way[len(way)-1].InArray {
			f, path := way[len(way)-1].Field, facts.PathOf(way)
			code.Path = path
			code.Text = c.single(f)
			return code
		}
	}
	code.Text = c.whole(m, t)
	return code
}

// writer writes the code of one client.
type writer interface {
	style() style
	// key writes a header's name before its value. code "" = it cannot be written, and why says so;
	// why is a remark otherwise.
	key(name []byte) (code, why string)
	// scalar writes a value that is neither a table nor an array.
	scalar(v fieldtable.Value) literal
	// nested says why a table cannot be a value; "" = it can.
	nested(s fieldtable.Scanner) string
	// message writes the whole, given the code of the headers; "" where a message has none.
	message(c *coder, m facts.Message, headers string) string
	// alone writes one header by itself.
	alone(entry string) string
}

// writers are the clients that code can be written for, in the order that they are offered in.
func writers() []writer {
	return []writer{
		goWriter{}, pikaWriter{}, celeryWriter{}, javaWriter{}, springWriter{}, csharpWriter{}, nodeWriter{},
		rubyWriter{}, phpWriter{}, rustWriter{}, adminWriter{},
	}
}

// style is how the code of a client looks.
type style struct {
	name, label string
	client      string // as comments name it
	comment     string // what a comment line begins with
	indent      string
	table       [2]string // what opens and ends a table that holds something
	array       [2]string
	none        [2]string // an empty table, an empty array
	trailing    bool      // a comma may stand behind the last entry
	// gathered: comments cannot stand inside a table, so they go above the whole.
	gathered bool
	closes   string // what ends a field of a table
	// order, empty and absent say what becomes of the order of fields, of a table without any and
	// of a message without a table; "": nothing.
	order, empty, absent string
}

// literal is a value as code. code "" = it cannot be written; why is then the reason, and a remark
// otherwise.
type literal struct {
	code string
	tag  byte // what the client writes
	why  string
}

// entry is one line, or block of lines, with the comments above it. code "" = only the comments.
type entry struct {
	notes []string
	code  string
}

// coder writes one message, or one header, as a client's code.
type coder struct {
	style
	writer
	without  []archive.Span // of the table
	comments []string       // gathered
}

func newCoder(w writer) coder { return coder{style: w.style(), writer: w} }

func (c *coder) whole(m facts.Message, t fieldtable.Table) string {
	headers := ""
	if m.HasHeaders {
		headers = c.tableCode(t.Scan(), 0)
	}
	c.comments = append(c.comments, c.losses(m, t)...)
	return c.withComments(c.message(c, m, headers))
}

// losses are what becomes of the table as a whole.
func (c *coder) losses(m facts.Message, t fieldtable.Table) []string {
	fields, s := 0, t.Scan()
	for fields < 2 && s.Next() {
		fields++
	}
	why := c.absent
	switch {
	case m.HasHeaders && fields > 1:
		why = c.order
	case m.HasHeaders && fields == 0:
		why = c.empty
	case m.HasHeaders:
		why = ""
	}
	if why == "" {
		return nil
	}
	return []string{why}
}

func (c *coder) single(f fieldtable.Field) string {
	e := c.field(f)
	return c.withComments(c.alone(c.block([]entry{e}, c.table, c.none[0], 0)))
}

// withComments puts the comments that found no place inside above the code.
func (c *coder) withComments(code string) string {
	var b strings.Builder
	for _, s := range c.comments {
		b.WriteString(c.comment + s + "\n")
	}
	return b.String() + code
}

func (c *coder) tableCode(s fieldtable.Scanner, depth int) string {
	var entries []entry
	seen := map[string]bool{}
	for s.Next() {
		f := s.Field()
		if seen[string(f.Name)] {
			entries = append(
				entries,
				c.gather(
					entry{
						notes: []string{
							fmt.Sprintf(
								"left out: byte %d repeats a name, and %s holds each name once",
								f.Offset,
								c.client,
							),
						},
					},
				),
			)
			continue
		}
		seen[string(f.Name)] = true
		entries = append(entries, c.gather(c.fieldAt(f, depth)))
	}
	return c.block(append(entries, c.damage(s)...), c.table, c.none[0], depth)
}

// gather takes an entry's comments off it where they cannot stand above it.
func (c *coder) gather(e entry) entry {
	if c.gathered {
		c.comments = append(c.comments, e.notes...)
		e.notes = nil
	}
	return e
}

func (c *coder) arrayCode(s fieldtable.Scanner, depth int) string {
	var entries []entry
	for s.Next() {
		code, notes := c.value(s.Field().Value, depth+1)
		entries = append(entries, c.gather(entry{notes, code}))
	}
	return c.block(append(entries, c.damage(s)...), c.array, c.none[1], depth)
}

func (c *coder) damage(s fieldtable.Scanner) []entry {
	if s.Err() == nil {
		return nil
	}
	d := facts.NewDamage(s.Err(), s.Offset(), s.Offset())
	return []entry{{notes: []string{fmt.Sprintf("the headers cannot be read on from byte %d: %s", d.Offset, d.Reason())}}}
}

func (c *coder) field(f fieldtable.Field) entry { return c.fieldAt(f, 0) }

func (c *coder) fieldAt(f fieldtable.Field, depth int) entry {
	key, why := c.key(f.Name)
	if key == "" {
		return entry{notes: []string{fmt.Sprintf("left out: the name at byte %d %s", f.Offset, why)}}
	}
	code, notes := c.value(f.Value, depth+1)
	if why != "" {
		notes = append(notes, why)
	}
	if code == "" {
		return entry{notes: notes}
	}
	return entry{notes, key + code + c.closes}
}

// value writes a value that stands depth levels deep. An empty code leaves it out; the notes say
// why.
func (c *coder) value(v fieldtable.Value, depth int) (code string, notes []string) {
	left := func(why string) (string, []string) {
		return "", []string{
			fmt.Sprintf(
				"left out: byte %d (%s, tag %s): %s",
				v.Offset(),
				v.Kind(),
				fieldtable.AppendTag(nil, v.Tag()),
				why,
			),
		}
	}
	if facts.Without(c.without, v) {
		return left(kit.RemovedText)
	}
	if t, ok := v.Table(); ok {
		if why := c.nested(t.Scan()); why != "" {
			return left(why)
		}
		return c.tableCode(t.Scan(), depth), nil
	}
	if a, ok := v.Array(); ok {
		return c.arrayCode(a.Scan(), depth), nil
	}
	l := c.scalar(v)
	if l.code == "" {
		return left(l.why)
	}
	if l.tag != v.Tag() {
		notes = append(
			notes,
			fmt.Sprintf(
				"byte %d has tag %s; %s writes %c",
				v.Offset(),
				fieldtable.AppendTag(nil, v.Tag()),
				c.client,
				l.tag,
			),
		)
	}
	if l.why != "" {
		notes = append(notes, l.why)
	}
	return l.code, notes
}

// block puts entries between what opens and ends a table, an array or a list of arguments.
func (c *coder) block(entries []entry, around [2]string, empty string, depth int) string {
	if c.gathered {
		for i := range entries {
			entries[i] = c.gather(entries[i])
		}
		entries = slices.DeleteFunc(entries, func(e entry) bool { return e.code == "" })
	}
	if len(entries) == 0 {
		return empty
	}
	last := -1
	for i, e := range entries {
		if e.code != "" {
			last = i
		}
	}
	in := strings.Repeat(c.indent, depth+1)
	var b strings.Builder
	b.WriteString(around[0])
	for i, e := range entries {
		for _, n := range e.notes {
			b.WriteString("\n" + in + c.comment + n)
		}
		if e.code != "" {
			b.WriteString("\n" + in + e.code)
			if c.trailing || i < last {
				b.WriteByte(',')
			}
		}
	}
	b.WriteString("\n" + strings.Repeat(c.indent, depth) + around[1])
	return b.String()
}

// props writes the properties in wire order by the names that a client has for them; a property
// without a name is left out with a note. write turns one into code.
func (c *coder) props(
	m facts.Message,
	names map[string]string,
	write func(name string, p wire.Property) literal,
) []entry {
	var entries []entry
	for _, p := range m.Properties {
		name := names[p.Name]
		switch {
		case p.Form() == wire.FormTable:
			continue
		case facts.Touched(m.Removed, p.Offset, p.End):
			entries = append(entries, entry{notes: []string{"left out: " + p.Name + " was " + kit.RemovedText}})
			continue
		case name == "":
			entries = append(entries, entry{notes: []string{"left out: " + c.client + " does not send " + p.Name}})
			continue
		}
		l := write(name, p)
		e := entry{code: l.code}
		if l.code == "" {
			e.notes = []string{"left out: " + p.Name + ": " + l.why}
		} else if l.why != "" {
			e.notes = []string{p.Name + ": " + l.why}
		}
		entries = append(entries, e)
	}
	if m.PropertiesErr != "" {
		entries = append(
			entries,
			entry{notes: []string{"the content header is damaged: there may have been more properties"}},
		)
	}
	return entries
}

// propertyNames are the properties' names as the specification writes them, changed into a
// client's.
func propertyNames(change func(string) string, without ...string) map[string]string {
	names := map[string]string{}
	for _, n := range wire.PropertyNames() {
		if wire.FormOf(n) != wire.FormTable && !slices.Contains(without, n) {
			names[n] = change(n)
		}
	}
	return names
}

func camel(s string) string {
	parts := strings.Split(s, "_")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}

func number(p wire.Property) (int64, bool) {
	switch {
	case p.Form() == wire.FormOctet && len(p.Raw) == 1:
		return int64(p.Raw[0]), true
	case p.Form() == wire.FormTimestamp && len(p.Raw) == 8:
		return int64(binary.BigEndian.Uint64(p.Raw)), true
	}
	return 0, false
}

// bodyFromFile says whether a message's body is read from the file that the page offers, instead of
// being written out.
func bodyFromFile(m facts.Message) bool {
	return len(m.Body) > codeBodyBytes && uint64(len(m.Body)) == m.BodySize
}

// bodyFile is the name that the download of a body has.
func bodyFile(m facts.Message) string { return fmt.Sprintf("headerglass-%d-body.bin", m.Seq) }

// inlineBody is the body, or the beginning of one that is neither short nor kept whole.
func inlineBody(m facts.Message) []byte { return m.Body[:min(len(m.Body), codeBodyBytes)] }

// bodyNotes is what the code's reader must know of the body.
func (c *coder) bodyNotes(m facts.Message) []string {
	if uint64(len(m.Body)) < m.BodySize {
		return []string{
			fmt.Sprintf(
				"only the first %d of %s of the body are kept, and %d of them are here",
				len(m.Body),
				plural.Of(m.BodySize, "byte"),
				len(inlineBody(m)),
			),
		}
	}
	if bodyFromFile(m) {
		return []string{"the file is body.bin as this page offers it for download"}
	}
	return nil
}

const notUTF8 = "is not UTF-8, which this client cannot write"

// anyTable is part of a writer whose client takes every table as a value.
type anyTable struct{}

func (anyTable) nested(fieldtable.Scanner) string { return "" }

// asciiLiteral writes text between quotes in ASCII. unit writes a character that is neither
// printable ASCII nor the quote nor the backslash.
func asciiLiteral(s string, quote byte, unit func(b []byte, r rune) []byte) string {
	b := []byte{quote}
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r < 0x7f:
			b = append(b, byte(r))
		default:
			b = unit(b, r)
		}
	}
	return string(append(b, quote))
}

// utf16Escapes appends \uXXXX, twice for a character beyond 16 bits.
func utf16Escapes(b []byte, r rune) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		return fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

// asDouble is a float's number as a double has it.
func asDouble(v fieldtable.Value) string {
	n, _ := v.Float64()
	switch text := string(v.AppendText(nil)); {
	case text == "NaN" || text == "+Inf" || text == "-Inf":
		return text
	default:
		text = strconv.FormatFloat(n, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0" // or it would be an integer
		}
		return text
	}
}

func hexOf(b []byte) string { return fmt.Sprintf("%x", b) }

func integerOf(v fieldtable.Value) (n int64, ok bool) { return v.Int64() }

func boolLiteral(v fieldtable.Value, yes, no string) literal {
	on, _ := v.Bool()
	l := literal{code: no, tag: 't'}
	if on {
		l.code = yes
	}
	if raw := v.Raw(); len(raw) == 1 && raw[0] > 1 {
		l.why = fmt.Sprintf("stored as 0x%02x; written as 0x01", raw[0])
	}
	return l
}

// indented moves the lines after the first one in by one level.
func indented(code, by string) string { return strings.ReplaceAll(code, "\n", "\n"+by) }

// address writes the exchange or the routing key; what cannot be written is left empty with a note.
func (c *coder) address(s []byte, before, empty string, write func([]byte) (string, bool)) entry {
	code, ok := write(s)
	if !ok {
		return entry{[]string{"it " + notUTF8}, before + empty}
	}
	return entry{code: before + code}
}
