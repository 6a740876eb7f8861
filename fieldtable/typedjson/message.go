package typedjson

import (
	"strconv"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// AppendMessage appends a message, its header table read under d:
//
//	{"seq":1,"source":"orders","received":"2026-11-29T10:00:00.000000000Z","delivery_tag":1,"redelivered":false,
//	"consumer_tag":"c","exchange":"","routing_key":"q","properties":{…},"properties_error":null,
//	"dialect":"lenient","headers":{"fields":[…],"error":null},"header_bytes":4,
//	"content_header_bytes":18,"body_bytes":0,"body_kept":0,"damaged":false,"duplicates":false}
//
// A message that came otherwise than by basic.deliver has the "method": publish, get-ok or return.
//
// Texts are as AppendOctets writes them; properties are named as in the specification of class
// basic, an octet is a number, a timestamp as one of a table; properties_error says where the
// content header ends early; headers is null where there is no table. What a message was stored
// without is listed in "redacted".
func AppendMessage(dst []byte, m archive.Message, d *fieldtable.Dialect) []byte {
	return append((*stream)(nil).message(dst, m, d), '}')
}

// AppendWhole is AppendMessage with the octets that a message can be made again from, in
// "content_header_base64" and "body_base64". A Message reads it.
func AppendWhole(dst []byte, m archive.Message, d *fieldtable.Dialect) []byte {
	return (*stream)(nil).whole(dst, m, d)
}

func (out *stream) whole(dst []byte, m archive.Message, d *fieldtable.Dialect) []byte {
	dst = out.message(dst, m, d)
	dst = out.base64(AppendMember(dst, "content_header_base64"), m.Header().Payload())
	return append(out.base64(AppendMember(dst, "body_base64"), m.Body()), '}')
}

// message leaves the closing brace out.
func (out *stream) message(dst []byte, m archive.Message, d *fieldtable.Dialect) []byte {
	encoded, ok := m.HeaderTable()
	dst = append(dst, '{')
	dst = strconv.AppendUint(AppendMember(dst, "seq"), m.Seq(), 10)
	dst = AppendSource(dst, m)
	dst = AppendTime(AppendMember(dst, "received"), m.Received())
	dst = strconv.AppendUint(AppendMember(dst, "delivery_tag"), m.DeliveryTag(), 10)
	if method := m.Method(); method != wire.Deliver {
		dst = AppendString(AppendMember(dst, "method"), method.String())
	}
	dst = strconv.AppendBool(AppendMember(dst, "redelivered"), m.Redelivered())
	dst = AppendOctets(AppendMember(dst, "consumer_tag"), m.ConsumerTag())
	dst = AppendOctets(AppendMember(dst, "exchange"), m.Exchange())
	dst = AppendOctets(AppendMember(dst, "routing_key"), m.RoutingKey())
	dst = appendProperties(dst, m.Header(), d)
	dst = AppendString(AppendMember(dst, "dialect"), d.Name())
	dst = AppendMember(dst, "headers")
	if ok {
		s := fieldtable.View(encoded, d).Scan()
		dst = out.elements(append(dst, `{"fields":[`...), &s)
	} else {
		dst = append(dst, "null"...)
	}
	dst = strconv.AppendInt(AppendMember(dst, "header_bytes"), int64(len(encoded)), 10)
	dst = strconv.AppendInt(AppendMember(dst, "content_header_bytes"), int64(len(m.Header().Payload())), 10)
	dst = strconv.AppendUint(AppendMember(dst, "body_bytes"), m.BodySize(), 10)
	dst = strconv.AppendInt(AppendMember(dst, "body_kept"), int64(len(m.Body())), 10)
	marks := m.Marks()
	dst = strconv.AppendBool(AppendMember(dst, "damaged"), marks.Damaged)
	dst = strconv.AppendBool(AppendMember(dst, "duplicates"), marks.Duplicates)
	if m.Redacted() {
		dst = appendRedacted(AppendMember(dst, "redacted"), m)
	}
	return dst
}

// AppendSource appends the member source, the name of the place that a message comes from, where it
// has one.
func AppendSource(dst []byte, m archive.Message) []byte {
	if from := m.Origin(); from != nil && from.Source != "" {
		dst = AppendString(AppendMember(dst, "source"), from.Source)
	}
	return dst
}

// appendProperties appends the members properties, without the headers, and properties_error.
func appendProperties(dst []byte, h wire.ContentHeader, d *fieldtable.Dialect) []byte {
	dst = append(AppendMember(dst, "properties"), '{')
	var damage error
	for p, err := range h.All() {
		if err != nil {
			damage = err
			break
		}
		switch p.Form() {
		case wire.FormTable:
		case wire.FormOctet:
			if v, ok := p.Uint8(); ok {
				dst = strconv.AppendUint(AppendMember(dst, p.Name), uint64(v), 10)
			}
		case wire.FormTimestamp:
			if v, ok := p.Timestamp(); ok {
				ts := fieldtable.Timestamp{Value: v, Unit: d.TimestampUnit()}
				dst = AppendTimestamp(AppendMember(dst, p.Name), ts)
			}
		default:
			dst = AppendOctets(AppendMember(dst, p.Name), p.Raw)
		}
	}
	dst = AppendMember(append(dst, '}'), "properties_error")
	if damage == nil {
		return append(dst, "null"...)
	}
	return AppendString(dst, damage.Error())
}

// appendRedacted appends what m was stored without, as
//
//	{"headers":[{"offset":27,"end":35}],"properties":["user_id"]}
//
// with offsets as those of the table's fields. A range is the payload of a value, everything in a
// table or array, or what damage leaves unreadable.
func appendRedacted(dst []byte, m archive.Message) []byte {
	h, removed := m.Header(), m.Removed()
	encoded, _ := m.HeaderTable()
	table := h.HeaderTableOffset()
	dst = append(AppendMember(append(dst, '{'), "headers"), '[')
	for _, s := range removed {
		from, to := max(s.From-table, 0), min(s.To-table, len(encoded))
		if table < 0 || from >= to {
			continue
		}
		dst = append(AppendNext(dst), '{')
		dst = strconv.AppendInt(AppendMember(dst, "offset"), int64(from), 10)
		dst = strconv.AppendInt(AppendMember(dst, "end"), int64(to), 10)
		dst = append(dst, '}')
	}
	dst = append(AppendMember(append(dst, ']'), "properties"), '[')
	for p, err := range h.All() {
		if err != nil {
			break
		}
		for _, s := range removed {
			if p.Name != "headers" && s.From < p.End && p.Offset < s.To {
				dst = AppendString(AppendNext(dst), p.Name)
				break
			}
		}
	}
	return append(dst, ']', '}')
}
