package viewtest

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

// DeathsTable has an x-death with everything that can be odd about one.
func DeathsTable() []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Str("tenant", "acme")
		e.Array("x-death", func(e *encode.Encoder) {
			e.Nested("", func(e *encode.Encoder) {
				e.Int64("count", 3)
				e.Str("reason", "expired")
				e.Str("queue", "orders.retry")
				e.Timestamp("time", 1795960000)
				e.Str("exchange", "")
				e.Array("routing-keys", func(e *encode.Encoder) {
					e.Str("", "orders.retry")
					e.Str("", "<b>cc</b>")
				})
				e.Str("original-expiration", "30000")
			})
			e.Nested("", func(e *encode.Encoder) {
				e.Int32("count", 1)
				e.Str("reason", "rejected")
				e.Str("queue", "orders")
				e.Timestamp("time", 1795950000)
				e.Str("exchange", "amq.topic")
				e.Array("routing-keys", func(e *encode.Encoder) { e.Str("", "acme.orders.created") })
			})
			e.Str("", "no table")
			e.Nested("", func(e *encode.Encoder) {
				e.Str("queue", "audit")
				e.Value("count", 'Z', []byte("?"))
			})
		})
	})
}

// GuessesTable has headers of several senders and texts that look like something.
func GuessesTable() []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Str("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		e.Str("tenant", "acme")
		e.Str("MT-Fault-Timestamp", "2026-11-29T03:04:05.0000000Z")
		e.Str("NServiceBus.MessageId", "6f1c2d0e-8c1b-4d3e-9a53-ff7e0d2a91aa")
		e.Str("__TypeId__", "com.acme.Order")
		e.Int64("x-delivery-count", 2)
		e.Str("tracestate", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7")
		e.Str("payload", `{"a":[1,2.50,{"b":"<i>\u202e</i>"}],"big":12345678901234567890}`)
		e.Str("made", "1795960942123")
		e.Str("b3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90")
		e.Str("callback", "https://evil.example/?a=1")
	})
}

var Now = time.Date(2026, 11, 29, 14, 3, 22, 481_000_000, time.UTC)

// RichTable holds every type, duplicates, guesses and nesting.
func RichTable() []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Array("x-death", func(e *encode.Encoder) {
			e.Nested("", func(e *encode.Encoder) {
				e.Int64("count", 3)
				e.Str("reason", "expired")
				e.Str("queue", "orders.retry")
				e.Timestamp("time", 1795960000)
				e.Str("exchange", "")
				e.Array("routing-keys", func(e *encode.Encoder) { e.Str("", "acme.orders.created") })
			})
			e.Nested("", func(e *encode.Encoder) {
				e.Int64("count", 1)
				e.Str("reason", "rejected")
				e.Str("queue", "orders")
			})
		})
		e.Str("tenant", "acme")
		e.Int32("retries", 5)
		e.Str("retries", "5")
		e.Int64("max", 9223372036854775807)
		e.Int64("min", -9223372036854775808)
		e.Int8("i8", -128)
		e.Uint8("u8", 255)
		e.Int16("i16", -32768)
		e.Uint32("u32", 4294967295)
		e.Float64("ratio", 0.1)
		e.Float32("f32", 3.4e38)
		e.Decimal("price", 2, 31415)
		e.Bool("dry_run", false)
		e.Timestamp("published", 1795960942)
		e.Timestamp("published_ms", 1795960942123)
		e.Void("nothing")
		e.Str("empty", "")
		e.Bytes("digest", []byte{0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3, 'h', 'e', 'l', 'l', 'o'})
		e.Str("latin1", "Gr\xfc\xdfe")
		e.Str("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		e.Nested("nothing-in-it", func(*encode.Encoder) {})
	})
}

// DamagedTable is damaged inside a nested table and at its end.
func DamagedTable() []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Str("tenant", "acme")
		e.Nested("context", func(e *encode.Encoder) {
			e.Str("user", "u-1")
			e.Value("odd", 'Z', []byte("\x01\x02\x03 whatever follows cannot be skipped"))
		})
		e.Int32("after", 7)
		e.Sized("cut", 'S', 4000, []byte("only this much"))
	})
}

// DeepTable nests as many tables.
func DeepTable(depth int) []byte {
	var nest func(e *encode.Encoder, left int)
	nest = func(e *encode.Encoder, left int) {
		e.Int32("level", int32(depth-left))
		if left > 0 {
			e.Nested("down", func(e *encode.Encoder) { nest(e, left-1) })
		}
	}
	return encode.Table(func(e *encode.Encoder) { nest(e, depth) })
}

// BigArray is an array of n small values, behind it a text.
func BigArray(n int) []byte {
	return encode.Table(func(e *encode.Encoder) {
		e.Array("samples", func(e *encode.Encoder) {
			for i := range n {
				e.Int32("", int32(i))
			}
		})
		e.Str("after", "still here")
	})
}
