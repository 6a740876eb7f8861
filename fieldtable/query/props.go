package query

import (
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// property is a basic property (AMQP 0-9-1 specification, class basic), or a fact
// of the delivery or of its storage, written with $.
type property struct {
	name    string
	kind    propertyKind
	meaning string
	// load sets d where the property is present.
	load func(s *Scratch, d *datum) presence
}

type propertyKind uint8

const (
	propertyText propertyKind = iota
	propertyNumber
	propertyTime
	propertyBool
	propertyPresence // can only be asked for
)

// properties lists all, in the order of the documentation.
func properties() []property {
	list := []property{
		fact(
			"exchange",
			propertyText,
			"exchange it was published to",
			func(m *archive.Message, d *datum) { d.setText(m.Exchange()) },
		),
		fact(
			"routing_key",
			propertyText,
			"routing key",
			func(m *archive.Message, d *datum) { d.setText(m.RoutingKey()) },
		),
		fact(
			"consumer_tag",
			propertyText,
			"consumer it was delivered to",
			func(m *archive.Message, d *datum) { d.setText(m.ConsumerTag()) },
		),
		fact(
			"delivery_tag",
			propertyNumber,
			"delivery tag",
			func(m *archive.Message, d *datum) { d.setUint(m.DeliveryTag()) },
		),
		fact("method", propertyText, "how it came: deliver, publish, get-ok or return", func(m *archive.Message, d *datum) {
			d.setText([]byte(m.Method().String()))
		}),
		fact("redelivered", propertyBool, "the broker's redelivered flag", func(m *archive.Message, d *datum) {
			*d = datum{
				class: classBool,
				bool:  m.Redelivered(),
			}
		}),
		fact(
			"received",
			propertyTime,
			"when headerglass received it",
			func(m *archive.Message, d *datum) { d.setInstant(m.Received().UnixNano()) },
		),
		fact("seq", propertyNumber, "number in the archive", func(m *archive.Message, d *datum) { d.setUint(m.Seq()) }),
		fact(
			"size",
			propertyNumber,
			"bytes of the body",
			func(m *archive.Message, d *datum) { d.setUint(m.BodySize()) },
		),
		origin("source", "source it comes from", func(o *archive.Origin) string { return o.Source }),
		origin("queue", "queue or stream it was read from", func(o *archive.Origin) string { return o.Queue }),
		{
			"header_count",
			propertyNumber,
			"headers at top level, up to damage if there is any",
			func(s *Scratch, d *datum) presence {
				d.setUint(uint64(s.headerCount()))
				return present
			},
		},
		{
			"header_bytes",
			propertyNumber,
			"bytes of the header table with its length",
			func(s *Scratch, d *datum) presence {
				p := s.tableState()
				d.setUint(uint64(len(s.encoded)))
				return p
			},
		},
	}
	for _, name := range wire.PropertyNames() {
		list = append(list, basic(name))
	}
	return append(list, property{
		bodyProperty,
		propertyText,
		"what is kept of the body",
		func(s *Scratch, d *datum) presence {
			b := s.message.Body()
			if d.setText(b); len(b) == 0 && s.message.BodySize() > 0 {
				return absent
			}
			return present
		},
	})
}

// bodyProperty is the only property that may be large.
const bodyProperty = "body"

func fact(name string, kind propertyKind, meaning string, load func(*archive.Message, *datum)) property {
	return property{name, kind, meaning, func(s *Scratch, d *datum) presence {
		load(&s.message, d)
		return present
	}}
}

// origin is a fact of the archive that holds the message, which may not be known.
func origin(name, meaning string, text func(*archive.Origin) string) property {
	return property{name, propertyText, meaning, func(s *Scratch, d *datum) presence {
		from := s.message.Origin()
		if from == nil || text(from) == "" {
			return absent
		}
		s.origin = append(s.origin[:0], text(from)...)
		d.setText(s.origin)
		return present
	}}
}

// basic is a property of the content header.
func basic(name string) property {
	kind, form, flag := propertyText, wire.FormOf(name), wire.FlagOf(name)
	switch form {
	case wire.FormTable:
		return property{name, propertyPresence, "the header table is there", func(s *Scratch, d *datum) presence {
			*d = datum{}
			return s.tableState()
		}}
	case wire.FormOctet:
		kind = propertyNumber
	case wire.FormTimestamp:
		kind = propertyTime
	}
	return property{
		name,
		kind,
		"property " + strings.ReplaceAll(name, "_", "-"),
		func(s *Scratch, d *datum) presence {
			h := s.message.Header()
			if h.Flags()&flag == 0 {
				return absent
			}
			p, ok := h.Property(name)
			if !ok {
				return unreadable
			}
			switch form {
			case wire.FormOctet:
				v, _ := p.Uint8()
				d.setUint(uint64(v))
			case wire.FormTimestamp:
				v, _ := p.Timestamp()
				d.setTimestamp(fieldtable.Timestamp{Value: v, Unit: s.dialect.TimestampUnit()})
			default:
				d.setText(p.Raw)
			}
			d.removed = s.message.RemovedWithin(p.Offset, p.End)
			return present
		},
	}
}

// accepts says what is wrong with comparing the property with l.
func (p *property) accepts(l *literal, equality bool) (problem string) {
	switch {
	case p.kind == propertyPresence:
		return "can only be there or not; ask for the headers by their names"
	case p.kind == propertyNumber && l.kind != literalNumber:
		return "is a number"
	case p.kind == propertyTime && l.kind != literalNumber && !l.isTime:
		return "is a time, such as 2026-01-31T18:00:00Z or seconds since 1970"
	case p.kind == propertyBool && (!l.isBool || !equality):
		return "is true or false"
	}
	return ""
}

func propertyByName(name string) (*property, bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, p := range properties() {
		if p.name == name {
			return &p, true
		}
	}
	return nil, false
}

// propertyNames is for messages.
func propertyNames() string {
	var names []string
	for _, p := range properties() {
		names = append(names, "$"+p.name)
	}
	return strings.Join(names, ", ")
}

func (s *Scratch) headerCount() (n int) {
	if s.marked {
		return s.message.Marks().HeaderCount
	}
	if s.tableState() == present {
		for scan := s.table().Scan(); scan.Skip(); {
			n++
		}
	}
	return n
}
