package fieldtable_test

import (
	"math"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

func valueOf(t *testing.T, d *fieldtable.Dialect, write func(e *encode.Encoder)) fieldtable.Value {
	t.Helper()
	v, err := fieldtable.View(encode.Table(write), d).Lookup("k")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		write    func(e *encode.Encoder)
		signed   int64
		fits     bool
		unsigned uint64
		positive bool
	}{
		{func(e *encode.Encoder) { e.Value("k", 'B', []byte{0x80}) }, -128, true, 0, false},
		{func(e *encode.Encoder) { e.Value("k", 'B', []byte{0x7f}) }, 127, true, 127, true},
		{func(e *encode.Encoder) { e.Value("k", 'b', []byte{0xff}) }, 255, true, 255, true},
		{func(e *encode.Encoder) { e.Int16U("k", -32768) }, -32768, true, 0, false},
		{func(e *encode.Encoder) { e.Uint16("k", 65535) }, 65535, true, 65535, true},
		{func(e *encode.Encoder) { e.Int32("k", math.MinInt32) }, math.MinInt32, true, 0, false},
		{func(e *encode.Encoder) { e.Uint32("k", math.MaxUint32) }, math.MaxUint32, true, math.MaxUint32, true},
		{func(e *encode.Encoder) { e.Int64L("k", math.MinInt64) }, math.MinInt64, true, 0, false},
		{func(e *encode.Encoder) { e.Int64L("k", math.MaxInt64) }, math.MaxInt64, true, math.MaxInt64, true},
		{func(e *encode.Encoder) { e.Uint64("k", math.MaxUint64) }, 0, false, math.MaxUint64, true},
		{func(e *encode.Encoder) { e.Uint64("k", 5) }, 5, true, 5, true},
		{func(e *encode.Encoder) { e.Str("k", "5") }, 0, false, 0, false},
		{func(e *encode.Encoder) { e.Timestamp("k", 5) }, 0, false, 0, false},
	} {
		v := valueOf(t, fieldtable.PyAMQPLegacy(), c.write) // l is unsigned there
		if n, ok := v.Int64(); n != c.signed || ok != c.fits {
			t.Errorf("%s: Int64 is %d, %v, want %d, %v", v.Kind(), n, ok, c.signed, c.fits)
		}
		if n, ok := v.Uint64(); n != c.unsigned || ok != c.positive {
			t.Errorf("%s: Uint64 is %d, %v, want %d, %v", v.Kind(), n, ok, c.unsigned, c.positive)
		}
	}
}

