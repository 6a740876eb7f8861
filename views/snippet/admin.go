package snippet

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// adminWriter writes for rabbitmqadmin of the management plug-in: the headers are JSON, which the
// broker turns into l, d, S, t, A and F.
type adminWriter struct{ anyTable }

func (adminWriter) style() style {
	return style{
		name: "rabbitmqadmin", label: "rabbitmqadmin", client: "rabbitmqadmin", comment: "# ", indent: "  ",
		table: [2]string{"{", "}"}, array: [2]string{"[", "]"}, none: [2]string{"{}", "[]"},
		gathered: true,
		order:    "the broker writes the fields in an order of its own",
	}
}

func (adminWriter) key(name []byte) (code, why string) {
	if !utf8.Valid(name) {
		return "", notUTF8
	}
	return jsonText(name) + ": ", ""
}

func (adminWriter) alone(entry string) string {
	return "properties=" + shellArg(`{"headers": `+entry+`}`) + "\n"
}

func jsonText(s []byte) string { return asciiLiteral(string(s), '"', utf16Escapes) }

func (adminWriter) scalar(v fieldtable.Value) literal {
	text := string(v.AppendText(nil))
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "true", "false")
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		if text == "NaN" || text == "+Inf" || text == "-Inf" || text == "-0" {
			return literal{why: "JSON has no such number"}
		}
		return literal{code: asDouble(v), tag: 'd'}
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

func (adminWriter) message(c *coder, m facts.Message, headers string) string {
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
