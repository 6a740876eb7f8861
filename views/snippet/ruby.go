package snippet

import (
	"fmt"
	"strconv"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// rubyWriter writes for Ruby: Bunny 2 (amq-protocol's table_value_encoder.rb).
type rubyWriter struct{ anyTable }

func (rubyWriter) style() style {
	return style{
		name: "ruby", label: "Ruby", client: "Bunny", comment: "# ", indent: "  ",
		table: [2]string{"{", "}"}, array: [2]string{"[", "]"}, none: [2]string{"{}", "[]"},
		trailing: true,
	}
}

func (rubyWriter) key(name []byte) (code, why string) { return rubyText(name) + " => ", "" }

func (rubyWriter) alone(entry string) string { return "headers = " + entry + "\n" }

// rubyText is a literal of any bytes.
func rubyText(s []byte) string {
	b := []byte{'"'}
	binary := false
	for _, c := range s {
		switch {
		case c == '"' || c == '\\' || c == '#': // which begins #{…}
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		default:
			b = fmt.Appendf(b, `\x%02x`, c)
			binary = binary || c >= 0x80
		}
	}
	b = append(b, '"')
	if binary {
		b = append(b, ".b"...)
	}
	return string(b)
}

func (rubyWriter) scalar(v fieldtable.Value) literal {
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "true", "false")
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		return rubyFloat(v)
	case fieldtable.KindDecimal:
		return literal{why: "Bunny writes other digits than a decimal's own"}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		return literal{code: rubyText(s), tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return literal{code: rubyText(s), tag: 'S'}
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		return literal{code: fmt.Sprintf("Time.at(%d)", ts.Value), tag: 'T'}
	case fieldtable.KindVoid:
		return literal{code: "nil", tag: 'V'}
	}
	n, ok := integerOf(v)
	if !ok {
		return literal{why: "Bunny writes no integer beyond 63 bits"}
	}
	return literal{code: strconv.FormatInt(n, 10), tag: 'l'}
}

func rubyFloat(v fieldtable.Value) literal {
	text := asDouble(v)
	l := literal{tag: 'd'}
	switch text {
	case "NaN":
		text, l.why = "Float::NAN", "one of many NaNs"
	case "+Inf":
		text = "Float::INFINITY"
	case "-Inf":
		text = "-Float::INFINITY"
	}
	l.code = text
	return l
}

func (rubyWriter) message(c *coder, m facts.Message, headers string) string {
	text := func(s []byte) (string, bool) { return rubyText(s), true }
	arguments := []entry{
		{c.bodyNotes(m), rubyText(inlineBody(m))},
		c.address(m.Exchange, "", `""`, text),
		c.address(m.RoutingKey, "", `""`, text),
	}
	if bodyFromFile(m) {
		arguments[0].code = `File.binread("` + bodyFile(m) + `")`
	}
	if m.HasHeaders {
		arguments = append(arguments, entry{code: "headers: " + indented(headers, c.indent)})
	}
	same := func(s string) string { return s }
	arguments = append(arguments, c.props(m, propertyNames(same), func(name string, p wire.Property) literal {
		if n, ok := number(p); ok {
			return literal{code: fmt.Sprintf("%s: %d", name, n)}
		}
		return literal{code: name + ": " + rubyText(p.Raw)}
	})...)
	c.comments = append(c.comments,
		"Bunny sends content_type application/octet-stream, delivery_mode 2 and priority 0 where they are not set")
	return c.block(arguments, [2]string{"channel.basic_publish(", ")"}, "", 0) + "\n"
}
