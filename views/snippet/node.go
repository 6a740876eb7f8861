package snippet

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// nodeWriter writes for Node: amqplib (lib/codec.js).
type nodeWriter struct{}

func (nodeWriter) style() style {
	return style{
		name: "node", label: "Node", client: "amqplib", comment: "// ", indent: "  ",
		table: [2]string{"{", "}"}, array: [2]string{"[", "]"}, none: [2]string{"{}", "[]"},
		trailing: true,
		absent:   "amqplib sends an empty table where there is none",
	}
}

func (nodeWriter) key(name []byte) (code, why string) {
	switch {
	case !utf8.Valid(name):
		return "", notUTF8
	case string(name) == "__proto__": // as a plain name it would set the object's prototype
		return `["__proto__"]: `, ""
	case isIndex(string(name)):
		return jsText(name) + ": ", "JavaScript puts names that are numbers first"
	}
	return jsText(name) + ": ", ""
}

func (nodeWriter) nested(s fieldtable.Scanner) string {
	for s.Next() {
		if string(s.Field().Name) == "!" {
			return `amqplib takes a table with a field named ! for something else`
		}
	}
	return ""
}

func (nodeWriter) alone(entry string) string { return "const headers = " + entry + ";\n" }

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

func (nodeWriter) scalar(v fieldtable.Value) literal {
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

func (nodeWriter) message(c *coder, m facts.Message, headers string) string {
	var entries []entry
	if m.HasHeaders {
		entries = append(entries, entry{code: "headers: " + indented(headers, c.indent)})
	}
	entries = append(
		entries,
		c.props(m, propertyNames(camel, "cluster_id"), func(name string, p wire.Property) literal {
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
