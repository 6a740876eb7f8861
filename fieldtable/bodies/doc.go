// Package bodies reads what message bodies, and headers made from them, hold in the encodings that
// other messaging standards brought along: AMQP 1.0 sections, as RabbitMQ hands them on, and the
// map and stream messages of Apache Qpid's JMS client for AMQP 0-x.
//
// Like fieldtable it looks at octets where they lie: it allocates nothing that a length or a count
// asks for, goes no deeper than [MaxDepth], and reports damage with its offset while what was
// readable before it stays readable. Text is as it was sent, for the caller to escape.
//
// Sources: OASIS AMQP 1.0, part 1 (types) and part 3 section 3.2 (the sections of a message);
// Apache Qpid's TypedBytesContentWriter and JMSMapMessage (qpid-jms-amqp-0-x 6.x).
package bodies

import (
	"errors"
	"fmt"
)

// MaxDepth is the deepest level of nesting that is read: of lists, maps, arrays and descriptors
// together.
const MaxDepth = 32

// What can be wrong with octets: the Err of a SyntaxError.
var (
	ErrTruncated = errors.New("the value is incomplete")
	ErrOverrun   = errors.New("the value's length is greater than what is left")
	ErrCode      = errors.New("unknown type code")
	ErrCount     = errors.New("there are fewer items than the count says")
	ErrTrailing  = errors.New("octets follow the last item")
	ErrOdd       = errors.New("a map's last key has no value")
	ErrDepth     = fmt.Errorf("nested more than %d levels deep", MaxDepth)
	ErrString    = errors.New("the text has no end")
)

// SyntaxError is damage with an address.
type SyntaxError struct {
	Offset int // in octets from the first one read
	Err    error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v, at byte %d (%#x)", e.Err, e.Offset, e.Offset)
}

// Unwrap returns e.Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

func damage(offset int, err error) *SyntaxError { return &SyntaxError{Offset: offset, Err: err} }
