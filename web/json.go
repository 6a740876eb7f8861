package web

import (
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

// The functions of this file append JSON to dst, as those of typedjson do.
// name must need no escapes.

// member begins the next member of the object that dst ends with.
func member(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

// element begins the next element of the array that dst ends with.
func element(dst []byte) []byte {
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return dst
}

// appendOctets appends a short string of the wire as typed JSON has it: a
// string, or {"hex":"…"} where the octets are not UTF-8.
func appendOctets(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return typedjson.AppendString(dst, b)
	}
	dst = append(dst, `{"hex":"`...)
	dst = hex.AppendEncode(dst, b)
	return append(dst, `"}`...)
}

// appendTag appends a type tag as typed JSON has it: one character whose code
// point is the octet.
func appendTag(dst []byte, tag byte) []byte {
	return typedjson.AppendString(dst, string(rune(tag)))
}

// appendSeconds appends the timestamp property as typed JSON has a timestamp.
func appendSeconds(dst []byte, v int64) []byte {
	dst = append(dst, `{"unit":"s","value":"`...)
	dst = strconv.AppendInt(dst, v, 10)
	dst = append(dst, `","time":`...)
	at := len(dst)
	dst, ok := fieldtable.Timestamp{Value: v, Unit: fieldtable.Seconds}.AppendRFC3339(append(dst, '"'))
	if !ok {
		return append(dst[:at], "null}"...)
	}
	return append(dst, `"}`...)
}

// appendTime appends t as RFC 3339 with all nine digits of the nanoseconds,
// in UTC, so that times sort as text; the zero time is null.
func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	return t.UTC().AppendFormat(dst, `"2006-01-02T15:04:05.000000000Z07:00"`)
}
