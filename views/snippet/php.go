package snippet

import (
	"fmt"
	"strconv"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// phpWriter writes for PHP: php-amqplib 3 (PhpAmqpLib/Wire/AMQPAbstractCollection.php), whose
// tables take a type beside each value.
type phpWriter struct{ anyTable }

func (phpWriter) style() style {
	return style{
		name: "php", label: "PHP", client: "php-amqplib", comment: "// ", indent: "    ",
		table:    [2]string{"table(", ")"},
		array:    [2]string{"items(", ")"},
		none:     [2]string{"table()", "items()"},
		trailing: true,
	}
}

func (phpWriter) key(name []byte) (code, why string) {
	if len(name) == 0 || len(name) > 128 {
		return "", "has not 1 to 128 bytes, as php-amqplib asks for"
	}
	return phpText(name) + ", ", ""
}

func (phpWriter) alone(entry string) string { return "$headers = " + entry + ";\n" + phpTable }

const phpTable = `
function put(callable $to, $v, ...$name) { is_array($v) ? $to(...$name, ...array_reverse($v)) : $to(...$name, ...[$v]); }
function table(...$p) {
    $t = new PhpAmqpLib\Wire\AMQPTable();
    for ($i = 0; $i < count($p); $i += 2) put([$t, 'set'], $p[$i + 1], $p[$i]);
    return $t;
}
function items(...$p) {
    $a = new PhpAmqpLib\Wire\AMQPArray();
    foreach ($p as $v) put([$a, 'push'], $v);
    return $a;
}
function typed($type, $v) { return [constant("PhpAmqpLib\Wire\AMQPTable::T_$type"), $v]; }
`

// phpText is a literal of any bytes.
func phpText(s []byte) string {
	b := []byte{'"'}
	for _, c := range s {
		switch {
		case c == '"' || c == '\\' || c == '$':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		default:
			b = fmt.Appendf(b, `\x%02x`, c)
		}
	}
	return string(append(b, '"'))
}

func (phpWriter) scalar(v fieldtable.Value) literal {
	n, fits := integerOf(v)
	typed := func(name, code string, tag byte) literal {
		return literal{code: "typed('" + name + "', " + code + ")", tag: tag}
	}
	whole := func(name string, tag byte) literal { return typed(name, strconv.FormatInt(n, 10), tag) }
	switch v.Kind() {
	case fieldtable.KindBool:
		return boolLiteral(v, "true", "false")
	case fieldtable.KindInt8:
		return whole("INT_SHORTSHORT", 'b')
	case fieldtable.KindUint8, fieldtable.KindInt16:
		return whole("INT_SHORT", 's')
	case fieldtable.KindUint16, fieldtable.KindInt32:
		return whole("INT_LONG", 'I')
	case fieldtable.KindUint32, fieldtable.KindInt64, fieldtable.KindUint64:
		switch {
		case !fits:
			return literal{why: "PHP has no integer beyond 63 bits"}
		case n == -1<<63: // which PHP reads as a float
			return typed("INT_LONGLONG", "PHP_INT_MIN", 'l')
		}
		return whole("INT_LONGLONG", 'l')
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		return literal{why: "php-amqplib writes no floats"}
	case fieldtable.KindDecimal:
		d, _ := v.Decimal()
		return literal{code: fmt.Sprintf("new PhpAmqpLib\\Wire\\AMQPDecimal(%d, %d)", d.Unscaled, d.Scale), tag: 'D'}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		return literal{code: phpText(s), tag: 'S'}
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		return typed("BYTES", phpText(s), 'x')
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		if ts.Value < 0 {
			return literal{why: "php-amqplib takes no time before 1970"}
		}
		return typed("TIMESTAMP", strconv.FormatInt(ts.Value, 10), 'T')
	case fieldtable.KindVoid:
		return literal{code: "null", tag: 'V'}
	}
	return literal{why: "php-amqplib has no such type"}
}

func (phpWriter) message(c *coder, m facts.Message, headers string) string {
	var props []entry
	if m.HasHeaders {
		props = append(props, entry{code: "'application_headers' => " + indented(headers, c.indent)})
	}
	same := func(s string) string { return s }
	props = append(props, c.props(m, propertyNames(same), func(name string, p wire.Property) literal {
		n, ok := number(p)
		switch {
		case ok && n < 0:
			return literal{why: "php-amqplib takes no time before 1970"}
		case ok:
			return literal{code: fmt.Sprintf("'%s' => %d", name, n)}
		}
		return literal{code: "'" + name + "' => " + phpText(p.Raw)}
	})...)
	body := entry{c.bodyNotes(m), phpText(inlineBody(m))}
	if bodyFromFile(m) {
		body.code = "file_get_contents('" + bodyFile(m) + "')"
	}
	arguments := []entry{body, {code: indented(c.block(props, [2]string{"[", "]"}, "[]", 0), c.indent)}}
	return "$message = " + c.block(arguments, [2]string{"new PhpAmqpLib\\Message\\AMQPMessage(", ");"}, "", 0) +
		"\n$channel->basic_publish($message, " + phpText(m.Exchange) + ", " + phpText(m.RoutingKey) + ");\n" + phpTable
}
