package query

import (
	"math"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestCompareNumbers(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Int8("i8", -128)
		e.Uint8("u8", 255)
		e.Int16("i16", -32768)
		e.Uint16("u16", 65535)
		e.Int32("i32", 5)
		e.Uint32("u32", math.MaxUint32)
		e.Int64("max", math.MaxInt64)
		e.Int64("min", math.MinInt64)
		e.Float32("f32", 0.1)
		e.Float64("f64", 9007199254740992) // 2^53: the next float64 is 2 more
		e.Float64("tenth", 0.1)
		e.Float64("nan", math.NaN())
		e.Float64("inf", math.Inf(1))
		e.Float64("-inf", math.Inf(-1))
		e.Float64("-0", math.Copysign(0, -1))
		e.Float64("tiny", math.SmallestNonzeroFloat64)
		e.Float64("huge", math.MaxFloat64)
		e.Decimal("pi", 2, 314)
		e.Decimal("-pi", 2, -314)
		e.Decimal("five", 3, 5000)
		e.Decimal("small", 255, 1)
		e.Decimal("d0", 9, 0)
		e.Str("text", "5.00")
		e.Str("seven", "007")
		e.Str("exp", "1.5e3")
		e.Str("word", "five")
		e.Str("empty", "")
		e.Str("long", "9223372036854775808.0000000000000000000000000000000000000000000000000001")
		e.Bool("yes", true)
		e.Bytes("bin", []byte("5"))
	}))
	checkVerdicts(t, m, []verdictCase{
		{"i8 = -128", Yes},
		{"i8 < -127.99", Yes},
		{"i8 >= -127", No},
		{"u8 = 255", Yes},
		{"u8 = 255.0", Yes},
		{"u8 = 2.55e2", Yes},
		{"u8 > -1", Yes},
		{"i16 = -32768", Yes},
		{"u16 > 65534.999", Yes},
		{"i32 = 5", Yes},
		{"i32 = 5.00", Yes},
		{"i32 = 5.00", Yes},
		{"i32 <> 5", No},
		{"i32 < 5", No},
		{"i32 <= 5", Yes},
		{"i32 > 4.9999999999999999999999", Yes},
		{"i32 < 5.0000000000000000000001", Yes},
		{"i32 = 5.0000000000000000000001", No},
		{"u32 = 4294967295", Yes},
		{"u32 > -1", Yes},
		{"max = 9223372036854775807", Yes},
		{"max = 9223372036854775808", No},
		{"max < 9223372036854775808", Yes},
		{"max > 9223372036854775806", Yes},
		{"max < 9223372036854775807.5", Yes},
		{"max > 1e19", No},
		{"max < 1e400", Yes},
		{"max = 9223372036854775808.0", No},
		{"min = -9223372036854775808", Yes},
		{"min > -9223372036854775809", Yes},
		{"min < -1e18", Yes},
		{"min > -1e99999", Yes},
		{"f32 = 0.1", Yes},
		{"f32 > 0.1", No},
		{"f32 = 0.100000001490116119384765625", Yes},
		{"f64 = 9007199254740992", Yes},
		{"f64 = 9007199254740993", No},
		{"f64 < 9007199254740993", Yes},
		{"f64 > 9007199254740991", Yes},
		// 0.1 is not the float64 nearest to it.
		{"tenth = 0.1", Yes},
		{"tenth > 0.1", No},
		{"tenth < 0.10000000000000001", No},
		{"tenth = 0.1000000000000000055511151231257827021181583404541015625", Yes},
		{"nan = 5", No},
		{"nan <> 5", Yes},
		{"nan < 5", Unknown},
		{"nan >= 5", Unknown},
		{"nan = NaN", Yes},
		{"nan BETWEEN 1 AND 2", Unknown},
		{"inf > 1e999", Yes},
		{`"-inf" < -1e999`, Yes},
		{"inf = 1e999", No},
		{`inf = "+Inf"`, Yes},
		{`"-inf" = -Inf`, Yes},
		{`"-0" = 0`, Yes},
		{`"-0" = -0`, Yes},
		{`"-0" < 0`, No},
		{`"-0" >= 0`, Yes},
		{"tiny > 0", Yes},
		{"tiny > 1e-400", Yes},
		{"tiny < 5e-324", No},
		{"tiny > 4.9e-324", No},
		{"huge < 1.7976931348623158e308", No},
		{"huge < 1e309", Yes},
		{"huge > 1.7976931348623157e308", No},
		{"pi = 3.14", Yes},
		{"pi = 3.140", Yes},
		{"pi > 3.1399999", Yes},
		{"pi < 3.15", Yes},
		{"pi = 314", No},
		{`"-pi" = -3.14`, Yes},
		{`"-pi" < -3.13`, Yes},
		{"five = 5", Yes},
		{"five > 5", No},
		{"small > 0", Yes},
		{"small = 1e-255", Yes},
		{"small < 1e-254", Yes},
		{"d0 = 0", Yes},
		{"text = 5", Yes},
		{"text > 4", Yes},
		{"text < 5", No},
		{"text = '5.00'", Yes},
		{"text = '5'", No},
		{"seven = 7", Yes},
		{"exp = 1500", Yes},
		{"exp > 1499.999", Yes},
		{"word = 5", No},
		{"word <> 5", Yes},
		{"word > 5", Unknown},
		{"NOT word > 5", Unknown},
		{"empty = 0", No},
		{"long > 9223372036854775808", Yes},
		{"long > 9223372036854775807", Yes},
		{"long < 9223372036854775809", Yes},
		{"yes = 1", No},
		{"yes > 0", Unknown},
		{"bin = 5", No},
		{"bin = 35", No},
	})
}

