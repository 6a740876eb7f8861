package fieldtable

import "time"

// Unit is the unit in which a dialect counts timestamps.
type Unit uint8

const (
	Seconds      Unit = iota // since 1970-01-01T00:00:00Z: AMQP 0-9-1 section 4.2.5.4
	Milliseconds             // since the same moment: Apache Qpid for Java
)

// String returns "s" or "ms".
func (u Unit) String() string {
	if u == Milliseconds {
		return "ms"
	}
	return "s"
}

// Timestamp counts units since 1970-01-01T00:00:00Z. Value is the wire's 64 bits in two's
// complement.
type Timestamp struct {
	Value int64
	Unit  Unit
}

// The first and last second that RFC 3339 can write: years 1 to 9999.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// HasRFC3339 reports whether RFC 3339 can write the time in UTC: its year is 1 to 9999.
func HasRFC3339(t time.Time) bool { return t.Unix() >= firstSecond && t.Unix() <= lastSecond }

// Time returns the time in UTC; ok is false outside the years 1 to 9999.
func (t Timestamp) Time() (tm time.Time, ok bool) {
	switch {
	case t.Unit == Milliseconds && t.Value >= firstSecond*1000 && t.Value <= lastSecond*1000+999:
		return time.UnixMilli(t.Value).UTC(), true
	case t.Unit == Seconds && t.Value >= firstSecond && t.Value <= lastSecond:
		return time.Unix(t.Value, 0).UTC(), true
	}
	return time.Time{}, false
}

// AppendRFC3339 appends the time in UTC, with three decimals if the unit is milliseconds;
// outside the years 1 to 9999 it appends nothing and ok is false.
func (t Timestamp) AppendRFC3339(dst []byte) (_ []byte, ok bool) {
	tm, ok := t.Time()
	if !ok {
		return dst, false
	}
	layout := "2006-01-02T15:04:05Z"
	if t.Unit == Milliseconds {
		layout = "2006-01-02T15:04:05.000Z"
	}
	return tm.AppendFormat(dst, layout), true
}
