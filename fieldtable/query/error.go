package query

import "fmt"

// Error is a mistake in the text of a filter.
type Error struct {
	// Offset and End enclose the part at fault, in bytes from the start of the
	// source. Where something is missing, both are where it was expected.
	Offset, End int
	// Msg is one plain sentence: what is wrong or what was expected.
	Msg string
}

func (e *Error) Error() string {
	return fmt.Sprintf("filter, byte %d: %s", e.Offset, e.Msg)
}

func errorAt(t token, format string, args ...any) *Error {
	return &Error{Offset: t.off, End: t.end, Msg: fmt.Sprintf(format, args...)}
}
