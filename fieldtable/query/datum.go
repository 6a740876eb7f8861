package query

import (
	"math"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
)

type class uint8

const (
	classOther class = iota // bytes, char8, table, array: displayed, never ordered
	classVoid
	classBool
	classInt
	classUint // above the int64 range
	classFloat
	classDecimal // int × 10^-scale
	classText
	classTime // int × 10^-scale seconds since 1970
)

// datum is one value under test: a header's, a property's or a delivery fact's.
type datum struct {
	class class
	bool  bool
	scale int
	int   int64
	uint  uint64
	float float64
	// narrow: float is a float32.
	narrow bool
	bytes  []byte
	// value is the header's, nil for what is none.
	value *fieldtable.Value
	// removed: the archive holds the value without some of its payload, so that nothing can be
	// compared with it.
	removed bool
}

// setValue leaves fields that are not of the class as they were.
func (d *datum) setValue(v *fieldtable.Value) {
	d.class, d.value = classOther, v
	switch v.Kind() {
	case fieldtable.KindVoid:
		d.class = classVoid
	case fieldtable.KindBool:
		d.class = classBool
		d.bool, _ = v.Bool()
	case fieldtable.KindInt8, fieldtable.KindUint8, fieldtable.KindInt16, fieldtable.KindUint16,
		fieldtable.KindInt32, fieldtable.KindUint32, fieldtable.KindInt64, fieldtable.KindUint64:
		if i, ok := v.Int64(); ok {
			d.class, d.int = classInt, i
			return
		}
		u, _ := v.Uint64()
		d.class, d.uint = classUint, u
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		d.class, d.narrow = classFloat, v.Kind() == fieldtable.KindFloat32
		d.float, _ = v.Float64()
	case fieldtable.KindDecimal:
		dec, _ := v.Decimal()
		d.class, d.int, d.scale = classDecimal, int64(dec.Unscaled), int(dec.Scale)
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		d.class = classText
		d.bytes, _ = v.Text()
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		d.class, d.int, d.scale = classTime, ts.Value, scaleOf(ts.Unit)
	}
}

func (d *datum) setText(b []byte) { *d = datum{class: classText, bytes: b} }

func (d *datum) setUint(u uint64) {
	*d = datum{class: classInt, int: int64(u)}
	if u > math.MaxInt64 {
		*d = datum{class: classUint, uint: u}
	}
}

func (d *datum) setTimestamp(ts fieldtable.Timestamp) {
	*d = datum{class: classTime, int: ts.Value, scale: scaleOf(ts.Unit)}
}

func scaleOf(u fieldtable.Unit) int {
	if u == fieldtable.Milliseconds {
		return 3
	}
	return 0
}

// setInstant sets nanoseconds since 1970.
func (d *datum) setInstant(ns int64) { *d = datum{class: classTime, int: ns, scale: nanoseconds} }

// nanoseconds is the scale of what headerglass itself measured: it is displayed as a date, while
// timestamps of a message are displayed as the number that they are.
const nanoseconds = 9

// cmpTime compares a classTime with t.
func (d *datum) cmpTime(t time.Time) int {
	unit := int64(1)
	for range d.scale {
		unit *= 10
	}
	sec, rest := d.int/unit, d.int%unit
	if rest < 0 {
		sec, rest = sec-1, rest+unit
	}
	switch {
	case sec < t.Unix():
		return -1
	case sec > t.Unix():
		return 1
	}
	return compareInts(int(rest*(int64(time.Second)/unit)), t.Nanosecond())
}

// number reports whether d is displayed as a number.
func (d *datum) number() bool {
	switch d.class {
	case classInt, classUint, classDecimal:
		return true
	case classFloat:
		return !math.IsNaN(d.float) && !math.IsInf(d.float, 0)
	case classTime:
		return d.scale != nanoseconds
	}
	return false
}

// appendDisplayed writes the text that the page shows for d.
func (d *datum) appendDisplayed(dst []byte) []byte {
	if d.value != nil {
		return d.value.AppendText(dst)
	}
	switch d.class {
	case classBool:
		return strconv.AppendBool(dst, d.bool)
	case classInt:
		return strconv.AppendInt(dst, d.int, 10)
	case classUint:
		return strconv.AppendUint(dst, d.uint, 10)
	case classTime:
		if d.scale != nanoseconds {
			return strconv.AppendInt(dst, d.int, 10)
		}
		return time.Unix(0, d.int).UTC().AppendFormat(dst, time.RFC3339Nano)
	}
	return append(dst, d.bytes...)
}
