package fieldtable

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
)

// Value is a view of one value: its tag, its length octets if it has any, its payload. The zero
// Value stands for no value. Its accessors answer false for a value of another kind.
type Value struct {
	root    []byte // from the outermost table's first length octet
	d       *Dialect
	at, end int // at is the tag
	depth   uint8
	tag     byte
	kind    Kind
	prefix  uint8 // length octets
}

// newValue describes root[at:end], which extent has measured.
func newValue(root []byte, d *Dialect, depth uint8, at, end uint64) Value {
	v := Value{root: root, d: d, depth: depth}
	v.set(at, end)
	return v
}

// set makes v describe another value of the same table or array.
func (v *Value) set(at, end uint64) {
	v.at, v.end = int(at), int(end)
	v.tag = v.root[at]
	v.kind = v.d.kinds[v.tag]
	v.prefix = v.d.prefixes[v.tag]
}

// Seek makes v the value whose tag is at offset of encoded, an outermost table with its length
// octets, as Offset tells it of one of its fields. It passes over nothing and copies nothing. The
// result is false and v the zero Value if no value can be read there; if at offset is no tag, v is
// without meaning, but lies within encoded.
func (v *Value) Seek(encoded []byte, d *Dialect, offset int) bool {
	if d == nil {
		d = lenient
	}
	at := uint64(offset)
	if at < uint64(len(encoded)) {
		w := d.widthsAt(0)
		end := w.extent(encoded, at)
		if end > uint64(len(encoded)) {
			end = w.exactExtent(encoded, at)
		}
		if end <= uint64(len(encoded)) {
			v.root, v.d, v.depth = encoded, d, 0
			v.set(at, end)
			return true
		}
	}
	*v = Value{}
	return false
}

// IsZero reports whether v is the zero Value: no value at all, not to be confused with a void.
func (v Value) IsZero() bool { return v.d == nil }

// Tag returns the type tag as on the wire.
func (v Value) Tag() byte { return v.tag }

// Kind returns what the tag means in the table's dialect; KindInvalid for the zero Value.
func (v Value) Kind() Kind { return v.kind }

// Raw returns the payload without tag and length octets.
func (v Value) Raw() []byte {
	if v.d == nil {
		return nil
	}
	return v.root[v.at+1+int(v.prefix) : v.end : v.end]
}

// Encoded returns tag, length octets and payload, as on the wire.
func (v Value) Encoded() []byte { return v.root[v.at:v.end:v.end] }

// Offset returns where the tag is, in octets from the outermost table's first length octet.
func (v Value) Offset() int { return v.at }

// PayloadOffset returns the offset of the first octet after the tag: of the length octets where
// there are any.
func (v Value) PayloadOffset() int { return v.at + 1 }

// End returns the offset after the value's last octet.
func (v Value) End() int { return v.end }

// Dialect returns the dialect under which the value is read; nil for the zero Value.
func (v Value) Dialect() *Dialect { return v.d }

// Bool returns the value of a boolean. Raw tells 1 from other octets that mean true.
func (v Value) Bool() (value, ok bool) {
	if v.kind != KindBool {
		return false, false
	}
	octet := v.Raw()[0]
	if v.d.trueIsOne {
		return octet == 1, true
	}
	return octet != 0, true
}

// Int64 returns an integer of any kind, if it fits.
func (v Value) Int64() (n int64, ok bool) {
	raw := v.Raw()
	switch v.kind {
	case KindInt8:
		return int64(int8(raw[0])), true
	case KindUint8:
		return int64(raw[0]), true
	case KindInt16:
		return int64(int16(binary.BigEndian.Uint16(raw))), true
	case KindUint16:
		return int64(binary.BigEndian.Uint16(raw)), true
	case KindInt32:
		return int64(int32(binary.BigEndian.Uint32(raw))), true
	case KindUint32:
		return int64(binary.BigEndian.Uint32(raw)), true
	case KindInt64:
		return int64(binary.BigEndian.Uint64(raw)), true
	case KindUint64:
		if n := binary.BigEndian.Uint64(raw); n <= math.MaxInt64 {
			return int64(n), true
		}
	}
	return 0, false
}

