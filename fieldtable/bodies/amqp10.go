package bodies

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"
)

// Value is a view of one AMQP 1.0 value: perhaps a descriptor, a format code, data. The zero Value
// stands for none.
type Value struct {
	b          []byte // from the first octet that was read; every offset counts from there
	at, end    int    // the first octet of it alone, and the one after its last
	descriptor int    // offset of its descriptor; 0: it has none
	data       int
	code       byte
	depth      uint8
}

// Read looks at the value that begins at an offset. The error is a *SyntaxError.
func Read(b []byte, offset int) (Value, error) {
	v, err := read(b, offset, len(b), 0)
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// read looks at the value at an offset of b, of which nothing at or after limit belongs to it.
func read(b []byte, at, limit int, depth uint8) (Value, *SyntaxError) {
	v := Value{b: b, at: at, depth: depth}
	p, err := v.constructor(at, limit)
	if err != nil {
		return v, err
	}
	return v, v.measure(p, limit)
}

// constructor reads descriptor and format code, and returns where the data begin.
func (v *Value) constructor(p, limit int) (int, *SyntaxError) {
	if p >= limit {
		return p, damage(p, ErrTruncated)
	}
	if v.b[p] == 0 {
		if v.depth >= MaxDepth {
			return p, damage(p, ErrDepth)
		}
		d, err := read(v.b, p+1, limit, v.depth+1)
		if err != nil {
			return p, err
		}
		v.descriptor, p = p+1, d.end
		if p >= limit {
			return p, damage(p, ErrTruncated)
		}
		if v.b[p] == 0 {
			return p, damage(p, ErrCode) // section 1.2 has no descriptor of a descriptor
		}
	}
	v.code = v.b[p]
	return p + 1, nil
}

// measure finds the end of the data that begin at p. The width follows from the upper half of the
// code (part 1, figure 1.1).
func (v *Value) measure(p, limit int) *SyntaxError {
	v.data = p
	left := uint64(limit - p)
	var size uint64
	switch v.code >> 4 {
	case 0x4:
	case 0x5:
		size = 1
	case 0x6:
		size = 2
	case 0x7:
		size = 4
	case 0x8:
		size = 8
	case 0x9:
		size = 16
	case 0xa, 0xc, 0xe:
		if left < 1 {
			return damage(p, ErrTruncated)
		}
		size = 1 + uint64(v.b[p])
	case 0xb, 0xd, 0xf:
		if left < 4 {
			return damage(p, ErrTruncated)
		}
		size = 4 + uint64(binary.BigEndian.Uint32(v.b[p:]))
	default:
		return damage(p-1, ErrCode)
	}
	if size > left {
		if v.code>>4 >= 0xa {
			return damage(p, ErrOverrun)
		}
		return damage(p, ErrTruncated)
	}
	v.end = p + int(size)
	return nil
}

// Offset returns where the value begins, with its descriptor if it has one. An array's elements
// share their constructor: there it is where their data begin.
func (v Value) Offset() int { return v.at }

// End returns the offset after the value's last octet.
func (v Value) End() int { return v.end }

// Descriptor returns the value that says what v means, such as 0x77 for amqp-value.
func (v Value) Descriptor() (Value, bool) {
	if v.descriptor == 0 {
		return Value{}, false
	}
	d, err := read(v.b, v.descriptor, len(v.b), v.depth+1)
	return d, err == nil
}

// Type returns the name of the value's type as the specification writes it; "unknown" for a code
// that it leaves free.
func (v Value) Type() string {
	switch v.code {
	case 0x40:
		return "null"
	case 0x41, 0x42, 0x56:
		return "boolean"
	case 0x50:
		return "ubyte"
	case 0x60:
		return "ushort"
	case 0x43, 0x52, 0x70:
		return "uint"
	case 0x44, 0x53, 0x80:
		return "ulong"
	case 0x51:
		return "byte"
	case 0x61:
		return "short"
	case 0x54, 0x71:
		return "int"
	case 0x55, 0x81:
		return "long"
	case 0x72:
		return "float"
	case 0x82:
		return "double"
	case 0x74:
		return "decimal32"
	case 0x84:
		return "decimal64"
	case 0x94:
		return "decimal128"
	case 0x73:
		return "char"
	case 0x83:
		return "timestamp"
	case 0x98:
		return "uuid"
	case 0xa0, 0xb0:
		return "binary"
	case 0xa1, 0xb1:
		return "string"
	case 0xa3, 0xb3:
		return "symbol"
	case 0x45, 0xc0, 0xd0:
		return "list"
	case 0xc1, 0xd1:
		return "map"
	case 0xe0, 0xf0:
		return "array"
	}
	return "unknown"
}

// Raw returns the data without lengths: of a list, map or array what follows the count.
func (v Value) Raw() []byte {
	_, first, _ := v.counted()
	return v.b[first:v.end:v.end]
}

// counted returns how many items a list, map or array claims and where they begin; for any other
// value where its data begin after a length. ok is false if there is no room for the count.
func (v Value) counted() (n uint32, first int, ok bool) {
	p := v.data
	switch v.code >> 4 {
	case 0xa:
		return 0, p + 1, true
	case 0xb:
		return 0, p + 4, true
	case 0xc, 0xe:
		if v.end-p < 2 {
			return 0, v.end, false
		}
		return uint32(v.b[p+1]), p + 2, true
	case 0xd, 0xf:
		if v.end-p < 8 {
			return 0, v.end, false
		}
		return binary.BigEndian.Uint32(v.b[p+4:]), p + 8, true
	}
	return 0, p, true
}

// IsContainer reports whether the value is a list, a map or an array.
func (v Value) IsContainer() bool { return v.code == 0x45 || v.code >= 0xc0 }

// Items returns the items of a list or an array in their order, and of a map each key before its
// value, then the error, once and last with the zero Value, if there is damage. An array of values
// without octets, such as true, may have billions: only the caller can know when to stop.
func (v Value) Items() iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		if !v.IsContainer() || v.code == 0x45 {
			return
		}
		n, p, ok := v.counted()
		switch {
		case !ok:
			yield(Value{}, damage(v.data, ErrTruncated))
			return
		case v.depth >= MaxDepth:
			yield(Value{}, damage(v.at, ErrDepth))
			return
		}
		item := Value{b: v.b, depth: v.depth + 1}
		shared := v.Type() == "array"
		if shared {
			var err *SyntaxError
			if p, err = item.constructor(p, v.end); err != nil {
				if n > 0 || err.Offset < v.end {
					yield(Value{}, err)
				}
				return
			}
		}
		for range n {
			var err *SyntaxError
			switch {
			case p >= v.end && !(shared && item.code>>4 == 4):
				err = damage(p, ErrCount)
			case shared:
				item.at = p
				err = item.measure(p, v.end)
			default:
				item, err = read(v.b, p, v.end, v.depth+1)
			}
			if err != nil {
				yield(Value{}, err)
				return
			}
			if !yield(item, nil) {
				return
			}
			p = item.end
		}
		switch {
		case p < v.end:
			yield(Value{}, damage(p, ErrTrailing))
		case v.Type() == "map" && n%2 != 0:
			yield(Value{}, damage(p, ErrOdd))
		}
	}
}

