package views

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

const (
	codeTableBytes = 64 << 10 // of a header table that is written as code
	codeBodyBytes  = 4 << 10  // of a body that is; a longer one is read from the downloaded file
)

// Code is a message, or one of its headers, as the code that publishes it again.
type Code struct {
	Languages []CodeLanguage
	// Text is ASCII: printable characters and line ends.
	Text   string
	TooBig bool   // the table is beyond what is written as code
	Path   string // the one header that Text holds; "" = the whole message
	URL    string // of the whole message's code
}

// CodeLanguage is a client that code can be written for.
type CodeLanguage struct {
	Name, Label, URL string
	Selected         bool
}

// BuildCode writes a message for the client that the page's query names, with t as its header
// table. With At in the query it writes the header that begins there alone.
//
// What a publisher chose stands in the code as literals only, and never in a comment, so it stays
// data whatever it is.
func BuildCode(m Message, t fieldtable.Table, links Links) Code {
	all := publishers()
	chosen := all[0]
	var code Code
	for _, l := range all {
		if l.name == links.Query.Lang {
			chosen = l
		}
	}
	for _, l := range all {
		code.Languages = append(code.Languages, CodeLanguage{
			Name: l.name, Label: l.label, Selected: l.name == chosen.name,
			URL: links.Inspect(m.Seq, func(q *Query) { q.Tab, q.Lang = tabCode, l.name }),
		})
	}
	code.URL = links.Inspect(m.Seq, func(q *Query) { q.At, q.Skip = 0, 0 })
	if m.HasHeaders && len(t.Encoded()) > codeTableBytes {
		code.TooBig = true
		return code
	}
	c := coder{publisher: chosen, without: within(m.Removed, m.HeadersOffset)}
	if at := links.Query.At; at != 0 && m.HasHeaders {
		if way, ok := t.Descend(at); ok && !way[len(way)-1].InArray {
			f, path := way[len(way)-1].Field, pathOf(way)
			code.Path = path
			code.Text = c.single(f)
			return code
		}
	}
	code.Text = c.whole(m, t)
	return code
}

