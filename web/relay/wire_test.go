package relay

import (
	"encoding/binary"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// opening is the protocol header of AMQP 0-9-1.
const opening = "AMQP\x00\x00\x09\x01"

// args are a method's arguments: a string is a short string, a []byte stands as it is.
func args(parts ...any) (b []byte) {
	for _, part := range parts {
		switch v := part.(type) {
		case string:
			b = append(append(b, byte(len(v))), v...)
		case []byte:
			b = append(b, v...)
		case uint8:
			b = append(b, v)
		case uint16:
			b = binary.BigEndian.AppendUint16(b, v)
		case uint64:
			b = binary.BigEndian.AppendUint64(b, v)
		default:
			panic("no argument")
		}
	}
	return b
}

// long is a long string.
func long(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

// content is a method with a message.
func content(channel, method uint16, arguments, table, body []byte, properties ...wire.Property) []byte {
	if table != nil {
		properties = append(properties, wire.Property{Name: "headers", Raw: table})
	}
	b := wire.AppendMethod(nil, channel, wire.ClassBasic, method, arguments)
	b = wire.AppendContentHeader(b, channel, wire.AppendContentHeaderPayload(nil, uint64(len(body)), properties...))
	return wire.AppendBody(b, channel, body, 4096)
}

func basic(channel, method uint16, arguments []byte) []byte {
	return wire.AppendMethod(nil, channel, wire.ClassBasic, method, arguments)
}

// published is a basic.publish of a body; bits: 1 mandatory, 2 immediate.
func published(exchange, key string, bits uint8, table, body []byte, properties ...wire.Property) []byte {
	return content(1, wire.MethodBasicPublish, args(uint16(0), exchange, key, bits), table, body, properties...)
}

// tenants is a table with the name tenant as often as there are values.
func tenants(values ...string) []byte {
	return encode.Table(func(e *encode.Encoder) {
		for _, v := range values {
			e.Str("tenant", v)
		}
	})
}
