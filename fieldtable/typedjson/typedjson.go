// Package typedjson writes field tables and messages as JSON that loses nothing: order, duplicates,
// type tags, offsets, 64-bit integers and octets that are no text all survive, and damage stands
// where it is.
//
// A table is {"fields":[…],"error":null}: a list, never an object keyed by names. A field is
//
//	{"key":"k","tag":"S","type":"longstr","value":"v","offset":4,"end":12}
//
// with offsets in octets from the outermost table's first length octet. A name that is no UTF-8 has
// "key":null and "key_hex". An array is {"items":[…],"error":null}, its elements without key. An
// error is
//
//	{"offset":13,"reason":"unknown_tag","path":"x-death[0].reason","tag":"Z"}
//
// without tag where there is none. A tag is always one character whose code point is the octet.
//
// The values, by type: bool as true or false; int8 to uint32 as numbers; int64 and uint64 as
// strings of digits; float32 and float64 as the shortest number that reads back the same, -0.0 for
// minus zero, or "NaN", "+Inf", "-Inf"; decimal as a string with as many digits after the point as
// its scale; longstr and shortstr as strings, or {"hex":"…"} if they are no UTF-8; bytes and char8
// as {"hex":"…"}; timestamp as {"unit":"s","value":"1700000000","time":"2023-11-14T22:13:20Z"},
// with unit "ms" and three decimals where the dialect counts milliseconds, and time null outside
// the years 1 to 9999; void as null; table and array as above.
//
// Where other octets have the same value, a field or an element has its payload too, in
// hexadecimal: "raw":"02" beside the value true. Such are booleans of another octet than 0 and 1,
// and every NaN but the one that computers make, 7fc00000 and 7ff8000000000000.
//
// The output is safe in HTML, scripts and terminals: <, >, &, U+2028, U+2029 and every control and
// bidirectional character are escaped.
package typedjson

import (
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
)

// AppendTable appends {"fields":[…],"error":…}.
func AppendTable(dst []byte, t fieldtable.Table) []byte {
	s := t.Scan()
	return (*stream)(nil).elements(append(dst, `{"fields":[`...), &s)
}

// AppendArray appends {"items":[…],"error":…}.
func AppendArray(dst []byte, a fieldtable.Array) []byte {
	s := a.Scan()
	return (*stream)(nil).elements(append(dst, `{"items":[`...), &s)
}

// AppendDecode appends {"dialect":…,"length":…,"fields":[…],"error":…} on one line. The length is
// the one that the table claims, null if its octets are incomplete.
func AppendDecode(dst []byte, t fieldtable.Table) []byte {
	dst = append(dst, `{"dialect":`...)
	dst = AppendString(dst, t.Dialect().Name())
	dst = append(dst, `,"length":`...)
	if n, ok := t.DeclaredLen(); ok {
		dst = strconv.AppendUint(dst, uint64(n), 10)
	} else {
		dst = append(dst, "null"...)
	}
	s := t.Scan()
	return (*stream)(nil).elements(append(dst, `,"fields":[`...), &s)
}

// AppendValue appends a value alone, the "value" of its field; null for the zero Value.
func AppendValue(dst []byte, v fieldtable.Value) []byte {
	switch v.Kind() {
	case fieldtable.KindTable:
		t, _ := v.Table()
		return AppendTable(dst, t)
	case fieldtable.KindArray:
		a, _ := v.Array()
		return AppendArray(dst, a)
	}
	return (*stream)(nil).scalar(dst, v)
}

// elements writes the rest of a table or array, up to and with its closing brace.
func (out *stream) elements(dst []byte, s *fieldtable.Scanner) []byte {
	for first := true; !out.failed() && s.Next(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		dst = out.flush(out.element(dst, s))
	}
	dst = append(dst, `],"error":`...)
	if e, damaged := errors.AsType[*fieldtable.SyntaxError](s.Err()); damaged {
		dst = AppendError(dst, e)
	} else {
		dst = append(dst, "null"...)
	}
	return append(dst, '}')
}

func (out *stream) element(dst []byte, s *fieldtable.Scanner) []byte {
	f := s.Field()
	dst = append(dst, '{')
	if f.Name != nil {
		dst = appendKey(dst, f.Name)
	}
	dst = append(dst, `"tag":`...)
	dst = AppendTag(dst, f.Value.Tag())
	dst = append(dst, `,"type":"`...)
	dst = append(dst, f.Value.Kind().String()...)
	dst = append(dst, `","value":`...)
	switch f.Value.Kind() {
	case fieldtable.KindTable, fieldtable.KindArray:
		dst = out.container(dst, s, f.Value)
	default:
		dst = out.scalar(dst, f.Value)
	}
	if ambiguous(f.Value) {
		dst = append(dst, `,"raw":"`...)
		dst = hex.AppendEncode(dst, f.Value.Raw())
		dst = append(dst, '"')
	}
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, int64(f.Offset), 10)
	dst = append(dst, `,"end":`...)
	dst = strconv.AppendInt(dst, int64(f.End), 10)
	return append(dst, '}')
}