// publisher is how one client is told to publish.
type publisher struct {
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
	key      func(name []byte) (code, why string) // code "" = cannot be written
	scalar   func(v fieldtable.Value) literal
	// nested says why a table cannot be a value; "" = it can.
	nested  func(s fieldtable.Scanner) string
	message func(c *coder, m Message, headers string) string
	alone   func(entry string) string // one header by itself
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

type coder struct {
	publisher
	without  []Range  // of the table
	comments []string // gathered
}

func (c *coder) whole(m Message, t fieldtable.Table) string {
	headers := ""
	if m.HasHeaders {
		headers = c.tableCode(t.Scan(), 0)
	}
	return c.withComments(c.message(c, m, headers))
}

func (c *coder) single(f fieldtable.Field) string {
	e := c.field(f)
	return c.withComments(c.alone(c.block([]entry{e}, c.publisher.table, c.none[0], 0)))
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
	d := newDamage(s.Err(), s.Offset(), s.Offset())
	return []entry{{notes: []string{fmt.Sprintf("the headers cannot be read on from byte %d: %s", d.Offset, d.Code)}}}
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
	return entry{notes, key + code}
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
	if removed(c.without, v) {
		return left(removedText)
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
func (c *coder) props(m Message, names map[string]string, write func(name string, p wire.Property) literal) []entry {
	var entries []entry
	for _, p := range m.Properties {
		name := names[p.Name]
		switch {
		case p.Form() == wire.FormTable:
			continue
		case touched(m.Removed, p.Offset, p.End):
			entries = append(entries, entry{notes: []string{"left out: " + p.Name + " was " + removedText}})
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
func bodyFromFile(m Message) bool {
	return len(m.Body) > codeBodyBytes && uint64(len(m.Body)) == m.BodySize
}

// bodyFile is the name that the download of a body has.
func bodyFile(m Message) string { return fmt.Sprintf("headerglass-%d-body.bin", m.Seq) }

// inlineBody is the body, or the beginning of one that is neither short nor kept whole.
func inlineBody(m Message) []byte { return m.Body[:min(len(m.Body), codeBodyBytes)] }

// bodyNotes is what the code's reader must know of the body.
func (c *coder) bodyNotes(m Message) []string {
	if uint64(len(m.Body)) < m.BodySize {
		return []string{
			fmt.Sprintf(
				"only the first %d of %d bytes of the body are kept, and %d of them are here",
				len(m.Body),
				m.BodySize,
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

func publishers() []publisher {
	return []publisher{goPublisher(), pikaPublisher(), javaPublisher(), nodePublisher(), adminPublisher()}
}

func anyTable(fieldtable.Scanner) string { return "" }

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

// Go: amqp091-go, write.go. It ranges over a map, so fields have no order.

func goPublisher() publisher {
	return publisher{
		name:     "go",
		label:    "Go",
		client:   "amqp091-go",
		comment:  "// ",
		indent:   "\t",
		trailing: true,
		table:    [2]string{"amqp.Table{", "}"},
		array:    [2]string{"[]any{", "}"},
		none:     [2]string{"amqp.Table{}", "[]any{}"},
		key:      func(name []byte) (string, string) { return strconv.QuoteToASCII(string(name)) + ": ", "" },
		scalar:   goScalar,
		nested:   anyTable,
		message:  goMessage,
		alone:    func(entry string) string { return "headers := " + entry + "\n" },
	}
}

func goScalar(v fieldtable.Value) literal {
	n, fits := integerOf(v)
	integer := func(typ string, tag byte) literal { return literal{code: fmt.Sprintf("%s(%d)", typ, n), tag: tag} }
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "true", "false")
	case fieldtable.KindInt8:
		return integer("int8", 'b')
	case fieldtable.KindUint8:
		return integer("byte", 'B')
	case fieldtable.KindInt16:
		return integer("int16", 's')
	case fieldtable.KindUint16:
		return integer("uint16", 'u')
	case fieldtable.KindInt32:
		return integer("int32", 'I')
	case fieldtable.KindUint32:
		return integer("uint32", 'i')
	case fieldtable.KindInt64, fieldtable.KindUint64:
		if !fits {
			return literal{why: "amqp091-go writes no integer beyond 63 bits"}
		}
		return integer("int64", 'l')
	case fieldtable.KindFloat32:
		return goFloat(v, "float32", 'f')
	case fieldtable.KindFloat64:
		return goFloat(v, "float64", 'd')
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		return literal{code: fmt.Sprintf("amqp.Decimal{Scale: %d, Value: %d}", d.Scale, d.Unscaled), tag: 'D'}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		return literal{code: strconv.QuoteToASCII(string(s)), tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return literal{code: "[]byte(" + goBytes(s) + ")", tag: 'x'}
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		return literal{code: fmt.Sprintf("time.Unix(%d, 0)", ts.Value), tag: 'T'}
	case fieldtable.KindVoid:
		return literal{code: "nil", tag: 'V'}
	}
	return literal{why: "amqp091-go has no such type"}
}

// goBytes is a string literal of any bytes.
func goBytes(s []byte) string { return strconv.QuoteToASCII(string(s)) }

func goFloat(v fieldtable.Value, typ string, tag byte) literal {
	text := string(v.AppendText(nil))
	l := literal{code: typ + "(" + text + ")", tag: tag}
	switch text {
	case "NaN":
		l.code, l.why = typ+"(math.NaN())", "one of many NaNs"
	case "+Inf":
		l.code = typ + "(math.Inf(1))"
	case "-Inf":
		l.code = typ + "(math.Inf(-1))"
	case "-0":
		l.code = typ + "(math.Copysign(0, -1))"
	}
	return l
}

func goMessage(c *coder, m Message, headers string) string {
	var entries []entry
	if m.HasHeaders {
		entries = append(
			entries,
			entry{
				[]string{"a map: its fields are written in no fixed order"},
				"Headers: " + indented(headers, c.indent),
			},
		)
	}
	names := propertyNames(func(s string) string { s = camel(s); return strings.ToUpper(s[:1]) + s[1:] }, "cluster_id")
	entries = append(entries, c.props(m, names, func(name string, p wire.Property) literal {
		n, ok := number(p)
		zero := ok && n == 0 || !ok && len(p.Raw) == 0
		switch {
		case zero && p.Form() != wire.FormTimestamp:
			return literal{why: "amqp091-go does not send one that is zero or empty"}
		case ok && p.Form() == wire.FormTimestamp:
			return literal{code: fmt.Sprintf("%s: time.Unix(%d, 0)", name, n)}
		case ok:
			return literal{code: fmt.Sprintf("%s: %d", name, n)}
		}
		return literal{code: name + ": " + goBytes(p.Raw)}
	})...)
	body := "[]byte(" + goBytes(inlineBody(m)) + ")"
	pre, assign := "", "err := "
	if bodyFromFile(m) {
		body, assign = "body", "err = "
		pre = "body, err := os.ReadFile(\"" + bodyFile(m) + "\")\nif err != nil {\n\treturn err\n}\n"
	}
	entries = append(entries, entry{c.bodyNotes(m), "Body: " + body})
	return pre + assign + "ch.PublishWithContext(ctx, " + goBytes(
		m.Exchange,
	) + ", " + goBytes(
		m.RoutingKey,
	) + ", false, false, " +
		c.block(
			entries,
			[2]string{"amqp.Publishing{", "}"},
			"amqp.Publishing{}",
			0,
		) + ")\n"
}

// indented moves the lines after the first one in by one level.
func indented(code, by string) string { return strings.ReplaceAll(code, "\n", "\n"+by) }

// Python: pika 1.4, pika/data.py and pika/compat.py.

func pikaPublisher() publisher {
	return publisher{
		name: "python", label: "Python", client: "pika", comment: "# ", indent: "    ", trailing: true,
		table: [2]string{"{", "}"}, array: [2]string{"[", "]"}, none: [2]string{"{}", "[]"},
		key:    func(name []byte) (string, string) { s, _ := pyText(name); return s + ": ", "" },
		scalar: pikaScalar, nested: anyTable, message: pikaMessage,
		alone: func(entry string) string { return "headers = " + entry + "\n" },
	}
}

// pyText is a str literal, or a bytes literal of what is not UTF-8.
func pyText(s []byte) (code string, isText bool) {
	if !utf8.Valid(s) {
		return pyBytes(s), false
	}
	return asciiLiteral(string(s), '\'', func(b []byte, r rune) []byte {
		switch {
		case r == '\n':
			return append(b, `\n`...)
		case r < 0x100:
			return fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			return fmt.Appendf(b, `\u%04x`, r)
		}
		return fmt.Appendf(b, `\U%08x`, r)
	}), true
}

func pyBytes(s []byte) string {
	b := []byte("b'")
	for _, c := range s {
		switch {
		case c == '\'' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		default:
			b = fmt.Appendf(b, `\x%02x`, c)
		}
	}
	return string(append(b, '\''))
}

func pikaScalar(v fieldtable.Value) literal {
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "True", "False")
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		return literal{why: "pika writes no floats"}
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		l := literal{code: fmt.Sprintf("decimal.Decimal(%d).scaleb(-%d)", d.Unscaled, d.Scale), tag: 'D'}
		if d.Scale > 0 && d.Unscaled%10 == 0 {
			l.why = "pika drops zeros at the end, and so changes the scale"
		}
		return l
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		code, isText := pyText(s)
		if !isText {
			return literal{code: code, tag: 'x', why: "not UTF-8, so it cannot be a str"}
		}
		return literal{code: code, tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return literal{code: pyBytes(s), tag: 'x'}
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		if _, ok := ts.Time(); !ok || ts.Value < 0 {
			return literal{why: "pika takes times between the years 1970 and 9999"}
		}
		return literal{
			code: fmt.Sprintf("datetime.datetime.fromtimestamp(%d, datetime.timezone.utc)", ts.Value),
			tag:  'T',
		}
	case fieldtable.KindVoid:
		return literal{code: "None", tag: 'V'}
	}
	n, ok := integerOf(v)
	if !ok {
		return literal{why: "pika writes no integer beyond 63 bits"}
	}
	switch {
	case n != int64(int32(n)):
		return literal{code: strconv.FormatInt(n, 10), tag: 'l'}
	case v.Kind() == fieldtable.KindInt64: // a plain int of this size would be I
		return literal{code: fmt.Sprintf("pika.compat.long(%d)", n), tag: 'l'}
	}
	return literal{code: strconv.FormatInt(n, 10), tag: 'I'}
}

func pikaMessage(c *coder, m Message, headers string) string {
	var props []entry
	if m.HasHeaders {
		props = append(props, entry{code: "headers=" + indented(headers, c.indent+c.indent)})
	}
	props = append(
		props,
		c.props(m, propertyNames(func(s string) string { return s }), func(name string, p wire.Property) literal {
			if n, ok := number(p); ok {
				if n < 0 {
					return literal{why: "pika takes no negative number"}
				}
				return literal{code: fmt.Sprintf("%s=%d", name, n)}
			}
			s, isText := pyText(p.Raw)
			if !isText {
				return literal{why: notUTF8}
			}
			return literal{code: name + "=" + s}
		})...)
	body := entry{c.bodyNotes(m), "body=" + pyBytes(inlineBody(m))}
	if bodyFromFile(m) {
		body.code = "body=open('" + bodyFile(m) + "', 'rb').read()"
	}
	entries := []entry{
		c.address(m.Exchange, "exchange=", "''", pyText),
		c.address(m.RoutingKey, "routing_key=", "''", pyText),
		body,
		{code: "properties=" + c.block(props, [2]string{"pika.BasicProperties(", ")"}, "pika.BasicProperties()", 1)},
	}
	return "import datetime, decimal\nimport pika\n\n" + c.block(
		entries,
		[2]string{"channel.basic_publish(", ")"},
		"",
		0,
	) + "\n"
}

// address writes the exchange or the routing key; what cannot be written is left empty with a note.
func (c *coder) address(s []byte, before, empty string, write func([]byte) (string, bool)) entry {
	code, ok := write(s)
	if !ok {
		return entry{[]string{"it " + notUTF8}, before + empty}
	}
	return entry{code: before + code}
}

// Java: the RabbitMQ Java client, ValueWriter.java.

func javaPublisher() publisher {
	return publisher{
		name:    "java",
		label:   "Java",
		client:  "the Java client",
		comment: "// ",
		indent:  "    ",
		table:   [2]string{"table(", ")"},
		array:   [2]string{"Arrays.asList(new Object[] {", "})"},
		none:    [2]string{"table()", "Arrays.asList(new Object[] {})"},
		key: func(name []byte) (string, string) {
			if !utf8.Valid(name) {
				return "", notUTF8
			}
			return javaText(name) + ", ", ""
		},
		scalar:  javaScalar,
		nested:  anyTable,
		message: javaMessage,
		alone:   func(entry string) string { return "Map<String, Object> headers = " + entry + ";\n" + javaTable },
	}
}

const javaTable = `
static Map<String, Object> table(Object... pairs) {
    Map<String, Object> t = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) t.put((String) pairs[i], pairs[i + 1]);
    return t;
}
`

// javaText is a literal of UTF-8. Java reads \u escapes before it reads literals, so those stand
// only for characters that mean nothing to it; control characters are octal.
func javaText(s []byte) string {
	return asciiLiteral(string(s), '"', func(b []byte, r rune) []byte {
		if r < 0x80 {
			return fmt.Appendf(b, `\%03o`, r)
		}
		return utf16Escapes(b, r)
	})
}

func javaBytes(s []byte) string { return `HexFormat.of().parseHex("` + hexOf(s) + `")` }

func javaScalar(v fieldtable.Value) literal {
	n, fits := integerOf(v)
	whole := func(format string, tag byte) literal { return literal{code: fmt.Sprintf(format, n), tag: tag} }
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "true", "false")
	case fieldtable.KindInt8:
		return whole("(byte) %d", 'b')
	case fieldtable.KindUint8, fieldtable.KindInt16:
		return whole("(short) %d", 's')
	case fieldtable.KindUint16, fieldtable.KindInt32:
		return whole("%d", 'I')
	case fieldtable.KindUint32, fieldtable.KindInt64, fieldtable.KindUint64:
		if !fits {
			return literal{why: "the Java client writes no integer beyond 63 bits"}
		}
		return whole("%dL", 'l')
	case fieldtable.KindFloat32:
		return javaFloat(v, "Float", "f", 'f')
	case fieldtable.KindFloat64:
		return javaFloat(v, "Double", "d", 'd')
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		return literal{code: fmt.Sprintf("BigDecimal.valueOf(%dL, %d)", d.Unscaled, d.Scale), tag: 'D'}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		if !utf8.Valid(s) {
			return literal{code: "LongStringHelper.asLongString(" + javaBytes(s) + ")", tag: 'S'}
		}
		return literal{code: javaText(s), tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return literal{code: javaBytes(s), tag: 'x'}
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		if ts.Value > 9223372036854775 || ts.Value < -9223372036854775 {
			return literal{why: "beyond the milliseconds of java.util.Date"}
		}
		return literal{code: fmt.Sprintf("new Date(%dL * 1000)", ts.Value), tag: 'T'}
	case fieldtable.KindVoid:
		return literal{code: "null", tag: 'V'}
	}
	return literal{why: "the Java client has no such type"}
}

func javaFloat(v fieldtable.Value, class, suffix string, tag byte) literal {
	text := string(v.AppendText(nil))
	l := literal{code: text + suffix, tag: tag}
	switch text {
	case "NaN":
		l.code, l.why = class+".NaN", "one of many NaNs"
	case "+Inf":
		l.code = class + ".POSITIVE_INFINITY"
	case "-Inf":
		l.code = class + ".NEGATIVE_INFINITY"
	}
	return l
}

func javaMessage(c *coder, m Message, headers string) string {
	var lines []string
	add := func(notes []string, code string) {
		for _, n := range notes {
			lines = append(lines, "    "+c.comment+n)
		}
		if code != "" {
			lines = append(lines, "    "+code)
		}
	}
	if m.HasHeaders {
		add(nil, ".headers("+indented(headers, c.indent)+")")
	}
	for _, e := range c.props(m, propertyNames(camel), func(name string, p wire.Property) literal {
		n, ok := number(p)
		switch {
		case ok && p.Form() == wire.FormTimestamp:
			if n > 9223372036854775 || n < -9223372036854775 {
				return literal{why: "beyond the milliseconds of java.util.Date"}
			}
			return literal{code: fmt.Sprintf(".%s(new Date(%dL * 1000))", name, n)}
		case ok:
			return literal{code: fmt.Sprintf(".%s(%d)", name, n)}
		case !utf8.Valid(p.Raw):
			return literal{why: notUTF8}
		}
		return literal{code: "." + name + "(" + javaText(p.Raw) + ")"}
	}) {
		add(e.notes, e.code)
	}
	body := javaBytes(inlineBody(m))
	if utf8.Valid(inlineBody(m)) {
		body = javaText(inlineBody(m)) + ".getBytes(StandardCharsets.UTF_8)"
	}
	if bodyFromFile(m) {
		body = `Files.readAllBytes(Path.of("` + bodyFile(m) + `"))`
	}
	text := func(s []byte) (string, bool) { return javaText(s), utf8.Valid(s) }
	args := []entry{
		c.address(m.Exchange, "", `""`, text),
		c.address(m.RoutingKey, "", `""`, text),
		{code: "properties"},
		{c.bodyNotes(m), body},
	}
	return "AMQP.BasicProperties properties = new AMQP.BasicProperties.Builder()\n" + strings.Join(
		append(lines, "    .build();"),
		"\n",
	) + "\n" +
		c.block(
			args,
			[2]string{"channel.basicPublish(", ");"},
			"",
			0,
		) + "\n" + javaTable
}

// Node: amqplib, lib/codec.js.

func nodePublisher() publisher {
	return publisher{
		name: "node", label: "Node", client: "amqplib", comment: "// ", indent: "  ", trailing: true,
		table: [2]string{"{", "}"}, array: [2]string{"[", "]"}, none: [2]string{"{}", "[]"},
		key: func(name []byte) (string, string) {
			switch {
			case !utf8.Valid(name):
				return "", notUTF8
			case string(name) == "__proto__": // as a plain name it would set the object's prototype
				return `["__proto__"]: `, ""
			case isIndex(string(name)):
				return jsText(name) + ": ", "JavaScript puts names that are numbers first"
			}
			return jsText(name) + ": ", ""
		},
		scalar: nodeScalar, message: nodeMessage,
		nested: func(s fieldtable.Scanner) string {
			for s.Next() {
				if string(s.Field().Name) == "!" {
					return `amqplib takes a table with a field named ! for something else`
				}
			}
			return ""
		},
		alone: func(entry string) string { return "const headers = " + entry + ";\n" },
	}
}

func isIndex(s string) bool {
	n, err := strconv.ParseUint(s, 10, 32)
	return err == nil && strconv.FormatUint(n, 10) == s && n < 1<<32-1
}

func jsText(s []byte) string {
	return asciiLiteral(string(s), '"', func(b []byte, r rune) []byte {
		if r == '\n' {
			return append(b, `\n`...)
		}
		return utf16Escapes(b, r)
	})
}

func jsBytes(s []byte) string {
	if utf8.Valid(s) {
		return "Buffer.from(" + jsText(s) + ")"
	}
	return `Buffer.from("` + hexOf(s) + `", "hex")`
}

func nodeScalar(v fieldtable.Value) literal {
	n, fits := integerOf(v)
	typed := func(name string, tag byte) literal {
		return literal{code: fmt.Sprintf(`{"!": "%s", value: %d}`, name, n), tag: tag}
	}
	const exact = 1<<53 - 1
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "true", "false")
	case fieldtable.KindInt8:
		return typed("int8", 'b')
	case fieldtable.KindUint8, fieldtable.KindInt16:
		return typed("int16", 's')
	case fieldtable.KindUint16, fieldtable.KindInt32:
		return typed("int32", 'I')
	case fieldtable.KindUint32, fieldtable.KindInt64, fieldtable.KindUint64:
		if !fits || n > exact || n < -exact {
			return literal{why: "JavaScript's numbers are exact to 53 bits only"}
		}
		return typed("int64", 'l')
	case fieldtable.KindFloat32:
		return nodeFloat(v, "float", 'f')
	case fieldtable.KindFloat64:
		return nodeFloat(v, "double", 'd')
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		return literal{
			code: fmt.Sprintf(`{"!": "decimal", value: {places: %d, digits: %d}}`, d.Scale, uint32(d.Unscaled)),
			tag:  'D',
		}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		if !utf8.Valid(s) {
			return literal{code: jsBytes(s), tag: 'x', why: "not UTF-8, so it cannot be a string"}
		}
		return literal{code: jsText(s), tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return literal{code: jsBytes(s), tag: 'x'}
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		if ts.Value < 0 || ts.Value > exact {
			return literal{why: "amqplib takes times from 0 to 2^53 seconds"}
		}
		return literal{code: fmt.Sprintf(`{"!": "timestamp", value: %d}`, ts.Value), tag: 'T'}
	case fieldtable.KindVoid:
		return literal{code: "null", tag: 'V'}
	}
	return literal{why: "amqplib has no such type"}
}

func nodeFloat(v fieldtable.Value, name string, tag byte) literal {
	text := string(v.AppendText(nil))
	why := ""
	switch text {
	case "NaN":
		why = "one of many NaNs"
	case "+Inf":
		text = "Infinity"
	case "-Inf":
		text = "-Infinity"
	}
	return literal{code: fmt.Sprintf(`{"!": "%s", value: %s}`, name, text), tag: tag, why: why}
}

func nodeMessage(c *coder, m Message, headers string) string {
	var entries []entry
	if m.HasHeaders {
		entries = append(entries, entry{code: "headers: " + indented(headers, c.indent)})
	}
	entries = append(entries, c.props(m, propertyNames(camel, "cluster_id"), func(name string, p wire.Property) literal {
		n, ok := number(p)
		switch {
		case ok && (n < 0 || n > 1<<53-1):
			return literal{why: "amqplib takes times from 0 to 2^53 seconds"}
		case ok:
			return literal{code: fmt.Sprintf("%s: %d", name, n)}
		case !utf8.Valid(p.Raw):
			return literal{why: notUTF8}
		}
		return literal{code: name + ": " + jsText(p.Raw)}
	})...)
	body := jsBytes(inlineBody(m))
	if bodyFromFile(m) {
		body = `require("fs").readFileSync("` + bodyFile(m) + `")`
	}
	text := func(s []byte) (string, bool) { return jsText(s), utf8.Valid(s) }
	args := []entry{
		c.address(m.Exchange, "", `""`, text),
		c.address(m.RoutingKey, "", `""`, text),
		{c.bodyNotes(m), body},
		{code: indented(c.block(entries, [2]string{"{", "}"}, "{}", 0), c.indent)},
	}
	return c.block(args, [2]string{"channel.publish(", ");"}, "", 0) + "\n"
}

// rabbitmqadmin of the management plug-in: the headers are JSON, which the broker turns into l, d,
// S, t, A and F.

func adminPublisher() publisher {
	return publisher{
		name:     "rabbitmqadmin",
		label:    "rabbitmqadmin",
		client:   "rabbitmqadmin",
		comment:  "# ",
		indent:   "  ",
		gathered: true,
		table:    [2]string{"{", "}"},
		array:    [2]string{"[", "]"},
		none:     [2]string{"{}", "[]"},
		key: func(name []byte) (string, string) {
			if !utf8.Valid(name) {
				return "", notUTF8
			}
			return jsonText(name) + ": ", ""
		},
		scalar:  adminScalar,
		nested:  anyTable,
		message: adminMessage,
		alone:   func(entry string) string { return "properties=" + shellArg(`{"headers": `+entry+`}`) + "\n" },
	}
}

func jsonText(s []byte) string { return asciiLiteral(string(s), '"', utf16Escapes) }

func adminScalar(v fieldtable.Value) literal {
	text := string(v.AppendText(nil))
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "true", "false")
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		switch {
		case text == "NaN" || text == "+Inf" || text == "-Inf" || text == "-0":
			return literal{why: "JSON has no such number"}
		case !strings.ContainsAny(text, ".e"):
			text += ".0" // or it would be an integer
		}
		return literal{code: text, tag: 'd'}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		if !utf8.Valid(s) {
			return literal{why: "JSON holds UTF-8 only"}
		}
		return literal{code: jsonText(s), tag: 'S'}
	case fieldtable.KindVoid:
		return literal{why: "the broker takes no null from JSON"}
	case fieldtable.KindDecimal, fieldtable.KindBytes, fieldtable.KindChar8, fieldtable.KindTimestamp:
		return literal{why: "JSON has no such type"}
	}
	n, ok := integerOf(v)
	if !ok {
		return literal{why: "the broker writes no integer beyond 63 bits"}
	}
	return literal{code: strconv.FormatInt(n, 10), tag: 'l'}
}

func adminMessage(c *coder, m Message, headers string) string {
	var entries []entry
	if m.HasHeaders {
		entries = append(entries, entry{code: `"headers": ` + indented(headers, c.indent)})
	}
	entries = append(
		entries,
		c.props(m, propertyNames(func(s string) string { return s }), func(name string, p wire.Property) literal {
			if n, ok := number(p); ok {
				return literal{code: fmt.Sprintf(`"%s": %d`, name, n)}
			}
			if !utf8.Valid(p.Raw) {
				return literal{why: notUTF8}
			}
			return literal{code: `"` + name + `": ` + jsonText(p.Raw)}
		})...)
	exchange := string(m.Exchange)
	if exchange == "" {
		exchange = "amq.default"
	}
	c.comments = append(c.comments, c.bodyNotes(m)...)
	if strings.Contains(exchange+string(m.RoutingKey), "\x00") {
		c.comments = append(
			c.comments,
			"no argument of a command can hold the zero bytes of the exchange or routing key: they are left out",
		)
	}
	args := []string{shellArg("exchange=" + exchange), shellArg("routing_key=" + string(m.RoutingKey))}
	switch {
	case bodyFromFile(m):
		args = append(args, `payload="$(base64 -w0 `+bodyFile(m)+`)"`, "payload_encoding=base64")
	case printable(inlineBody(m)):
		args = append(args, shellArg("payload="+string(inlineBody(m))))
	default:
		args = append(args, "payload="+base64.StdEncoding.EncodeToString(inlineBody(m)), "payload_encoding=base64")
	}
	args = append(args, shellArg("properties="+c.block(entries, [2]string{"{", "}"}, "{}", 0)))
	return "rabbitmqadmin publish " + strings.Join(args, " \\\n  ") + "\n"
}

func printable(s []byte) bool {
	for _, c := range s {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// shellArg is one argument for bash, without zero bytes, which no argument can hold. What is not
// printable ASCII or a line end makes it a $'…' argument.
func shellArg(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	plain := true
	for i := range len(s) {
		plain = plain && (s[i] >= ' ' && s[i] < 0x7f || s[i] == '\n')
	}
	if plain {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	b := []byte("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		default:
			b = fmt.Appendf(b, `\x%02x`, c)
		}
	}
	return string(append(b, '\''))
}
