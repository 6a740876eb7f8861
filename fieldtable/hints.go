package fieldtable

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable/plural"
)

// Hint points at a value whose octets have another reading that is in real use. It is a hint, not a
// finding: nothing in the octets tells which reading was meant.
type Hint struct {
	Offset, End int    // of the field or element, as in Field
	Path        string // as in SyntaxError
	Text        string // one sentence: the other reading, and whose it is
}

const maxHints = 100

// Hints returns the ambiguous values in t, nested ones too, in wire order, at most 100: s, which is
// an integer or a string; b, B, l and L whose sign bit is set; D whose sign bit is set; T that
// looks like another unit; f that is plausible in the opposite byte order; NaN and infinities; t
// that is neither 0 nor 1.
func Hints(t Table) []Hint {
	s := t.Scan()
	return appendHints(nil, &s)
}

func appendHints(hints []Hint, s *Scanner) []Hint {
	for len(hints) < maxHints && s.Next() {
		if inner, ok := s.Into(); ok {
			hints = appendHints(hints, &inner)
			continue
		}
		if text := otherReading(s.Value()); text != "" {
			path := string(shorten(s.AppendPath(nil)))
			hints = append(hints, Hint{Offset: int(s.start), End: int(s.stop), Path: path, Text: text})
		}
	}
	return hints
}

func otherReading(v Value) string {
	raw := v.Raw()
	negative := len(raw) > 0 && raw[0] >= 0x80
	switch v.Tag() {
	case 's':
		return otherShort(v)
	case 'b':
		switch n := raw[0]; {
		case negative && v.Kind() == KindInt8:
			return fmt.Sprintf("%d for py-amqp up to 5.3.1 and for Bunny, which read b unsigned", n)
		case negative && v.Kind() == KindUint8:
			return fmt.Sprintf("%d for RabbitMQ and most clients, which read b signed", int8(n))
		}
	case 'B':
		switch n := raw[0]; {
		case negative && v.Kind() == KindUint8:
			return fmt.Sprintf("%d for py-amqp up to 5.3.1, which reads B signed", int8(n))
		case negative && v.Kind() == KindInt8:
			return fmt.Sprintf("%d for RabbitMQ and most clients, which read B unsigned", n)
		}
	case 'l':
		switch n := binary.BigEndian.Uint64(raw); {
		case negative && v.Kind() == KindInt64:
			return fmt.Sprintf("%d for the 0-9-1 grammar, py-amqp up to 5.3.1 and AMQP-CPP, which read l unsigned", n)
		case negative && v.Kind() == KindUint64:
			return fmt.Sprintf("%d for RabbitMQ and most clients, which read l signed", int64(n))
		}
	case 'L':
		switch n := binary.BigEndian.Uint64(raw); {
		case negative && v.Kind() == KindInt64:
			return fmt.Sprintf("%d for rabbitmq-c and Apache Qpid for .NET, which read L unsigned", n)
		case negative && v.Kind() == KindUint64:
			return fmt.Sprintf("%d for RabbitMQ and most clients that know L, which read it signed", int64(n))
		}
	case 'f', 'd':
		return otherFloat(v)
	case 'D':
		if v.Kind() == KindDecimal && raw[1] >= 0x80 {
			return otherDecimal(v)
		}
	case 'T':
		if ts, ok := v.Timestamp(); ok {
			return ts.Hint()
		}
	case 't':
		if v.Kind() == KindBool && raw[0] > 1 {
			if v.d.trueIsOne {
				return "true for RabbitMQ and most clients, for which every octet but 0 is true"
			}
			return "false for Apache Qpid, LavinMQ and Bunny, for which only the octet 1 is true"
		}
	}
	return ""
}