// container is element of a table or an array. It is apart from that because the scanner of what is
// in it has to be allocated.
func (out *stream) container(dst []byte, s *fieldtable.Scanner, v fieldtable.Value) []byte {
	inner, ok := s.Into()
	switch {
	case !ok:
		return out.scalar(dst, v)
	case v.Kind() == fieldtable.KindTable:
		dst = append(dst, `{"fields":[`...)
	default:
		dst = append(dst, `{"items":[`...)
	}
	return out.elements(dst, &inner)
}

// ambiguous reports whether what is written of v does not tell its octets.
func ambiguous(v fieldtable.Value) bool {
	raw := v.Raw()
	switch v.Kind() {
	case fieldtable.KindBool:
		return raw[0] > 1
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		f, _ := v.Float64()
		return math.IsNaN(f) && string(raw) != "\x7f\xc0\x00\x00" && string(raw) != "\x7f\xf8\x00\x00\x00\x00\x00\x00"
	}
	return false
}

func appendKey(dst, name []byte) []byte {
	if utf8.Valid(name) {
		dst = append(dst, `"key":`...)
		dst = AppendString(dst, name)
		return append(dst, ',')
	}
	dst = append(dst, `"key":null,"key_hex":"`...)
	dst = hex.AppendEncode(dst, name)
	return append(dst, `",`...)
}

// AppendError appends {"offset":…,"reason":…,"path":…} with the tag if the error has one.
func AppendError(dst []byte, e *fieldtable.SyntaxError) []byte {
	dst = append(dst, `{"offset":`...)
	dst = strconv.AppendInt(dst, int64(e.Offset), 10)
	dst = append(dst, `,"reason":"`...)
	dst = append(dst, e.Reason()...)
	dst = append(dst, `","path":`...)
	dst = AppendString(dst, e.Path)
	if e.HasTag {
		dst = append(dst, `,"tag":`...)
		dst = AppendTag(dst, e.Tag)
	}
	return append(dst, '}')
}

func (out *stream) scalar(dst []byte, v fieldtable.Value) []byte {
	switch v.Kind() {
	case fieldtable.KindInvalid, fieldtable.KindVoid:
		return append(dst, "null"...)
	case fieldtable.KindInt64, fieldtable.KindUint64, fieldtable.KindDecimal:
		dst = append(dst, '"')
		dst = v.AppendText(dst)
		return append(dst, '"')
	case fieldtable.KindFloat32, fieldtable.KindFloat64:
		switch f, _ := v.Float64(); {
		case math.IsNaN(f) || math.IsInf(f, 0):
			dst = append(dst, '"')
			dst = v.AppendText(dst)
			return append(dst, '"')
		case f == 0 && math.Signbit(f):
			return append(dst, "-0.0"...) // many readers take -0 for an integer and lose the sign
		}
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		return out.octets(dst, v.Raw())
	case fieldtable.KindBytes, fieldtable.KindChar8:
		return out.hex(dst, v.Raw())
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		return AppendTimestamp(dst, ts)
	}
	return v.AppendText(dst)
}

// AppendTimestamp appends a timestamp: that of a value, or that of the timestamp property in the
// dialect's unit.
func AppendTimestamp(dst []byte, ts fieldtable.Timestamp) []byte {
	dst = append(dst, `{"unit":"`...)
	dst = append(dst, ts.Unit.String()...)
	dst = append(dst, `","value":"`...)
	dst = strconv.AppendInt(dst, ts.Value, 10)
	dst = append(dst, `","time":`...)
	quoted := append(dst, '"')
	if quoted, ok := ts.AppendRFC3339(quoted); ok {
		return append(quoted, `"}`...)
	}
	return append(dst, "null}"...)
}

// AppendString appends a JSON string. Characters that would need care in HTML, scripts or
// line-based formats are escaped; s should be UTF-8, an octet that is not becomes U+FFFD.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	return append(appendEscaped(append(dst, '"'), s), '"')
}

// appendEscaped is AppendString without the quotes.
func appendEscaped[T string | []byte](dst []byte, s T) []byte {
	const hexDigits = "0123456789abcdef"
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, `\n`...)
			case c == '\r':
				dst = append(dst, `\r`...)
			case c == '\t':
				dst = append(dst, `\t`...)
			case c < ' ' || c == 0x7f || c == '<' || c == '>' || c == '&':
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, `\ufffd`...)
		case unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp): // all below U+10000
			dst = append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst
}
