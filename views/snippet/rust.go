package snippet

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// rustWriter writes for Rust: lapin 4 (amq-protocol-types, value.rs and generation.rs).
type rustWriter struct{ anyTable }

func (rustWriter) style() style {
	return style{
		name: "rust", label: "Rust", client: "lapin", comment: "// ", indent: "    ",
		table: [2]string{"AMQPValue::FieldTable(table(vec![", "]))"},
		array: [2]string{"AMQPValue::FieldArray(vec![", "].into())"},
		none: [2]string{
			"AMQPValue::FieldTable(FieldTable::default())", "AMQPValue::FieldArray(FieldArray::default())",
		},
		closes: ")", trailing: true,
		order: "lapin sorts fields by their names",
	}
}

func (rustWriter) key(name []byte) (code, why string) {
	if !utf8.Valid(name) {
		return "", notUTF8
	}
	return "(" + rustText(name) + ", ", ""
}

func (rustWriter) alone(entry string) string {
	return "let headers = " + rustBare(entry) + ";\n" + rustTable
}

// rustBare is a table that is no value of another one.
func rustBare(code string) string {
	return strings.TrimSuffix(strings.TrimPrefix(code, "AMQPValue::FieldTable("), ")")
}

const rustTable = `
fn table(fields: Vec<(&str, AMQPValue)>) -> FieldTable {
    let mut t = FieldTable::default();
    for (name, value) in fields { t.insert(name.into(), value); }
    t
}
`

func rustText(s []byte) string {
	return asciiLiteral(string(s), '"', func(b []byte, r rune) []byte { return fmt.Appendf(b, `\u{%x}`, r) })
}

// rustBytes is a literal of any bytes.
func rustBytes(s []byte) string {
	b := []byte(`b"`)
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		default:
			b = fmt.Appendf(b, `\x%02x`, c)
		}
	}
	return string(append(b, '"'))
}

func (rustWriter) scalar(v fieldtable.Value) literal {
	n, fits := integerOf(v)
	typed := func(name string, tag byte) literal {
		return literal{code: fmt.Sprintf("AMQPValue::%s(%d)", name, n), tag: tag}
	}
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "AMQPValue::Boolean(true)", "AMQPValue::Boolean(false)")
	case fieldtable.KindInt8:
		return typed("ShortShortInt", 'b')
	case fieldtable.KindUint8:
		return typed("ShortShortUInt", 'B')
	case fieldtable.KindInt16:
		return typed("ShortInt", 's')
	case fieldtable.KindUint16:
		return typed("ShortUInt", 'u')
	case fieldtable.KindInt32:
		return typed("LongInt", 'I')
	case fieldtable.KindUint32:
		return typed("LongUInt", 'i')
	case fieldtable.KindInt64, fieldtable.KindUint64:
		if !fits {
			return literal{why: "lapin writes no integer beyond 63 bits"}
		}
		return typed("LongLongInt", 'l')
	case fieldtable.KindFloat32:
		return rustFloat(v, "Float", "f32", 'f')
	case fieldtable.KindFloat64:
		return rustFloat(v, "Double", "f64", 'd')
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		code := fmt.Sprintf("AMQPValue::DecimalValue(DecimalValue { scale: %d, value: %d })", d.Scale, uint32(d.Unscaled))
		return literal{code: code, tag: 'D'}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		if !utf8.Valid(s) {
			return literal{code: "AMQPValue::LongString(" + rustBytes(s) + ".to_vec().into())", tag: 'S'}
		}
		return literal{code: "AMQPValue::LongString(" + rustText(s) + ".into())", tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return literal{code: "AMQPValue::ByteArray(" + rustBytes(s) + ".to_vec().into())", tag: 'x'}
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		return literal{code: fmt.Sprintf("AMQPValue::Timestamp(%d)", uint64(ts.Value)), tag: 'T'}
	case fieldtable.KindVoid:
		return literal{code: "AMQPValue::Void", tag: 'V'}
	}
	return literal{why: "lapin has no such type"}
}

func rustFloat(v fieldtable.Value, name, typ string, tag byte) literal {
	text := string(v.AppendText(nil))
	l := literal{tag: tag}
	switch text {
	case "NaN":
		text, l.why = typ+"::NAN", "one of many NaNs"
	case "+Inf":
		text = typ + "::INFINITY"
	case "-Inf":
		text = typ + "::NEG_INFINITY"
	default:
		text += "_" + typ
	}
	l.code = "AMQPValue::" + name + "(" + text + ")"
	return l
}

func (rustWriter) message(c *coder, m facts.Message, headers string) string {
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
		add(nil, ".with_headers("+indented(rustBare(headers), c.indent)+")")
	}
	named := func(s string) string {
		if s == "type" {
			s = "kind"
		}
		return "with_" + s
	}
	for _, e := range c.props(m, propertyNames(named), func(name string, p wire.Property) literal {
		n, ok := number(p)
		switch {
		case ok:
			return literal{code: fmt.Sprintf(".%s(%d)", name, uint64(n))}
		case !utf8.Valid(p.Raw):
			return literal{why: notUTF8}
		}
		return literal{code: "." + name + "(" + rustText(p.Raw) + ".into())"}
	}) {
		add(e.notes, e.code)
	}
	body := entry{c.bodyNotes(m), rustBytes(inlineBody(m))}
	if bodyFromFile(m) {
		body.code = `&std::fs::read("` + bodyFile(m) + `")?`
	}
	text := func(s []byte) (string, bool) { return rustText(s) + ".into()", utf8.Valid(s) }
	arguments := []entry{
		c.address(m.Exchange, "", `"".into()`, text),
		c.address(m.RoutingKey, "", `"".into()`, text),
		{code: "BasicPublishOptions::default()"},
		body,
		{code: "properties"},
	}
	return "let properties = " + strings.Join(append([]string{"BasicProperties::default()"}, lines...), "\n") + ";\n" +
		c.block(arguments, [2]string{"channel.basic_publish(", ").await?;"}, "", 0) + "\n" + rustTable
}
