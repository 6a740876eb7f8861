package typedjson

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// WriteMessage writes what AppendMessage appends, in pieces: what is in memory does not grow with
// the message. It may begin with what is in buf and returns memory to be used again. more is what
// the object ends with, members that begin with a comma; nil: none.
func WriteMessage(w io.Writer, buf []byte, m archive.Message, d *fieldtable.Dialect, more []byte) ([]byte, error) {
	out := &stream{w: w}
	return out.end(append(append(out.message(buf, m, d), more...), '}'))
}

// WriteWhole is WriteMessage of what AppendWhole appends.
func WriteWhole(w io.Writer, buf []byte, m archive.Message, d *fieldtable.Dialect) ([]byte, error) {
	out := &stream{w: w}
	return out.end(out.whole(buf, m, d))
}

// WriteValue is WriteMessage of what AppendValue appends.
func WriteValue(w io.Writer, buf []byte, v fieldtable.Value) ([]byte, error) {
	out := &stream{w: w}
	var s fieldtable.Scanner
	switch v.Kind() {
	case fieldtable.KindTable:
		t, _ := v.Table()
		s, buf = t.Scan(), append(buf, `{"fields":[`...)
	case fieldtable.KindArray:
		a, _ := v.Array()
		s, buf = a.Scan(), append(buf, `{"items":[`...)
	default:
		return out.end(out.scalar(buf, v))
	}
	return out.end(out.elements(buf, &s))
}

const (
	// flushBytes is how much is collected before it is written.
	flushBytes = 16 << 10
	// pieceBytes of a long value are written at a time; a multiple of three, for base64.
	pieceBytes = 12 << 10
)

// stream writes what its methods have appended whenever it has become much. A nil stream leaves it
// to the caller.
type stream struct {
	w   io.Writer
	err error // the first of w
}

// flush writes dst but its last octet, from which those who append after it see where they are.
func (out *stream) flush(dst []byte) []byte {
	if out == nil || len(dst) < flushBytes {
		return dst
	}
	last := len(dst) - 1
	if out.err == nil {
		_, out.err = out.w.Write(dst[:last])
	}
	return append(dst[:0], dst[last])
}

// end writes what is left.
func (out *stream) end(dst []byte) ([]byte, error) {
	if out.err == nil {
		_, out.err = out.w.Write(dst)
	}
	return dst[:0], out.err
}

// pieces calls do for parts of b of pieceBytes at most; for text, none ends within a character.
func (out *stream) pieces(dst, b []byte, text bool, do func(dst, part []byte) []byte) []byte {
	for len(b) > 0 {
		n := len(b)
		if out != nil && n > pieceBytes {
			n = pieceBytes
			for text && n > pieceBytes-utf8.UTFMax && !utf8.RuneStart(b[n]) {
				n--
			}
		}
		dst = out.flush(do(dst, b[:n]))
		b = b[n:]
	}
	return dst
}

// octets is AppendOctets.
func (out *stream) octets(dst, b []byte) []byte {
	if !utf8.Valid(b) {
		return out.hex(dst, b)
	}
	return append(out.pieces(append(dst, '"'), b, true, appendEscaped[[]byte]), '"')
}

func (out *stream) hex(dst, b []byte) []byte {
	return append(out.pieces(append(dst, `{"hex":"`...), b, false, hex.AppendEncode), `"}`...)
}

func (out *stream) base64(dst, b []byte) []byte {
	return append(out.pieces(append(dst, '"'), b, false, base64.StdEncoding.AppendEncode), '"')
}

func (out *stream) failed() bool { return out != nil && out.err != nil }