// Every accessor answers for its own kinds only; the zero Value answers nothing.
func TestAccessorsRefuseOtherKinds(t *testing.T) {
	type answers struct{ boolean, integer, float, decimal, text, bytes, timestamp, table, array bool }
	of := func(v fieldtable.Value) (a answers) {
		_, a.boolean = v.Bool()
		_, a.integer = v.Int64()
		_, a.float = v.Float64()
		_, a.decimal = v.Decimal()
		_, a.text = v.Text()
		_, a.bytes = v.Bytes()
		_, a.timestamp = v.Timestamp()
		_, a.table = v.Table()
		_, a.array = v.Array()
		return a
	}
	want := map[fieldtable.Kind]answers{
		fieldtable.KindBool:      {boolean: true},
		fieldtable.KindInt8:      {integer: true},
		fieldtable.KindUint8:     {integer: true},
		fieldtable.KindInt16:     {integer: true},
		fieldtable.KindUint16:    {integer: true},
		fieldtable.KindInt32:     {integer: true},
		fieldtable.KindUint32:    {integer: true},
		fieldtable.KindInt64:     {integer: true},
		fieldtable.KindFloat32:   {float: true},
		fieldtable.KindFloat64:   {float: true},
		fieldtable.KindDecimal:   {decimal: true},
		fieldtable.KindLongStr:   {text: true},
		fieldtable.KindBytes:     {bytes: true},
		fieldtable.KindChar8:     {bytes: true},
		fieldtable.KindTimestamp: {timestamp: true},
		fieldtable.KindVoid:      {},
		fieldtable.KindTable:     {table: true},
		fieldtable.KindArray:     {array: true},
	}
	seen := map[fieldtable.Kind]bool{}
	for _, s := range specimens.Specimens() {
		if s.Name != "every-tag" {
			continue
		}
		for f := range fieldtable.View(s.Encoded, nil).All() {
			if got := of(f.Value); got != want[f.Value.Kind()] {
				t.Errorf("%s: %+v", f.Name, got)
			}
			seen[f.Value.Kind()] = true
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%d kinds seen, want %d", len(seen), len(want))
	}
	var zero fieldtable.Value
	if of(zero) != (answers{}) || !zero.IsZero() || zero.Kind() != fieldtable.KindInvalid || zero.Raw() != nil ||
		zero.Encoded() != nil ||
		zero.AppendText(nil) != nil {
		t.Error("the zero Value answers something")
	}
	void := valueOf(t, nil, func(e *encode.Encoder) { e.Void("k") })
	if void.IsZero() || len(void.Raw()) != 0 {
		t.Error("a void is taken for no value")
	}
}

func TestAppendText(t *testing.T) {
	for want, write := range map[string]func(e *encode.Encoder){
		"true":                    func(e *encode.Encoder) { e.Bool("k", true) },
		"-128":                    func(e *encode.Encoder) { e.Int8("k", -128) },
		"4294967295":              func(e *encode.Encoder) { e.Uint32("k", math.MaxUint32) },
		"-9223372036854775808":    func(e *encode.Encoder) { e.Int64("k", math.MinInt64) },
		"0.1":                     func(e *encode.Encoder) { e.Float32("k", 0.1) },
		"NaN":                     func(e *encode.Encoder) { e.Float64("k", math.NaN()) },
		"+Inf":                    func(e *encode.Encoder) { e.Float64("k", math.Inf(1)) },
		"-Inf":                    func(e *encode.Encoder) { e.Float64("k", math.Inf(-1)) },
		"-0":                      func(e *encode.Encoder) { e.Float64("k", math.Copysign(0, -1)) },
		"-0.05":                   func(e *encode.Encoder) { e.Decimal("k", 2, -5) },
		"text \x00 as it is \xff": func(e *encode.Encoder) { e.Str("k", "text \x00 as it is \xff") },
		"00ff":                    func(e *encode.Encoder) { e.Bytes("k", []byte{0, 255}) },
		"41":                      func(e *encode.Encoder) { e.Char8("k", 'A') },
		"1700000000":              func(e *encode.Encoder) { e.Timestamp("k", 1700000000) },
		"void":                    func(e *encode.Encoder) { e.Void("k") },
		"table":                   func(e *encode.Encoder) { e.Nested("k", func(*encode.Encoder) {}) },
		"array":                   func(e *encode.Encoder) { e.Array("k", func(*encode.Encoder) {}) },
	} {
		t.Run(want, func(t *testing.T) {
			v := valueOf(t, nil, write)
			if got := string(v.AppendText([]byte("x"))); got != "x"+want {
				t.Errorf("%s: %q, want %q", v.Kind(), got, "x"+want)
			}
		})
	}
}

func TestTimestamp(t *testing.T) {
	v := valueOf(t, fieldtable.QpidJava(), func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000_123) })
	ts, _ := v.Timestamp()
	if tm, ok := ts.Time(); !ok || !tm.Equal(time.Date(2023, 11, 14, 22, 13, 20, 123e6, time.UTC)) ||
		ts.Unit.String() != "ms" {
		t.Errorf("%v, %v", tm, ok)
	}
	v = valueOf(t, nil, func(e *encode.Encoder) { e.Timestamp("k", 1_700_000_000) })
	ts, _ = v.Timestamp()
	if tm, ok := ts.Time(); !ok || !tm.Equal(time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC)) ||
		ts.Unit.String() != "s" {
		t.Errorf("%v, %v", tm, ok)
	}
}