// AppendText appends what a value that is no container says: numbers exactly, text verbatim, octets
// and decimals in hexadecimal, times as RFC 3339 in UTC where it can write them.
func (v Value) AppendText(dst []byte) []byte { return v.appendText(dst, v.Raw()) }

// head is the text of v, or more than maxRowText octets of it.
func (v Value) head() string {
	raw := v.Raw()
	return string(v.appendText(nil, raw[:min(len(raw), maxRowText+1)]))
}

func (v Value) appendText(dst, raw []byte) []byte {
	switch v.code {
	case 0x40:
		return append(dst, "null"...)
	case 0x41:
		return append(dst, "true"...)
	case 0x42:
		return append(dst, "false"...)
	case 0x43, 0x44:
		return append(dst, '0')
	case 0x56:
		if raw[0] > 1 {
			return fmt.Appendf(dst, "0x%02x, neither true nor false", raw[0])
		}
		return strconv.AppendBool(dst, raw[0] == 1)
	case 0x50, 0x52, 0x53, 0x60, 0x70, 0x80:
		return strconv.AppendUint(dst, bigEndian(raw), 10)
	case 0x51, 0x54, 0x55:
		return strconv.AppendInt(dst, int64(int8(raw[0])), 10)
	case 0x61:
		return strconv.AppendInt(dst, int64(int16(binary.BigEndian.Uint16(raw))), 10)
	case 0x71:
		return strconv.AppendInt(dst, int64(int32(binary.BigEndian.Uint32(raw))), 10)
	case 0x81:
		return strconv.AppendInt(dst, int64(binary.BigEndian.Uint64(raw)), 10)
	case 0x72:
		return strconv.AppendFloat(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(raw))), 'g', -1, 32)
	case 0x82:
		return strconv.AppendFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(raw)), 'g', -1, 64)
	case 0x73:
		return append(
			strconv.AppendQuoteRuneToASCII(dst, rune(binary.BigEndian.Uint32(raw))),
			fmt.Sprintf(" (U+%04X)", binary.BigEndian.Uint32(raw))...)
	case 0x83:
		return appendMillis(dst, int64(binary.BigEndian.Uint64(raw)))
	case 0x98:
		return fmt.Appendf(dst, "%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
	case 0xa1, 0xa3, 0xb1, 0xb3:
		return append(dst, raw...)
	}
	return hex.AppendEncode(append(dst, "0x"...), raw)
}

// bigEndian reads up to 8 octets.
func bigEndian(b []byte) (n uint64) {
	for _, octet := range b {
		n = n<<8 | uint64(octet)
	}
	return n
}

func appendMillis(dst []byte, ms int64) []byte {
	dst = append(strconv.AppendInt(dst, ms, 10), " ms"...)
	if t := time.UnixMilli(ms).UTC(); t.Year() >= 1 && t.Year() <= 9999 {
		dst = t.AppendFormat(append(dst, " = "...), "2006-01-02T15:04:05.000Z")
	}
	return dst
}
