package snippet

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// javaWriter writes for the RabbitMQ Java client (ValueWriter.java).
type javaWriter struct{ anyTable }

func (javaWriter) style() style {
	return style{
		name: "java", label: "Java", client: "the Java client", comment: "// ", indent: "    ",
		table: [2]string{"table(", ")"},
		array: [2]string{"Arrays.asList(new Object[] {", "})"},
		none:  [2]string{"table()", "Arrays.asList(new Object[] {})"},
		order: "the Java client copies the table into a HashMap: its fields are written in another order",
	}
}

func (javaWriter) key(name []byte) (string, string) {
	if !utf8.Valid(name) {
		return "", notUTF8
	}
	return javaText(name) + ", ", ""
}

func (javaWriter) alone(entry string) string {
	return "Map<String, Object> headers = " + entry + ";\n" + javaTable
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

func (javaWriter) scalar(v fieldtable.Value) literal {
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

func (javaWriter) message(c *coder, m facts.Message, headers string) string {
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
