package typedjson

import (
	"time"
	"unicode/utf8"
)

// AppendMember begins the next member of the object that dst ends with. The name must need no
// escapes.
func AppendMember(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

// AppendNext begins the next element of the array that dst ends with.
func AppendNext(dst []byte) []byte {
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return dst
}

// AppendOctets appends a short string of the wire: a string, or {"hex":"…"} where the octets are
// no UTF-8.
func AppendOctets(dst, octets []byte) []byte {
	if utf8.Valid(octets) {
		return AppendString(dst, octets)
	}
	return (*stream)(nil).hex(dst, octets)
}

// AppendTag appends a type tag: one character whose code point is the octet.
func AppendTag(dst []byte, tag byte) []byte {
	return AppendString(dst, string(rune(tag)))
}

// AppendTime appends a moment as RFC 3339 in UTC with all nine digits of the nanoseconds, so that
// times sort as text; the zero time is null.
func AppendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return t.AppendFormat(dst, `"2006-01-02T15:04:05.000000000Z07:00"`)
	}
	// Package time is several times as fast with this layout, which leaves out zeros at the end.
	start := len(dst) + len(`"`)
	dst = t.AppendFormat(append(dst, '"'), time.RFC3339Nano)
	dst = dst[:len(dst)-len("Z")]
	if len(dst)-start == len("2006-01-02T15:04:05") {
		dst = append(dst, '.')
	}
	for len(dst)-start < len("2006-01-02T15:04:05.000000000") {
		dst = append(dst, '0')
	}
	return append(dst, `Z"`...)
}
