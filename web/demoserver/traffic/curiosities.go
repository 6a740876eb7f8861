package traffic

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

// curiosities are what an explorer is opened for, in the order in which the first messages show
// them.
func curiosities() []maker {
	return []maker{
		duplicateKeys, unknownTag, signedPayload, sixtyFourBits, rightToLeft, manyHeaders, truncatedTable, everyTag,
		longRoutingKey, namesThatAreNoText, pastFrameMax, overrunInside, largeValue, hugeTimestamps, deepNesting,
	}
}

// envelope is an ordinary message of the integration layer around an unusual table.
func envelope(d *draw, key string, table []byte) message {
	return message{
		exchange: "integration", routingKey: key, contentType: "application/json", headers: table, deliveryMode: 2,
		messageID: d.uuid(), timestamp: d.now.Unix(), appID: "bridge",
		body: asJSON(object{"partner": d.tenant(), "document": d.order()}),
	}
}

// duplicateKeys has keys twice, as two layers of middleware write them: clients disagree about
// which one counts.
func duplicateKeys(d *draw) message {
	return envelope(d, "partner.edi", encode.Table(func(e *encoder) {
		e.Str("tenant", "acme")
		e.Int32("retries", 1)
		e.Str("traceparent", d.traceparent())
		e.Int32("retries", 2)
		e.Str("tenant", "globex")
		e.Str("retries", "3")
	}))
}

// unknownTag has a value with a tag that no client knows, between others.
func unknownTag(d *draw) message {
	return envelope(d, "partner.legacy", encode.Table(func(e *encoder) {
		e.Str("tenant", d.tenant())
		e.Int32("attempt", 1)
		e.Value("x-checksum", 'Z', []byte{0xde, 0xad, 0xbe, 0xef})
		e.Str("source", "mainframe")
	}))
}

// signedPayload carries a signature and a digest as octets, and text that is Latin-1.
func signedPayload(d *draw) message {
	signature := make([]byte, 64)
	for i := range signature {
		signature[i] = byte(d.IntN(256))
	}
	return envelope(d, "partner.signed", encode.Table(func(e *encoder) {
		e.Str("x-signature-alg", "Ed25519")
		e.Bytes("x-signature", signature)
		// octets in a long string, as many clients write them
		e.Str("x-digest", string(signature[:20]))
		e.Str("customer", "M\xfcller & S\xf6hne") // Latin-1
		e.Bytes("x-empty", nil)
	}))
}

// sixtyFourBits has integers that a float64, and so JavaScript, cannot hold.
func sixtyFourBits(d *draw) message {
	return envelope(d, "partner.ids", encode.Table(func(e *encoder) {
		e.Int64("snowflake", 1_862_911_034_882_129_921+d.Int64N(1000))
		e.Int64("max", math.MaxInt64)
		e.Int64("min", math.MinInt64)
		e.Int64("past-2-53", 1<<53+1)
		e.Int64L("written-as-L", -(1<<53)-1)
		e.Uint32("max-uint32", math.MaxUint32)
		e.Float64("nan", math.NaN())
		e.Float64("inf", math.Inf(-1))
		e.Float64("tenth", 0.1)
		e.Decimal("price", 2, 1_999)
		e.Decimal("scale-255", 255, -1)
	}))
}

// rightToLeft has text in several scripts, with marks that turn the direction of what follows.
func rightToLeft(d *draw) message {
	return envelope(d, "partner.intl", encode.Table(func(e *encoder) {
		e.Str("customer-he", "אבג שלום")
		e.Str("customer-ar", "مرحبا بالعالم")
		e.Str("customer-ja", "株式会社 明るい道")
		e.Str("file", "invoice\u202efdp.exe")
		e.Str("emoji", "📦➡️🏠")
		e.Str("ключ", "значение")
		e.Str("controls", "tab\there, newline\nhere, bell\ahere, null\x00here")
		e.Str("markup", `<script>alert("x")</script>`)
	}))
}

// manyHeaders has forty headers.
func manyHeaders(d *draw) message {
	return envelope(d, "partner.audit", encode.Table(func(e *encoder) {
		for i := range 40 {
			key := fmt.Sprintf("x-audit-%02d", i)
			switch i % 5 {
			case 0:
				e.Int32(key, int32(d.IntN(1000)))
			case 1:
				e.Bool(key, d.IntN(2) == 0)
			case 2:
				e.Timestamp(key, d.now.Unix()-int64(d.IntN(1e6)))
			default:
				e.Str(key, d.hex(8+d.IntN(40)))
			}
		}
	}))
}

// truncatedTable claims more octets than its content header has left.
func truncatedTable(d *draw) message {
	table := encode.Table(func(e *encoder) {
		e.Str("tenant", d.tenant())
		e.Int32("retries", 7)
		e.Str("note", "the length of this table says more than there is")
	})
	table[3] += 40
	m := envelope(d, "partner.broken", table)
	m.messageID, m.timestamp, m.appID, m.deliveryMode = "", 0, "", 0
	return m
}