// Uint64 returns an integer of any kind, if it is not negative.
func (v Value) Uint64() (n uint64, ok bool) {
	if v.kind == KindUint64 {
		return binary.BigEndian.Uint64(v.Raw()), true
	}
	i, ok := v.Int64()
	if !ok || i < 0 {
		return 0, false
	}
	return uint64(i), true
}

// Float64 returns a single or double precision float.
func (v Value) Float64() (f float64, ok bool) {
	switch v.kind {
	case KindFloat32:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(v.Raw()))), true
	case KindFloat64:
		return math.Float64frombits(binary.BigEndian.Uint64(v.Raw())), true
	}
	return 0, false
}

// Decimal returns a decimal.
func (v Value) Decimal() (d Decimal, ok bool) {
	if v.kind != KindDecimal {
		return Decimal{}, false
	}
	raw := v.Raw()
	return Decimal{Scale: raw[0], Unscaled: int32(binary.BigEndian.Uint32(raw[1:]))}, true
}

// Text returns the octets of a string, which need not be UTF-8: AMQP gives them no character set.
func (v Value) Text() (text []byte, ok bool) {
	if v.kind != KindLongStr && v.kind != KindShortStr {
		return nil, false
	}
	return v.Raw(), true
}

// Bytes returns the octets of a byte string or of a single character.
func (v Value) Bytes() (octets []byte, ok bool) {
	if v.kind != KindBytes && v.kind != KindChar8 {
		return nil, false
	}
	return v.Raw(), true
}

// Timestamp returns a timestamp in the dialect's unit.
func (v Value) Timestamp() (t Timestamp, ok bool) {
	if v.kind != KindTimestamp {
		return Timestamp{}, false
	}
	return Timestamp{Value: int64(binary.BigEndian.Uint64(v.Raw())), Unit: v.d.unit}, true
}

// Table returns a view of a nested table. It costs nothing; damage inside shows when it is read.
func (v Value) Table() (t Table, ok bool) {
	if v.kind != KindTable {
		return Table{}, false
	}
	return Table{v.inside()}, true
}

// Array returns a view of an array. It costs nothing; damage inside shows when it is read.
func (v Value) Array() (a Array, ok bool) {
	if v.kind != KindArray {
		return Array{}, false
	}
	return Array{v.inside()}, true
}

func (v Value) inside() container {
	return container{root: v.root, d: v.d, at: v.at + 1, end: v.end, depth: v.depth + 1}
}

// AppendText appends the value as it is shown: integers and decimals exactly, floats in the
// shortest form that reads back the same, NaN, +Inf and -Inf, true and false, void, timestamps as
// their number, strings verbatim, octets in hexadecimal. A table or an array appends only its kind;
// the zero Value appends nothing.
func (v Value) AppendText(dst []byte) []byte {
	switch v.kind {
	case KindInvalid:
		return dst
	case KindBool:
		b, _ := v.Bool()
		return strconv.AppendBool(dst, b)
	case KindUint64:
		n, _ := v.Uint64()
		return strconv.AppendUint(dst, n, 10)
	case KindFloat32, KindFloat64:
		return v.appendFloat(dst)
	case KindDecimal:
		d, _ := v.Decimal()
		return d.Append(dst)
	case KindLongStr, KindShortStr:
		return append(dst, v.Raw()...)
	case KindBytes, KindChar8:
		return hex.AppendEncode(dst, v.Raw())
	case KindTimestamp:
		t, _ := v.Timestamp()
		return strconv.AppendInt(dst, t.Value, 10)
	case KindVoid, KindTable, KindArray:
		return append(dst, v.kind.String()...)
	}
	n, _ := v.Int64()
	return strconv.AppendInt(dst, n, 10)
}

// appendFloat follows the shape of encoding/json's numbers: an exponent only below 1e-6 and from
// 1e21.
func (v Value) appendFloat(dst []byte) []byte {
	f, _ := v.Float64()
	bits := 64
	if v.kind == KindFloat32 {
		bits = 32
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendFloat(dst, f, 'g', -1, bits)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, bits)
	// strconv pads an exponent of one digit: e-07.
	if n := len(dst); format == 'e' && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst
}
