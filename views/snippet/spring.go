package snippet

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// springWriter writes for Spring's RabbitTemplate, which hands headers to the Java client
// (DefaultMessagePropertiesConverter.java).
type springWriter struct{ javaWriter }

func (springWriter) style() style {
	s := javaWriter{}.style()
	s.name, s.label, s.client = "spring", "Spring", "Spring"
	s.order = "Spring and the Java client copy tables into HashMaps: fields are written in another order"
	s.empty, s.absent = "", "Spring sends an empty table where there is none"
	return s
}

func (springWriter) message(c *coder, m facts.Message, headers string) string {
	lines := []string{"MessageProperties properties = new MessageProperties();"}
	set := map[string]bool{}
	if m.HasHeaders {
		lines = append(lines, headers+".forEach(properties::setHeader);")
	}
	for _, e := range c.props(m, propertyNames(camel), func(name string, p wire.Property) literal {
		set[name] = true
		setter := "properties.set" + strings.ToUpper(name[:1]) + name[1:]
		n, ok := number(p)
		switch {
		case ok && p.Form() == wire.FormTimestamp:
			if n > 9223372036854775 || n < -9223372036854775 {
				return literal{why: "beyond the milliseconds of java.util.Date"}
			}
			return literal{code: fmt.Sprintf("%s(new Date(%dL * 1000));", setter, n)}
		case name == "deliveryMode" && ok && n != 1 && n != 2:
			return literal{why: "Spring knows the delivery modes 1 and 2 only"}
		case name == "deliveryMode" && ok:
			return literal{code: fmt.Sprintf("%s(MessageDeliveryMode.fromInt(%d));", setter, n)}
		case ok:
			return literal{code: fmt.Sprintf("%s(%d);", setter, n)}
		case !utf8.Valid(p.Raw):
			return literal{why: notUTF8}
		}
		return literal{code: setter + "(" + javaText(p.Raw) + ");"}
	}) {
		for _, n := range e.notes {
			lines = append(lines, c.comment+n)
		}
		if e.code != "" {
			lines = append(lines, e.code)
		}
	}
	for _, name := range []string{"contentType", "deliveryMode", "priority"} {
		if !set[name] { // or Spring's own would be sent
			lines = append(lines, "properties.set"+strings.ToUpper(name[:1])+name[1:]+"(null);")
		}
	}
	body := javaBytes(inlineBody(m))
	if utf8.Valid(inlineBody(m)) {
		body = javaText(inlineBody(m)) + ".getBytes(StandardCharsets.UTF_8)"
	}
	if bodyFromFile(m) {
		body = `Files.readAllBytes(Path.of("` + bodyFile(m) + `"))`
	}
	text := func(s []byte) (string, bool) { return javaText(s), utf8.Valid(s) }
	arguments := []entry{
		c.address(m.Exchange, "", `""`, text),
		c.address(m.RoutingKey, "", `""`, text),
		{c.bodyNotes(m), "new Message(" + body + ", properties)"},
	}
	return strings.Join(lines, "\n") + "\n" +
		c.block(arguments, [2]string{"rabbitTemplate.send(", ");"}, "", 0) + "\n" + javaTable
}