// otherFloat knows of NaN and infinities, and of floats that were written in the byte order of an
// Intel machine: read in the order of the network such a one is next to nothing or beyond all
// measure.
func otherFloat(v Value) string {
	f, ok := v.Float64()
	if ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return "refused by RabbitMQ's server, which closes the connection of who publishes NaN or an infinity"
	}
	if v.Kind() != KindFloat32 || plausible(f) || f == 0 {
		return ""
	}
	if other := math.Float32frombits(binary.LittleEndian.Uint32(v.Raw())); plausible(float64(other)) {
		return strconv.FormatFloat(float64(other), 'g', -1, 32) +
			" in the opposite byte order, in which one release of amq-protocol for Ruby writes f"
	}
	return ""
}

// plausible reports whether f is of a size that people count in.
func plausible(f float64) bool {
	size := math.Abs(f)
	return size >= 1e-12 && size <= 1e15
}

func otherShort(v Value) string {
	switch v.Kind() {
	case KindInt16:
		raw := v.Raw()
		return fmt.Sprintf(
			"the start of a string of %s for the 0-9-1 grammar, py-amqp up to 5.3.1 and AMQP-CPP",
			plural.Of(raw[0], "octet"),
		)
	case KindShortStr:
		if octets := v.Encoded()[1:]; len(octets) >= 2 {
			return fmt.Sprintf(
				"the 16-bit integer %d for RabbitMQ and most clients",
				int16(binary.BigEndian.Uint16(octets)),
			)
		}
		return "the first half of a 16-bit integer for RabbitMQ and most clients"
	}
	return ""
}

func otherDecimal(v Value) string {
	d, _ := v.Decimal()
	magnitude := Decimal{d.Scale, int32(uint32(d.Unscaled) &^ (1 << 31))}
	return fmt.Sprintf(
		"%s for RabbitMQ's server, amqplib for Node, lapin, Bunny and rabbitmq-c, which read it unsigned; -%s for RabbitMQ's .NET client, which reads sign and magnitude",
		unsignedDecimal(d),
		magnitude,
	)
}

// unsignedDecimal writes the decimal with its unscaled value taken as unsigned.
func unsignedDecimal(d Decimal) string {
	return string(appendDecimal(nil, d.Scale, int64(uint32(d.Unscaled))))
}

// A number of seconds above this, in the year 5138, is taken for a finer unit; so is one of
// milliseconds above a thousand times as much, which as seconds begins in 1973.
const implausibleSeconds = 100_000_000_000

// Guess returns what a timestamp may count instead of its dialect's unit, such as "milliseconds",
// and the time that it then is. ok is false if the count is plausible as it is.
func (t Timestamp) Guess() (unit string, at time.Time, ok bool) {
	switch n := t.Value; {
	case n <= 0:
		return "", time.Time{}, false
	case n < implausibleSeconds && t.Unit == Milliseconds:
		return "seconds", time.Unix(n, 0).UTC(), true
	case n <= implausibleSeconds, n <= 1000*implausibleSeconds && t.Unit == Milliseconds:
		return "", time.Time{}, false
	case n <= 1000*implausibleSeconds:
		return "milliseconds", time.UnixMilli(n).UTC(), true
	case n <= 1_000_000*implausibleSeconds:
		return "microseconds", time.UnixMicro(n).UTC(), true
	}
	return "nanoseconds", time.Unix(0, t.Value).UTC(), true
}

// NeverSet reports whether it is the least value of .NET's DateTime, the first moment of year 1, in
// seconds or in milliseconds: programs send it where no time was set.
func (t Timestamp) NeverSet() bool { return t.Value == firstSecond || t.Value == firstSecond*1000 }

// Hint returns one sentence on another reading that is in real use, as Hints does for a value with
// tag T; it is empty if there is none.
func (t Timestamp) Hint() string {
	unit, at, ok := t.Guess()
	switch {
	case t.NeverSet():
		return "0001-01-01T00:00:00Z, the least value of .NET's DateTime, where no time was set"
	case ok && unit == "seconds":
		return "as seconds, which the specification counts, " + at.Format(time.RFC3339)
	case ok:
		return "as " + unit + ", which some clients write, " + at.Format(time.RFC3339Nano)
	case t.Unit == Seconds && t.Value < 0:
		return strconv.FormatUint(uint64(t.Value), 10) + " for clients that read it unsigned"
	}
	return ""
}
