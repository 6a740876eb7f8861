package snippet

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// pikaWriter writes for Python: pika 1.4 (pika/data.py and pika/compat.py).
type pikaWriter struct{ anyTable }

func (pikaWriter) style() style {
	return style{
		name: "python", label: "Python", client: "pika", comment: "# ", indent: "    ",
		table: [2]string{"{", "}"}, array: [2]string{"[", "]"}, none: [2]string{"{}", "[]"},
		trailing: true,
	}
}

func (pikaWriter) key(name []byte) (string, string) { s, _ := pyText(name); return s + ": ", "" }

func (pikaWriter) alone(entry string) string { return "headers = " + entry + "\n" }

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

func (pikaWriter) scalar(v fieldtable.Value) literal {
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

func (pikaWriter) message(c *coder, m facts.Message, headers string) string {
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
