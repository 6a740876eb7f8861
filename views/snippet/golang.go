package snippet

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// goWriter writes for amqp091-go (write.go). It ranges over a map, so fields have no order.
type goWriter struct{ anyTable }

func (goWriter) style() style {
	return style{
		name: "go", label: "Go", client: "amqp091-go", comment: "// ", indent: "\t",
		table:    [2]string{"amqp.Table{", "}"},
		array:    [2]string{"[]any{", "}"},
		none:     [2]string{"amqp.Table{}", "[]any{}"},
		trailing: true,
		order:    "a map: its fields are written in no fixed order",
		empty:    "amqp091-go sends no table where it is empty",
	}
}

func (goWriter) key(name []byte) (string, string) {
	return strconv.QuoteToASCII(string(name)) + ": ", ""
}

func (goWriter) alone(entry string) string { return "headers := " + entry + "\n" }

func (goWriter) scalar(v fieldtable.Value) literal {
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

func (goWriter) message(c *coder, m facts.Message, headers string) string {
	var entries []entry
	if m.HasHeaders {
		entries = append(entries, entry{code: "Headers: " + indented(headers, c.indent)})
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
