package fieldtable_test

import (
	"math"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestHints(t *testing.T) {
	for _, c := range []struct {
		name    string
		dialect *fieldtable.Dialect
		write   func(e *encode.Encoder)
		want    string // a part of the hint; empty: no hint
	}{
		{"s as an integer", nil, func(e *encode.Encoder) { e.ShortStr("k", "A") }, "a string of 1 octet"},
		{"s as a string", fieldtable.Spec091(), func(e *encode.Encoder) { e.ShortStr("k", "A") }, "the 16-bit integer 321"},
		{"s as an empty string", fieldtable.Spec091(), func(e *encode.Encoder) { e.ShortStr("k", "") }, "half of a 16-bit integer"},
		{"b 127", nil, func(e *encode.Encoder) { e.Int8("k", 127) }, ""},
		{"b 128", nil, func(e *encode.Encoder) { e.Int8("k", -128) }, "128 for py-amqp"},
		{"b 128 unsigned", fieldtable.PyAMQPLegacy(), func(e *encode.Encoder) { e.Int8("k", -128) }, "-128 for RabbitMQ"},
		{"B 127", nil, func(e *encode.Encoder) { e.Uint8("k", 127) }, ""},
		{"B 128", nil, func(e *encode.Encoder) { e.Uint8("k", 128) }, "-128 for py-amqp"},
		{"B 128 signed", fieldtable.PyAMQPLegacy(), func(e *encode.Encoder) { e.Uint8("k", 128) }, "128 for RabbitMQ"},
		{"l 2^63-1", nil, func(e *encode.Encoder) { e.Int64("k", 1<<63-1) }, ""},
		{"l 2^63", nil, func(e *encode.Encoder) { e.Int64("k", -1<<63) }, "9223372036854775808 for the 0-9-1 grammar"},
		{"l -1000 unsigned", fieldtable.Spec091(), func(e *encode.Encoder) { e.Int64("k", -1000) }, "-1000 for RabbitMQ"},
		{"L -1", nil, func(e *encode.Encoder) { e.Int64L("k", -1) }, "18446744073709551615 for rabbitmq-c"},
		{"L -1 unsigned", fieldtable.RabbitMQC(), func(e *encode.Encoder) { e.Int64L("k", -1) }, "-1 for RabbitMQ"},
		{"D 2^31-1", nil, func(e *encode.Encoder) { e.Decimal("k", 2, 1<<31-1) }, ""},
		{"D -3.14", nil, func(e *encode.Encoder) { e.Decimal("k", 2, -314) }, "42949669.82 for RabbitMQ's server"},
		{"D sign and magnitude", nil, func(e *encode.Encoder) { e.Decimal("k", 2, -1<<31+314) }, "-3.14 for RabbitMQ's .NET client"},
		{"T seconds", nil, func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000) }, ""},
		{"T 1e11", nil, func(e *encode.Encoder) { e.Timestamp("k", 100_000_000_000) }, ""},
		{"T milliseconds", nil, func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000_123) }, "2023-11-14T22:13:20.123Z"},
		{"T microseconds", nil, func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000_123_456) }, "2023-11-14T22:13:20.123456Z"},
		{"T nanoseconds", nil, func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000_123_456_789) }, "nanoseconds, which some clients write, 2023-11-14T22:13:20.123456789Z"},
		{"T microseconds in ms", fieldtable.QpidJava(), func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000_123_456) }, "2023-11-14T22:13:20.123456Z"},
		{"T nanoseconds in ms", fieldtable.QpidJava(), func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000_123_456_789) }, "2023-11-14T22:13:20.123456789Z"},
		{"T 1e14 in ms", fieldtable.QpidJava(), func(e *encode.Encoder) { e.Timestamp("k", 100_000_000_000_000) }, ""},
		{"T of .NET's least time", nil, func(e *encode.Encoder) { e.Timestamp("k", -62_135_596_800) }, "the least value of .NET's DateTime"},
		{"T of .NET's least time in ms", fieldtable.QpidJava(), func(e *encode.Encoder) { e.Timestamp("k", -62_135_596_800_000) }, "the least value of .NET's DateTime"},
		{"T 0", nil, func(e *encode.Encoder) { e.Timestamp("k", 0) }, ""},
		{"T negative", nil, func(e *encode.Encoder) { e.Timestamp("k", -1) }, "18446744073709551615 for clients"},
		{"T seconds in ms", fieldtable.QpidJava(), func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000) }, "2023-11-14T22:13:20Z"},
		{"T ms in ms", fieldtable.QpidJava(), func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000_123) }, ""},
		{"t 1", nil, func(e *encode.Encoder) { e.Bool("k", true) }, ""},
		{"t 2", nil, func(e *encode.Encoder) { e.Value("k", 't', []byte{2}) }, "false for Apache Qpid"},
		{"t 2 as false", fieldtable.QpidJava(), func(e *encode.Encoder) { e.Value("k", 't', []byte{2}) }, "true for RabbitMQ"},
		{"f 10.0 in the other byte order", nil, func(e *encode.Encoder) { e.Value("k", 'f', []byte{0, 0, 0x20, 0x41}) }, "10 in the opposite byte order"},
		{"f 0.1", nil, func(e *encode.Encoder) { e.Float32("k", 0.1) }, ""},
		{"f 0", nil, func(e *encode.Encoder) { e.Float32("k", 0) }, ""},
		{"f 9e-41, plausible in no order", nil, func(e *encode.Encoder) { e.Value("k", 'f', []byte{0, 1, 0, 2}) }, ""},
		{"f NaN", nil, func(e *encode.Encoder) { e.Value("k", 'f', []byte{0x7f, 0xc0, 0, 0}) }, "refused by RabbitMQ's server"},
		{"d infinite", nil, func(e *encode.Encoder) { e.Float64("k", math.Inf(-1)) }, "refused by RabbitMQ's server"},
		{"S", nil, func(e *encode.Encoder) { e.Str("k", "text") }, ""},
		{"I -1", nil, func(e *encode.Encoder) { e.Int32("k", -1) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			hints := fieldtable.Hints(fieldtable.View(encode.Table(c.write), c.dialect))
			switch {
			case c.want == "" && len(hints) > 0:
				t.Errorf("%s: %v, want none", c.name, hints)
			case c.want != "" && (len(hints) != 1 || !strings.Contains(hints[0].Text, c.want) ||
				hints[0].Path != "k" || hints[0].Offset != 4):
				t.Errorf("%s: %v, want %q", c.name, hints, c.want)
			}
		})
	}
}

func TestHintsInsideAndTheirNumber(t *testing.T) {
	table := fieldtable.View(encode.Table(func(e *encode.Encoder) {
		e.Array("a", func(e *encode.Encoder) {
			e.Nested("", func(e *encode.Encoder) { e.Int8("b", -1) })
			e.Value("", 'Z', nil)
		})
		for range 200 {
			e.Int16("s", 1)
		}
	}), nil)
	hints := fieldtable.Hints(table)
	if len(hints) != 100 || hints[0].Path != "a[0].b" || hints[0].Offset != 16 || hints[0].End != 20 ||
		hints[1].Path != "s" {
		t.Errorf("%d hints, the first %v", len(hints), hints[:2])
	}
}
