package snippet

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// csharpWriter writes for .NET: RabbitMQ.Client 7 (Impl/WireFormatting.Write.cs).
type csharpWriter struct{ anyTable }

func (csharpWriter) style() style {
	const table, array = "new Dictionary<string, object?>", "new List<object?>"
	return style{
		name: "csharp", label: "C#", client: "RabbitMQ.Client", comment: "// ", indent: "    ",
		table:    [2]string{table + " {", "}"},
		array:    [2]string{array + " {", "}"},
		none:     [2]string{table + "()", array + "()"},
		trailing: true,
	}
}

func (csharpWriter) key(name []byte) (code, why string) {
	if !utf8.Valid(name) {
		return "", notUTF8
	}
	return "[" + csharpText(name) + "] = ", ""
}

func (csharpWriter) alone(entry string) string { return "var headers = " + entry + ";\n" }

func csharpText(s []byte) string { return asciiLiteral(string(s), '"', utf16Escapes) }

func csharpBytes(s []byte) string { return `Convert.FromHexString("` + hexOf(s) + `")` }

func (csharpWriter) scalar(v fieldtable.Value) literal {
	n, fits := integerOf(v)
	typed := func(name string, tag byte) literal { return literal{code: fmt.Sprintf("(%s)(%d)", name, n), tag: tag} }
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "true", "false")
	case fieldtable.KindInt8:
		return typed("sbyte", 'b')
	case fieldtable.KindUint8:
		return typed("byte", 'B')
	case fieldtable.KindInt16:
		return typed("short", 's')
	case fieldtable.KindUint16:
		return typed("ushort", 'u')
	case fieldtable.KindInt32:
		return typed("int", 'I')
	case fieldtable.KindUint32:
		return typed("uint", 'i')
	case fieldtable.KindInt64, fieldtable.KindUint64:
		if !fits {
			return literal{why: "RabbitMQ.Client writes no integer beyond 63 bits"}
		}
		return typed("long", 'l')
	case fieldtable.KindFloat32:
		return csharpFloat(v, "float", "f", 'f')
	case fieldtable.KindFloat64:
		return csharpFloat(v, "double", "d", 'd')
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		switch {
		case d.Unscaled < 0:
			return literal{why: "RabbitMQ.Client writes what is below zero with a sign bit"}
		case d.Scale > 28:
			return literal{why: "a decimal of .NET has at most 28 places"}
		}
		return literal{code: fmt.Sprintf("new decimal(%d, 0, 0, false, %d)", d.Unscaled, d.Scale), tag: 'D'}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		if !utf8.Valid(s) {
			return literal{code: csharpBytes(s), tag: 'S'}
		}
		return literal{code: csharpText(s), tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return literal{code: "new BinaryTableValue(" + csharpBytes(s) + ")", tag: 'x'}
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		return literal{code: fmt.Sprintf("new AmqpTimestamp(%d)", ts.Value), tag: 'T'}
	case fieldtable.KindVoid:
		return literal{code: "null", tag: 'V'}
	}
	return literal{why: "RabbitMQ.Client has no such type"}
}

func csharpFloat(v fieldtable.Value, class, suffix string, tag byte) literal {
	text := string(v.AppendText(nil))
	l := literal{code: text + suffix, tag: tag}
	switch text {
	case "NaN":
		l.code, l.why = class+".NaN", "one of many NaNs"
	case "+Inf":
		l.code = class + ".PositiveInfinity"
	case "-Inf":
		l.code = class + ".NegativeInfinity"
	}
	return l
}

func (csharpWriter) message(c *coder, m facts.Message, headers string) string {
	var props []entry
	if m.HasHeaders {
		props = append(props, entry{code: "Headers = " + indented(headers, c.indent)})
	}
	pascal := func(s string) string { s = camel(s); return strings.ToUpper(s[:1]) + s[1:] }
	props = append(props, c.props(m, propertyNames(pascal), func(name string, p wire.Property) literal {
		n, ok := number(p)
		switch {
		case ok && n == 0:
			return literal{why: "RabbitMQ.Client does not send one that is zero"}
		case ok && p.Form() == wire.FormTimestamp:
			return literal{code: fmt.Sprintf("%s = new AmqpTimestamp(%d)", name, n)}
		case ok && name == "DeliveryMode":
			return literal{code: fmt.Sprintf("%s = (DeliveryModes)%d", name, n)}
		case ok:
			return literal{code: fmt.Sprintf("%s = %d", name, n)}
		case !utf8.Valid(p.Raw):
			return literal{why: notUTF8}
		}
		return literal{code: name + " = " + csharpText(p.Raw)}
	})...)
	body := csharpBytes(inlineBody(m))
	if bodyFromFile(m) {
		body = `await File.ReadAllBytesAsync("` + bodyFile(m) + `")`
	}
	text := func(s []byte) (string, bool) { return csharpText(s), utf8.Valid(s) }
	arguments := []entry{
		c.address(m.Exchange, "", `""`, text),
		c.address(m.RoutingKey, "", `""`, text),
		{code: "mandatory: false"},
		{code: "basicProperties: properties"},
		{c.bodyNotes(m), "body: " + body},
	}
	c.trailing = false
	call := c.block(arguments, [2]string{"await channel.BasicPublishAsync(", ");"}, "", 0)
	return "var properties = " + c.block(props, [2]string{"new BasicProperties {", "}"}, "new BasicProperties()", 0) +
		";\n" + call + "\n"
}
