package broker

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// offset is where a stream is read from: one of the fields.
type offset struct {
	word   string // first, last or next
	number int64  // when isNumber
	age    time.Duration
	at     time.Time

	isNumber bool
}

// parseOffset reads first, last, next, an offset, an RFC 3339 time, or an age: a Go duration or a
// number of days such as 2d. Empty means next.
func parseOffset(s string) (offset, error) {
	switch s = strings.TrimSpace(s); s {
	case "":
		return offset{word: "next"}, nil
	case "first", "last", "next":
		return offset{word: s}, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n < 0 {
			return offset{}, fmt.Errorf("the stream offset %d is negative", n)
		}
		return offset{number: n, isNumber: true}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return offset{at: t}, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 15); err == nil {
			return offset{age: time.Duration(n) * 24 * time.Hour}, nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return offset{age: d}, nil
	}
	return offset{}, fmt.Errorf(
		"the stream offset %q is none of first, last, next, a number, an RFC 3339 time, and an age such as 15m or 2d",
		s,
	)
}

// argument is the value of the consumer argument x-stream-offset. Times are whole seconds on the
// wire.
func (o offset) argument(now time.Time) any {
	switch {
	case o.word != "":
		return o.word
	case o.isNumber:
		return o.number
	case o.age > 0:
		return amqpTime(now.Add(-o.age))
	}
	return amqpTime(o.at)
}

func amqpTime(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
