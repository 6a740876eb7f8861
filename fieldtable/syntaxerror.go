package fieldtable

import (
	"errors"
	"fmt"
	"strconv"
)

// MaxDepth is the deepest level of nesting that is read; the outermost table is level 0, tables and
// arrays both count. RabbitMQ's Java client stops at the same level.
const MaxDepth = 32

// What a lookup answers when the table was readable as far as it had to be read and has no such
// key.
var ErrAbsent = errors.New("no such key")

// What can be wrong with a table: the Err of a SyntaxError.
var (
	ErrTableLengthTruncated = errors.New("the table's length octets are incomplete")
	ErrTableLengthOverrun   = errors.New("the table's length is greater than what follows")
	ErrTrailingBytes        = errors.New("octets follow the table")
	ErrNameTruncated        = errors.New("the name is longer than what is left of the table")
	ErrMissingTag           = errors.New("the table ends before the type tag")
	ErrUnknownTag           = errors.New("unknown type tag")
	ErrValueTruncated       = errors.New("the value is incomplete")
	ErrLengthTruncated      = errors.New("the value's length octets are incomplete")
	ErrLengthOverrun        = errors.New("the value's length is greater than what is left")
	ErrDepthExceeded        = errors.New("nested more than " + strconv.Itoa(MaxDepth) + " levels deep")
)

type reason uint8

const (
	sound reason = iota
	tableLengthTruncated
	tableLengthOverrun
	trailingBytes
	nameTruncated
	missingTag
	unknownTag
	valueTruncated
	lengthTruncated
	lengthOverrun
	depthExceeded
)

func (r reason) err() error {
	switch r {
	case tableLengthTruncated:
		return ErrTableLengthTruncated
	case tableLengthOverrun:
		return ErrTableLengthOverrun
	case trailingBytes:
		return ErrTrailingBytes
	case nameTruncated:
		return ErrNameTruncated
	case missingTag:
		return ErrMissingTag
	case unknownTag:
		return ErrUnknownTag
	case valueTruncated:
		return ErrValueTruncated
	case lengthTruncated:
		return ErrLengthTruncated
	case lengthOverrun:
		return ErrLengthOverrun
	case depthExceeded:
		return ErrDepthExceeded
	}
	return nil
}

// SyntaxError is damage with an address. Everything before it stays readable.
type SyntaxError struct {
	// Offset is where the element that could not be read begins, in octets from the outermost
	// table's first length octet: the table's length (0), the name's length octet, the place of the
	// tag, or the first octet after the tag.
	Offset int
	// Path leads to the damaged value, such as x-death[0].reason; it names the table around it
	// where the name itself could not be read, and is empty for the outermost table.
	Path string
	// Tag is the value's type tag, if HasTag.
	Tag    byte
	HasTag bool
	// Err is one of the errors above, for errors.Is.
	Err error
	// detail explains an unknown tag where there is something to explain.
	detail string
}

// Error returns one line: what is wrong, with the tag, the offset in decimal and hexadecimal, and
// the path.
func (e *SyntaxError) Error() string {
	b := fmt.Appendf(e.appendCause(nil), ", at byte %d (%#x)", e.Offset, e.Offset)
	if e.Path != "" {
		b = append(b, ", in "...)
		b = append(b, e.Path...)
	}
	return string(b)
}

// appendCause appends what is wrong, but not where.
func (e *SyntaxError) appendCause(b []byte) []byte {
	b = append(b, e.Err.Error()...)
	if e.HasTag {
		if e.Err != ErrUnknownTag {
			b = append(b, ", tag"...)
		}
		b = append(b, ' ')
		b = AppendTag(b, e.Tag)
	}
	if e.detail != "" {
		b = append(b, ": "...)
		b = append(b, e.detail...)
	}
	return b
}

// Unwrap returns e.Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Reason returns the word that typed JSON uses: "unknown_tag", "length_overrun" and so on.
func (e *SyntaxError) Reason() string {
	switch e.Err {
	case ErrTableLengthTruncated:
		return "table_length_truncated"
	case ErrTableLengthOverrun:
		return "table_length_overrun"
	case ErrTrailingBytes:
		return "trailing_bytes"
	case ErrNameTruncated:
		return "name_truncated"
	case ErrMissingTag:
		return "missing_tag"
	case ErrUnknownTag:
		return "unknown_tag"
	case ErrValueTruncated:
		return "value_truncated"
	case ErrLengthTruncated:
		return "length_truncated"
	case ErrLengthOverrun:
		return "length_overrun"
	case ErrDepthExceeded:
		return "depth_exceeded"
	}
	return "unknown"
}

// AppendTag appends a type tag as people write it: 'S' for a printable ASCII character, 0x00 for
// anything else.
func AppendTag(dst []byte, tag byte) []byte {
	if tag > ' ' && tag < 0x7f {
		return append(dst, '\'', tag, '\'')
	}
	return fmt.Appendf(dst, "0x%02x", tag)
}