func TestCompareUint64(t *testing.T) {
	// Under spec-0-9-1 the tag l is unsigned.
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Uint64("top", math.MaxUint64)
		e.Uint64("half", 1<<63)
		e.Uint64("low", 3)
	}))
	var s Scratch
	for _, c := range []verdictCase{
		{"top = 18446744073709551615", Yes}, {"top = 18446744073709551616", No}, {"top > 18446744073709551614", Yes},
		{"top > -1", Yes}, {"top < 1.8446744073709551616e19", Yes},
		{"half = 9223372036854775808", Yes}, {"half > 9223372036854775807", Yes}, {"half = -9223372036854775808", No},
		{"low = 3", Yes}, {"top = '18446744073709551615'", No}, {`top = "18446744073709551615"`, Yes},
	} {
		if got := compile(t, c.filter).Match(m, fieldtable.Spec091(), &s); got != c.want {
			t.Errorf("%s: %v, want %v", c.filter, got, c.want)
		}
	}
}

func TestCompareWordsAndText(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Str("tenant", "acme")
		e.Str("upper", "TRUE")
		e.Str("lower", "true")
		e.Str("hex", "\xff\x00")
		e.Bool("on", true)
		e.Bool("off", false)
		e.Int32("n", 5)
		e.Decimal("d", 2, 500)
		e.Bytes("bin", []byte{0xde, 0xad})
		e.Char8("c", 'A')
		e.Void("nil")
		e.Nested("tab", func(*encode.Encoder) {})
		e.Array("arr", func(*encode.Encoder) {})
		e.Int32("twice", 1)
		e.Int32("twice", 2)
		e.Str("$odd", "x")
	}))
	checkVerdicts(t, m, []verdictCase{
		{"tenant = acme", Yes},
		{"tenant = 'acme'", Yes},
		{`tenant = "acme"`, Yes},
		{`"tenant" = acme`, Yes},
		{"tenant = ACME", No},
		{"tenant <> bob", Yes},
		{"tenant > 'ab'", Yes},
		{"tenant < b", Yes},
		{"tenant >= acme", Yes},
		{`hex = "\xff\x00"`, Yes},
		{`hex > 'zzz'`, Yes},
		{"on = true", Yes},
		{"on = TRUE", Yes},
		{"on = 'true'", No},
		{"on <> 'true'", Yes},
		{"off = true", No},
		{"off = false", Yes},
		{"on > false", Unknown},
		{"upper = TRUE", Yes},
		{"upper = true", No},
		{"lower = true", Yes},
		{"lower = 'true'", Yes},
		{"n = '5'", No},
		{`n = "5"`, Yes},
		{`n = "5.0"`, No},
		{"n > '4'", Unknown},
		{"n > abc", Unknown},
		{`d = "5.00"`, Yes},
		{`d = "5"`, No},
		{"bin = dead", Yes},
		{"bin = 'dead'", No},
		{"bin > aaaa", Unknown},
		{`c = "41"`, Yes},
		{"nil = void", Yes},
		{"nil <> void", No},
		{"nil = 'void'", Unknown},
		{"nil = 0", Unknown},
		{"nil <> x", Unknown},
		{"tab = table", Yes},
		{"arr = array", Yes},
		{"tab = 5", No},
		{"twice = 1", Yes},
		{"twice = 2", No},
		{"missing = 1", Unknown},
		{"missing <> 1", Unknown},
		{"NOT missing = 1", Unknown},
		{`"$odd" = x`, Yes},
		{"missing = 1 OR tenant = acme", Yes},
		{"missing = 1 AND tenant = bob", No},
		{"missing = 1 AND tenant = acme", Unknown},
	})
}

func TestCompareTimes(t *testing.T) {
	table := encode.Table(func(e *encode.Encoder) {
		e.Timestamp("t", 1700000000) // 2023-11-14T22:13:20Z
		e.Timestamp("early", -1)
		e.Timestamp("far", math.MaxInt64)
		e.Str("iso", "2023-11-14T22:13:20Z")
	})
	m := one(t, table)
	checkVerdicts(t, m, []verdictCase{
		{"t = 1700000000", Yes},
		{"t = 1700000000.5", No},
		{"t < 1700000000.5", Yes},
		{"t = '2023-11-14T22:13:20Z'", Yes},
		{"t = 2023-11-14T22:13:20Z", Yes},
		{"t = '2023-11-14T23:13:20+01:00'", Yes},
		{"t = '2023-11-14T22:13:20'", Yes},
		{"t > '2023-11-14T22:13'", Yes},
		{"t > 2023-11-14", Yes},
		{"t < 2023-11-15", Yes},
		{"t < '2023-11-14T22:13:20.000000001Z'", Yes},
		{"t = soon", No},
		{"t > soon", Unknown},
		{`t = "1700000000"`, Yes},
		{"early < 1970-01-01", Yes},
		{"early = '1969-12-31T23:59:59Z'", Yes},
		{"far > 9999-12-31", Yes},
		{"iso = '2023-11-14T22:13:20Z'", Yes},
		{"iso = '2023-11-14T23:13:20+01:00'", No},
		{"iso < 2024-01-01", Yes},
		{"t BETWEEN '2023-11-14' AND '2023-11-15'", Yes},
	})
	var s Scratch
	for _, c := range []verdictCase{ // in milliseconds: 1970-01-20T16:13:20Z
		{"t = 1700000", Yes},
		{"t = '1970-01-20T16:13:20Z'", Yes},
		{"early = -0.001", Yes},
		{"early = '1969-12-31T23:59:59.999Z'", Yes},
	} {
		if got := compile(t, c.filter).Match(m, fieldtable.QpidJava(), &s); got != c.want {
			t.Errorf("qpid-java: %s: %v, want %v", c.filter, got, c.want)
		}
	}
}
