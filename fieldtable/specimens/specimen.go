// Package specimens has field tables for tests: as real clients send them, and a corpus of named
// specimens.
package specimens

import (
	"math"
	"math/rand"
	"slices"
	"strings"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

// Specimen is a table with a name and a note on what is special about it.
type Specimen struct {
	Name string
	Note string
	// Dialect names the dialect that the table is written in; empty: lenient.
	Dialect string
	Encoded []byte
	// Damage is the reason why some of the table cannot be read in its dialect, as typed JSON names
	// it; empty: all of it can.
	Damage string
}

// Specimens returns the corpus in a fixed order: headers of real software, every tag with its
// boundaries, names, duplicates, nesting, dialects, damage. It seeds tests and fuzz targets and
// fills the demo. The octets are fresh copies each time.
func Specimens() []Specimen {
	return slices.Concat(clients(), scalars(), names(), nesting(), dialects(), damages())
}

func table(name, note string, write func(*encode.Encoder)) Specimen {
	return Specimen{Name: name, Note: note, Encoded: encode.Table(write)}
}

func damaged(name, reason, note string, encoded []byte) Specimen {
	return Specimen{Name: name, Note: note, Damage: reason, Encoded: encoded}
}

func clients() []Specimen {
	r := rand.New(rand.NewSource(1)) // #nosec G404 -- the same messages each time
	return []Specimen{
		{Name: "celery", Note: "a Celery task: many voids, an array of two voids, an empty table", Encoded: Celery(r)},
		{
			Name: "celery-big-integer",
			Note: "py-amqp writes L, which amqp091-go refuses",
			Encoded: encode.Table(func(e *encode.Encoder) {
				e.Int64L("big", -3_000_000_000)
			}),
		},
		{Name: "x-death", Note: "a message that was dead-lettered more than once", Encoded: XDeath(r)},
		{Name: "nservicebus", Note: "20 keys, all text, with dots in their names", Encoded: NServiceBus(r)},
		{Name: "opentelemetry", Note: "trace context and baggage", Encoded: OTel(r)},
		{Name: "spring", Note: "Spring AMQP's JSON converter", Encoded: Spring(r)},
		{Name: "small", Note: "3 keys of 3 types", Encoded: Small(r)},
		{Name: "big", Note: "100 keys", Encoded: Big(r)},
		table("masstransit-fault", "what MassTransit adds to a message that failed", func(e *encode.Encoder) {
			e.Str("MT-Reason", "fault")
			e.Str("MT-Fault-ExceptionType", "System.InvalidOperationException")
			e.Str("MT-Fault-Message", "Sequence contains no elements")
			e.Str("MT-Fault-Timestamp", "2026-11-29T03:04:05.0000000Z")
			e.Str("MT-Fault-StackTrace", "at Acme.Billing.Charge(Order order)\r\n   at Acme.Billing.Consumer.Consume()")
			e.Str("MT-Fault-RetryCount", "3")
			e.Str("MT-Host-ProcessId", "1")
		}),
		table("mqtt", "RabbitMQ's MQTT plug-in: one 8-bit integer, one boolean", func(e *encode.Encoder) {
			e.Int8("x-mqtt-publish-qos", 1)
			e.Bool("x-mqtt-dup", false)
		}),
		table("quorum-queue", "a quorum queue counts deliveries", func(e *encode.Encoder) { e.Int64("x-delivery-count", 2) }),
		table(
			"stream",
			"a stream tells the offset",
			func(e *encode.Encoder) { e.Int64("x-stream-offset", 9_007_199_254_740_993) },
		),
		table("delayed", "the delayed-message plug-in negates x-delay", func(e *encode.Encoder) { e.Int64("x-delay", -1000) }),
	}
}

func scalars() []Specimen {
	return []Specimen{
		table("empty", "headers are there, but hold nothing", func(*encode.Encoder) {}),
		table("every-tag", "one field of each tag that any client sends", func(e *encode.Encoder) {
			e.Bool("bool", true)
			e.Int8("int8", -8)
			e.Uint8("uint8", 200)
			e.Int16("int16", -1600)
			e.Int16U("int16-U", -1601)
			e.Uint16("uint16", 60000)
			e.Int32("int32", -320000)
			e.Uint32("uint32", 4_000_000_000)
			e.Int64("int64", -6_400_000_000)
			e.Int64L("int64-L", 6_400_000_001)
			e.Float32("float32", 0.1)
			e.Float64("float64", 0.1)
			e.Decimal("decimal", 2, 314)
			e.Str("longstr", "text")
			e.Sized("longstr-c", 'c', 4, []byte("Qpid"))
			e.Sized("longstr-C", 'C', 4, []byte("wide"))
			e.Bytes("bytes", []byte{0, 1, 2, 0xff})
			e.Char8("char8", 'A')
			e.Timestamp("timestamp", 1_700_000_000)
			e.Void("void")
			e.Nested("table", func(e *encode.Encoder) { e.Int32("one", 1) })
			e.Array("array", func(e *encode.Encoder) {
				e.Str("", "x")
				e.Int32("", 1)
				e.Bool("", true)
				e.Void("")
			})
		}),
		table(
			"booleans",
			"false, true, and an octet that Apache Qpid takes for false and others for true",
			func(e *encode.Encoder) {
				e.Bool("false", false)
				e.Bool("true", true)
				e.Value("two", 't', []byte{2})
			},
		),
		table("integers", "the least and the greatest of each width", func(e *encode.Encoder) {
			e.Int8("int8-min", math.MinInt8)
			e.Int8("int8-max", math.MaxInt8)
			e.Uint8("uint8-max", math.MaxUint8)
			e.Int16("int16-min", math.MinInt16)
			e.Int16("int16-max", math.MaxInt16)
			e.Int16U("int16-U-min", math.MinInt16)
			e.Uint16("uint16-max", math.MaxUint16)
			e.Int32("int32-min", math.MinInt32)
			e.Int32("int32-max", math.MaxInt32)
			e.Uint32("uint32-max", math.MaxUint32)
			e.Int64("int64-min", math.MinInt64)
			e.Int64("int64-max", math.MaxInt64)
			e.Int64L("int64-L-min", math.MinInt64)
			e.Uint64("uint64-max", math.MaxUint64)
			e.Int64("beyond-double", 1<<53+1)
		}),
		table("floats", "what JSON cannot write, and what rounding would lose", func(e *encode.Encoder) {
			e.Float32("float32-tenth", 0.1)
			e.Float32("float32-max", math.MaxFloat32)
			e.Float32("float32-nan", float32(math.NaN()))
			e.Float64("zero", 0)
			e.Float64("minus-zero", math.Copysign(0, -1))
			e.Float64("tenth", 0.1)
			e.Float64("least", math.SmallestNonzeroFloat64)
			e.Float64("greatest", math.MaxFloat64)
			e.Float64("nan", math.NaN())
			e.Float64("infinity", math.Inf(1))
			e.Float64("minus-infinity", math.Inf(-1))
		}),
		table("decimals", "the scale is part of the value", func(e *encode.Encoder) {
			e.Decimal("pi", 2, 314)
			e.Decimal("minus-pi", 2, -314)
			e.Decimal("trailing-zeros", 3, 1500)
			e.Decimal("no-scale", 0, 7)
			e.Decimal("small", 9, -7)
			e.Decimal("least", 0, math.MinInt32)
			e.Decimal("sign-and-magnitude", 2, math.MinInt32+314)
			e.Decimal("scale-255", 255, 1)
		}),
		table("timestamps", "seconds, and what looks like milliseconds or microseconds", func(e *encode.Encoder) {
			e.Timestamp("epoch", 0)
			e.Timestamp("seconds", 1_700_000_000)
			e.Timestamp("milliseconds", 1_700_000_000_123)
			e.Timestamp("microseconds", 1_700_000_000_123_456)
			e.Timestamp("before-epoch", -1)
			e.Timestamp("year-1", -62_135_596_800)
			e.Timestamp("year-9999", 253_402_300_799)
			e.Timestamp("year-10000", 253_402_300_800)
			e.Timestamp("least", math.MinInt64)
			e.Timestamp("greatest", math.MaxInt64)
		}),
		table("strings", "text, and what only looks like text", func(e *encode.Encoder) {
			e.Str("empty", "")
			e.Str("hello", "hello")
			e.Str("accents", "Grüße, señor — naïve café")
			e.Str("emoji", "order \U0001F4E6 shipped")
			e.Str("right-to-left", "שלום עולם")
			e.Str("bidi-override", "invoice\u202Efdp.exe")
			e.Str("control", "bell\a escape\x1b[31m nul\x00 line\nreturn\r tab\t")
			e.Str("line-separators", "a\u2028b\u2029c")
			e.Str("markup", `<script>alert("1")</script>`)
			e.Str("json", `{"id":9007199254740993,"ok":true}`)
			e.Str("formula", `=HYPERLINK("http://example.com","x")`)
			e.Str("number", "007")
			e.Str("long", strings.Repeat("0123456789abcdef", 256))
			e.Str("not-utf8", "\xff\xfe\x00\x01")
			e.Str("lone-surrogate", "\xed\xa0\x80")
			e.Str("amqp-1.0-section", "\x00Ss\xc0\x0c\x04\xa1\x05mid-1@@@")
		}),
		table("bytes", "octets that are meant as octets", func(e *encode.Encoder) {
			e.Bytes("none", nil)
			e.Bytes("nul", []byte{0})
			e.Bytes("text", []byte(`{"a":1}`))
			e.Bytes("jpeg", []byte{0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 'J', 'F', 'I', 'F'})
			e.Char8("letter", 'k')
			e.Char8("nul-character", 0)
			e.Char8("last-character", 0xff)
		}),
	}
}

func names() []Specimen {
	return []Specimen{
		table(
			"duplicates",
			"the first counts for the specification and RabbitMQ's look-up, the last for most clients",
			func(e *encode.Encoder) {
				e.Int32("k", 1)
				e.Str("between", "x")
				e.Int32("k", 2)
				e.Str("k", "three")
			},
		),
		table("names", "everything that a name can hold", func(e *encode.Encoder) {
			e.Int32("", 0)
			e.Int32("$dollar#hash_under-score", 1)
			e.Int32("1 a.b-c", 2)
			e.Int32("a[0].b", 3)
			e.Int32(`quote"back\slash`, 4)
			e.Int32("<b>x</b>&amp;", 5)
			e.Int32("__proto__", 6)
			e.Int32("constructor", 7)
			e.Int32("10", 8)
			e.Int32("line\nbreak\x00nul", 9)
			e.Int32("\u202Eoverride", 10)
			e.Int32("ключ", 11)
			e.Int32("not-utf8-\xff", 12)
			e.Int32("../../etc/passwd", 13)
		}),
		table("long-names", "128 octets is the specification's limit, 255 the wire's", func(e *encode.Encoder) {
			for _, n := range []int{128, 129, 255} {
				e.Bool(strings.Repeat("n", n), true)
			}
		}),
		table("short-tail", "the last field has 3 octets, which Bunny loses", func(e *encode.Encoder) {
			e.Int32("a", 1)
			e.Void("z")
		}),
		table("nameless-voids", "two fields in 4 octets", func(e *encode.Encoder) {
			e.Void("")
			e.Void("")
		}),
	}
}

func nesting() []Specimen {
	return []Specimen{
		table("nested", "tables and arrays in each other", func(e *encode.Encoder) {
			e.Nested("t", func(e *encode.Encoder) {
				e.Int32("a", 1)
				e.Nested("b", func(e *encode.Encoder) { e.Str("c", "deep") })
				e.Array("list", func(e *encode.Encoder) {
					e.Nested("", func(e *encode.Encoder) { e.Int32("x", 1) })
					e.Nested("", func(*encode.Encoder) {})
					e.Array("", func(e *encode.Encoder) { e.Array("", func(e *encode.Encoder) { e.Int8("", 5) }) })
				})
			})
			e.Nested("empty-table", func(*encode.Encoder) {})
			e.Array("empty-array", func(*encode.Encoder) {})
			e.Array("short-array", func(e *encode.Encoder) { e.Bool("", true) })
			e.Str("after", "still here")
		}),
		{Name: "deepest", Note: "32 tables in each other: the limit", Encoded: Deep(32)},
		damaged("too-deep", "depth_exceeded", "33 tables in each other; the first 32 are readable", Deep(33)),
		damaged("bomb", "depth_exceeded", "2,000 arrays in each other", encode.Table(func(e *encode.Encoder) {
			deepArray(e, 2000)
			e.Str("after", "still here")
		})),
	}
}

func dialects() []Specimen {
	return []Specimen{
		{
			Name:    "short-string",
			Note:    "s as the grammar of 0-9-1 has it",
			Dialect: "spec-0-9-1",
			Encoded: encode.Table(func(e *encode.Encoder) {
				e.ShortStr("k", "hello")
				e.ShortStr("empty", "")
				e.ShortStr("long", strings.Repeat("s", 255))
			}),
		},
		table(
			"short-string-or-integer",
			"both readings of s consume it exactly",
			func(e *encode.Encoder) { e.ShortStr("k", "A") },
		),
		table("signs", "values that other clients read with another sign", func(e *encode.Encoder) {
			e.Int8("b", -1)
			e.Uint8("B", 255)
			e.Int64("l", -1000)
			e.Int64L("L", -1)
			e.Uint32("i", math.MaxUint32)
			e.Int32("I", -1)
		}),
		{
			Name:    "qpid-jms",
			Note:    "Apache Qpid for Java: milliseconds, characters and their own strings",
			Dialect: "qpid-java",
			Encoded: encode.Table(func(e *encode.Encoder) {
				e.Str("JMSXGroupID", "orders")
				e.Timestamp("sent", 1_700_000_000_123)
				e.Sized("ascii", 'c', 5, []byte("plain"))
				e.Char8("grade", 'A')
				e.Int32("JMSXDeliveryCount", 1)
			}),
		},
		{
			Name:    "qpid-dotnet",
			Note:    "Apache Qpid for .NET writes L unsigned",
			Dialect: "qpid-dotnet",
			Encoded: encode.Table(func(e *encode.Encoder) {
				e.Value("sequence", 'L', []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
				e.Sized("wide", 'C', 4, []byte("wide"))
			}),
		},
		{
			Name:    "py-amqp-legacy",
			Note:    "b and B swapped",
			Dialect: "py-amqp-legacy",
			Encoded: encode.Table(func(e *encode.Encoder) {
				e.Value("unsigned", 'b', []byte{200})
				e.Value("signed", 'B', []byte{200})
				e.ShortStr("text", "kombu")
			}),
		},
		{
			Name:    "qpid-336",
			Note:    "the extension that was proposed and never sent",
			Dialect: "qpid-336",
			Encoded: encode.Table(func(e *encode.Encoder) {
				e.Bool("flag", true)
				e.Value("uint16", 'S', []byte{0xff, 0xfe})
				e.Value("uint32", 'I', []byte{0xff, 0xff, 0xff, 0xfd})
				e.Value("uint64", 'L', []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc})
				e.Value("string", 'c', []byte("\x00\x05short"))
				e.Sized("long", 'C', 4, []byte("long"))
				e.Value("null", 'n', nil)
			}),
		},
	}
}

func damages() []Specimen {
	good := func(e *encode.Encoder) { e.Str("good", "readable") }
	after := func(e *encode.Encoder) { e.Bool("after", true) }
	return []Specimen{
		damaged("no-octets", "table_length_truncated", "nothing at all", nil),
		damaged("length-cut", "table_length_truncated", "3 of the 4 length octets", []byte{0, 0, 0}),
		damaged(
			"length-overrun",
			"table_length_overrun",
			"the length claims one octet more than there is",
			encode.Claiming(19, good),
		),
		damaged(
			"length-4-gigabytes",
			"table_length_overrun",
			"the length claims all that 32 bits can",
			encode.Claiming(math.MaxUint32, good),
		),
		damaged("trailing", "trailing_bytes", "two octets follow", append(encode.Table(good), 0, 0)),
		damaged("name-cut", "name_truncated", "the last name claims more than is left", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Raw(3, 'k', 'e')
		})),
		damaged("tag-missing", "missing_tag", "the table ends after a name", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Name("key")
		})),
		damaged("unknown-tag", "unknown_tag", "without a width nothing after it can be read", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Value("bad", 'Z', []byte{1, 2, 3, 4})
			after(e)
		})),
		damaged(
			"unknown-tag-ff",
			"unknown_tag",
			"a tag that is no character",
			encode.Table(func(e *encode.Encoder) { e.Value("bad", 0xff, nil) }),
		),
		damaged("value-missing", "value_truncated", "the table ends after a tag", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Value("key", 'I', nil)
		})),
		damaged("value-cut", "value_truncated", "2 of 8 octets", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Value("key", 'l', []byte{0, 0})
		})),
		damaged("string-length-cut", "length_truncated", "2 of 4 length octets", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Value("key", 'S', []byte{0, 0})
		})),
		damaged("string-overrun", "length_overrun", "a string claims 10 octets and has 3", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Sized("key", 'S', 10, []byte("abc"))
		})),
		damaged("bytes-negative", "length_overrun", "a length with the sign bit set", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Sized("key", 'x', 1<<31, nil)
		})),
		damaged(
			"nested-overrun",
			"length_overrun",
			"a nested table claims more than its parent has",
			encode.Table(func(e *encode.Encoder) {
				good(e)
				e.Sized("t", 'F', 50, []byte("\x01at\x01"))
				after(e)
			}),
		),
		damaged("damage-in-array", "unknown_tag", "only the array is lost", encode.Table(func(e *encode.Encoder) {
			good(e)
			e.Array("a", func(e *encode.Encoder) {
				e.Int32("", 1)
				e.Value("", 'n', nil)
			})
			after(e)
		})),
		damaged(
			"damage-in-x-death",
			"value_truncated",
			"damage two levels down; the rest is readable",
			encode.Table(func(e *encode.Encoder) {
				e.Array("x-death", func(e *encode.Encoder) {
					e.Nested("", func(e *encode.Encoder) {
						e.Str("queue", "orders")
						e.Value("count", 'l', []byte{0, 0, 0})
					})
					e.Nested("", func(e *encode.Encoder) { e.Str("queue", "payments") })
				})
				after(e)
			}),
		),
		damaged(
			"element-cut",
			"value_truncated",
			"amqp091-go takes it for the end of the array",
			encode.Table(func(e *encode.Encoder) {
				e.Array("a", func(e *encode.Encoder) {
					e.Bool("", true)
					e.Raw('t')
				})
				after(e)
			}),
		),
	}
}

// Deep returns a table in which that many tables named d lie in each other.
func Deep(levels int) []byte {
	return encode.Table(func(e *encode.Encoder) { deepTable(e, levels) })
}

func deepTable(e *encode.Encoder, levels int) {
	if levels > 0 {
		e.Nested("d", func(e *encode.Encoder) { deepTable(e, levels-1) })
	}
}

func deepArray(e *encode.Encoder, levels int) {
	if levels > 0 {
		e.Array("a", func(e *encode.Encoder) { deepArray(e, levels-1) })
	}
}
