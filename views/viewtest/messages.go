package viewtest

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
)

// DiffMessages are two messages that differ in every way.
func DiffMessages() []facts.Message {
	message := func(seq uint64, m facts.Message, write func(*encode.Encoder)) facts.Message {
		m.Seq, m.Received, m.HasHeaders, m.Headers = seq, Now.Add(
			-time.Duration(seq)*time.Second,
		), true, encode.Table(
			write,
		)
		m.BodySize = uint64(len(m.Body))
		m.Exchange = []byte("amq.topic")
		return m
	}
	return []facts.Message{
		message(17, facts.Message{
			RoutingKey: []byte("acme.orders"),
			Body:       []byte("one"),
			Properties: Properties(),
		}, func(e *encode.Encoder) {
			e.Str("tenant", "acme")
			e.Int32("retries", 5)
			e.Str("dup", "a")
			e.Str("dup", "b")
			e.Nested("ctx", func(e *encode.Encoder) { e.Str("user", "u-1"); e.Bool("admin", false) })
			e.Array("path", func(e *encode.Encoder) { e.Str("", "x"); e.Int64("", 1) })
			e.Void("none")
		}),
		message(19, facts.Message{
			RoutingKey: []byte("acme.orders"),
			Body:       []byte("two"),
			Properties: Properties()[:3],
		}, func(e *encode.Encoder) {
			e.Str("retries", "5")
			e.Str("tenant", "acme")
			e.Str("dup", "a")
			e.Nested("ctx", func(e *encode.Encoder) { e.Str("user", "u-2"); e.Bool("admin", false) })
			e.Array("path", func(e *encode.Encoder) { e.Str("", "x"); e.Int64("", 2) })
			e.Str("<script>", "\u202e")
			e.Void("none")
		}),
	}
}

// Properties has one property of each form.
func Properties() []wire.Property {
	short := func(name, v string, at int) wire.Property {
		return wire.Property{Name: name, Raw: []byte(v), Offset: at, End: at + 1 + len(v)}
	}
	return []wire.Property{
		short("content_type", "application/json", 14), short("content_encoding", "", 31), {
			Name:   "headers",
			Raw:    make([]byte, 545),
			Offset: 32,
			End:    581,
		},
		{
			Name:   "delivery_mode",
			Raw:    []byte{2},
			Offset: 581,
			End:    582,
		}, short("correlation_id", "6f1c2d0e-8c1b-4d3e-9a53-ff7e0d2a91aa", 582),
		short("message_id", "a\x00b\xff<i>", 619), {
			Name:   "timestamp",
			Raw:    []byte{0, 0, 0, 0, 0x67, 0x48, 0x57, 0},
			Offset: 630,
			End:    638,
		}, short("app_id", "shop", 638),
	}
}