// everyTag has each tag once, nested tables and arrays included.
func everyTag(d *draw) message {
	return envelope(d, "meter.reading", encode.Table(func(e *encoder) {
		e.Bool("valid", true)
		e.Int8("delta", -12)
		e.Uint8("phase", 200)
		e.Int16("offset", -1200)
		e.Int16U("offset-by-the-grammar", -1200)
		e.Uint16("port", 45000)
		e.Int32("reading", 1_204_331)
		e.Uint32("serial", 4_021_337_001)
		e.Int64("counter", 9_007_199_254_740_993)
		e.Int64L("counter-by-py-amqp", 9_007_199_254_740_993)
		e.Float32("voltage", 229.7)
		e.Float64("energy", 18234.125)
		e.Decimal("tariff", 4, 3127)
		e.Str("unit", "kWh")
		e.Value("model", 'c', []byte("\x00\x00\x00\x05EM-24"))
		e.Value("site", 'C', []byte("\x00\x00\x00\x09Göteborg"))
		e.Char8("class", 'B')
		e.Bytes("raw", []byte{0x01, 0x03, 0x08, 0x00, 0xff})
		e.Timestamp("read-at", d.now.Unix())
		e.Void("comment")
		e.Nested("installer", func(e *encoder) {
			e.Str("name", "Voltage AB")
			e.Nested("contact", func(e *encoder) { e.Str("phone", "+46 31 000 00 00") })
		})
		e.Array("phases", func(e *encoder) {
			e.Float32("", 229.7)
			e.Float32("", 230.4)
			e.Str("", "n/a")
			e.Array("", func(e *encoder) {
				e.Int8("", 1)
				e.Void("")
			})
		})
	}))
}

// longRoutingKey has the longest routing key that AMQP can carry: 255 octets.
func longRoutingKey(d *draw) message {
	key := "plant.region-north.building-7." + strings.Repeat("floor-03.section-b.", 12)
	return envelope(d, (key + strings.Repeat("x", 255))[:255], encode.Table(func(e *encoder) {
		e.Str("tenant", d.tenant())
		e.Str("reason", strings.Repeat("the routing key is as long as it can be; ", 8))
	}))
}

// namesThatAreNoText has names that break the rules: empty, octets that are no UTF-8, the longest
// one, one with quotes and dots.
func namesThatAreNoText(d *draw) message {
	return envelope(d, "partner.names", encode.Table(func(e *encoder) {
		e.Str("", "the empty name")
		e.Str("k\xff\xfe", "not UTF-8")
		e.Str(strings.Repeat("n", 255), "255 octets")
		e.Str(`quoted "name" with.dots[0]`, "needs quoting in a path")
		e.Str(" spaces ", "around")
		e.Str("line\nbreak", "in the name")
		e.Str("$type", "begins like a property")
	}))
}

// pastFrameMax is a message that dead-lettering has made larger than the frame_max that was agreed
// on: RabbitMQ sends it all the same.
func pastFrameMax(d *draw) message {
	m := envelope(d, "orders", encode.Table(func(e *encoder) {
		e.Str("payload-in-a-header", strings.Repeat("0123456789abcdef", 131000/16))
		e.Array("x-death", func(e *encoder) {
			e.Nested("", func(e *encoder) {
				e.Int64("count", 1)
				e.Str("exchange", "brightway.events")
				e.Str("queue", "orders")
				e.Str("reason", "rejected")
				e.Array("routing-keys", func(e *encoder) { e.Str("", "order.placed") })
				e.Timestamp("time", d.now.Unix())
			})
		})
		e.Str("x-first-death-exchange", "brightway.events")
		e.Str("x-first-death-queue", "orders")
		e.Str("x-first-death-reason", "rejected")
	}))
	m.exchange = "dlx"
	return m
}

// overrunInside has a nested table whose length runs past the table around it.
func overrunInside(d *draw) message {
	return envelope(d, "partner.broken", encode.Table(func(e *encoder) {
		e.Str("tenant", d.tenant())
		e.Sized("context", 'F', 4000, []byte("\x03app"))
	}))
}

// largeValue has one value of 64 KiB.
func largeValue(d *draw) message {
	return envelope(d, "partner.attachment", encode.Table(func(e *encoder) {
		e.Str("tenant", d.tenant())
		e.Bytes("thumbnail", bytes.Repeat([]byte{0x89, 'P', 'N', 'G'}, 16<<10))
		e.Str("mime", "image/png")
	}))
}

// hugeTimestamps has times in milliseconds where seconds are meant, and times that no calendar
// knows.
func hugeTimestamps(d *draw) message {
	return envelope(d, "partner.clock", encode.Table(func(e *encoder) {
		e.Timestamp("seconds", d.now.Unix())
		e.Timestamp("milliseconds", d.now.UnixMilli())
		e.Timestamp("epoch", 0)
		e.Timestamp("before-the-epoch", -86400)
		e.Timestamp("no-calendar-knows", math.MaxInt64)
	}))
}

// deepNesting is deeper than a reader that decodes recursively should follow.
func deepNesting(d *draw) message {
	var nest func(e *encoder, levels int)
	nest = func(e *encoder, levels int) {
		if levels == 0 {
			e.Str("bottom", "reached")
			return
		}
		e.Nested("n", func(e *encoder) { nest(e, levels-1) })
	}
	return envelope(d, "partner.nested", encode.Table(func(e *encoder) {
		e.Str("tenant", d.tenant())
		e.Nested("context", func(e *encoder) { nest(e, 60) })
		e.Str("after", "still readable")
	}))
}
