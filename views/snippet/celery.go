package snippet

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// celeryWriter writes for Celery: its connection and py-amqp 5.4 (amqp/serialization.py).
type celeryWriter struct{ pikaWriter }

func (celeryWriter) style() style {
	s := pikaWriter{}.style()
	s.name, s.label, s.client = "celery", "Celery", "py-amqp"
	return s
}

func (celeryWriter) scalar(v fieldtable.Value) literal {
	switch v.Kind() {
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		return pyFloat(v)
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		code, _ := pyText(s)
		return literal{code: code, tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return literal{code: pyBytes(s), tag: 'S'}
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		return literal{code: fmt.Sprintf("decimal.Decimal(%d).scaleb(-%d)", d.Unscaled, d.Scale), tag: 'D'}
	case fieldtable.KindBool, fieldtable.KindTimestamp, fieldtable.KindVoid:
		l := pikaWriter{}.scalar(v)
		if l.code == "" {
			l.why = "Python takes times between the years 1970 and 9999"
		}
		return l
	}
	n, ok := integerOf(v)
	switch {
	case !ok:
		return literal{why: "py-amqp writes no integer beyond 63 bits"}
	case n > 1<<31-1 || n < -(1<<31-1):
		return literal{code: strconv.FormatInt(n, 10), tag: 'L'}
	}
	return literal{code: strconv.FormatInt(n, 10), tag: 'I'}
}

func pyFloat(v fieldtable.Value) literal {
	text := asDouble(v)
	l := literal{tag: 'd'}
	switch text {
	case "NaN":
		text, l.why = "float('nan')", "one of many NaNs"
	case "+Inf":
		text = "float('inf')"
	case "-Inf":
		text = "-float('inf')"
	}
	l.code = text
	return l
}

func (celeryWriter) message(c *coder, m facts.Message, headers string) string {
	message := []entry{{c.bodyNotes(m), pyBytes(inlineBody(m))}}
	if bodyFromFile(m) {
		message[0].code = "open('" + bodyFile(m) + "', 'rb').read()"
	}
	if m.HasHeaders {
		message = append(message, entry{code: "application_headers=" + indented(headers, c.indent+c.indent)})
	}
	same := func(s string) string { return s }
	message = append(message, c.props(m, propertyNames(same), func(name string, p wire.Property) literal {
		if n, ok := number(p); ok {
			if n < 0 {
				return literal{why: "py-amqp takes no time before 1970"}
			}
			return literal{code: fmt.Sprintf("%s=%d", name, n)}
		}
		if !utf8.Valid(p.Raw) {
			return literal{why: notUTF8}
		}
		s, _ := pyText(p.Raw)
		return literal{code: name + "=" + s}
	})...)
	text := func(s []byte) (string, bool) { return pyText(s) }
	arguments := []entry{
		{code: indented(c.block(message, [2]string{"amqp.Message(", ")"}, "", 0), c.indent)},
		c.address(m.Exchange, "exchange=", "''", text),
		c.address(m.RoutingKey, "routing_key=", "''", text),
	}
	return "import datetime, decimal\nimport amqp\n\nwith app.connection_for_write() as connection:\n" + c.indent +
		indented(c.block(arguments, [2]string{"connection.default_channel.basic_publish(", ")"}, "", 0), c.indent) + "\n"
}
