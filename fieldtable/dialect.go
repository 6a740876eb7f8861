package fieldtable

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Dialect is one way to read type tags. It is immutable; every function that names one returns the
// same pointer each time.
//
// What the dialects read, one a line: i1 to i8 are signed integers of so many octets, u1 to u8
// unsigned ones, ss is a short string, y the kind that the tag has wherever it is known; "·" is
// unknown. Timestamps count s or ms, and "=1" are booleans of which only the octet 1 is true.
//
//	dialect        t  b  B  s  U  u  I  i  l  L  fd D  S  T  F  A  V  x  cC k  n
//	lenient        y  i1 u1 i2 i2 u2 i4 u4 i8 i8 y  y  y  s  y  y  y  y  y  y  ·
//	rabbitmq       y  i1 u1 i2 ·  u2 i4 u4 i8 i8 y  y  y  s  y  y  y  y  ·  ·  ·
//	spec-0-9-1     y  i1 u1 ss i2 u2 i4 u4 u8 i8 y  y  y  s  y  y  y  ·  ·  ·  ·
//	spec-0-9       ·  ·  ·  ·  ·  ·  i4 ·  ·  ·  ·  y  y  s  y  ·  y  ·  ·  ·  ·
//	spec-0-8       ·  ·  ·  ·  ·  ·  i4 ·  ·  ·  ·  y  y  s  y  ·  ·  ·  ·  ·  ·
//	qpid-java      =1 i1 u1 i2 ·  u2 i4 u4 i8 ·  y  y  y  ms y  y  y  y  y  y  ·
//	qpid-dotnet    y  i1 u1 i2 ·  ·  i4 u4 i8 u8 y  ·  y  ·  y  ·  y  y  y  y  ·
//	py-amqp-legacy y  u1 i1 ss i2 u2 i4 u4 u8 i8 y  y  y  s  y  y  y  y  ·  ·  ·
//	rabbitmq-c     y  i1 u1 i2 ·  u2 i4 u4 i8 u8 y  y  y  s  y  y  y  y  ·  ·  ·
//	php-amqplib    y  i1 u1 ss i2 u2 i4 u4 u8 i8 y  y  y  s  y  y  y  y  ·  ·  ·
//	qpid-java-i8   =1 i1 u1 i2 ·  u2 i4 u8 i8 ·  y  y  y  ms y  y  y  y  y  y  ·
//	qpid-336       y  i1 u1 i2 ·  ·  u4 i4 i8 u8 y  ·  u2 ms y  ·  ·  y  y  y  y
//
// Decimals and timestamps are read in two's complement everywhere. c has a length of 2 octets in
// qpid-336, of 4 elsewhere.
//
// Sources: AMQP 0-8, 0-9 and 0-9-1 section 4.2 and RabbitMQ's AMQP 0-9-1 errata; rabbitmq-server's
// rabbit_binary_parser; Apache Qpid's AMQType (Broker-J, JMS for AMQP 0-x, .NET 0.10); py-amqp's
// serialization.py before release 5.4; rabbitmq-c's amqp_table.c; php-amqplib's
// AMQPAbstractCollection; Apache issue QPID-336.
type Dialect struct {
	name, description string

	kinds    [256]Kind
	prefixes [256]uint8 // length octets of the tag's values
	// limits[1] is for tables and arrays at MaxDepth, in which nothing may nest any more.
	limits [2]widths

	unit      Unit            // of timestamps
	trueIsOne bool            // a boolean octet is true only if it is 1; otherwise if it is not 0
	unwritten bool            // a proposal: no known client writes it
	notes     map[byte]string // why a tag is unknown, where that is worth telling
}

type tags map[byte]Kind

func (t tags) with(more tags) tags {
	t = maps.Clone(t)
	maps.Copy(t, more)
	return t
}

func (t tags) without(list string) tags {
	t = maps.Clone(t)
	for i := range len(list) {
		delete(t, list[i])
	}
	return t
}

// NewDialect returns a dialect of its own, for what Dialects does not have: it knows the given
// tags, counts timestamps in seconds and takes every octet but 0 for true.
func NewDialect(name, description string, known map[byte]Kind) *Dialect {
	return newDialect(name, description, known)
}

func newDialect(name, description string, known tags) *Dialect {
	d := &Dialect{name: name, description: description}
	for i := range d.kinds {
		tag := byte(i)
		kind := known[tag]
		d.kinds[tag] = kind
		d.setWidth(tag, widthCode(kind))
		if kind == KindTable || kind == KindArray {
			d.limits[1][tag] = tooDeep
		}
	}
	return d
}

func (d *Dialect) setWidth(tag byte, code uint8) {
	d.limits[0][tag], d.limits[1][tag] = code, code
	d.prefixes[tag] = 0
	if code&(prefixed|irregular) != 0 && code != noWidth {
		d.prefixes[tag] = code & sizeMask
	}
}

func widthCode(k Kind) uint8 {
	switch k {
	case KindVoid:
		return 0
	case KindBool, KindInt8, KindUint8, KindChar8:
		return 1
	case KindInt16, KindUint16:
		return 2
	case KindInt32, KindUint32, KindFloat32:
		return 4
	case KindDecimal:
		return 5
	case KindInt64, KindUint64, KindFloat64, KindTimestamp:
		return 8
	case KindShortStr:
		return irregular | 1
	case KindLongStr, KindBytes:
		return prefixed | 4
	case KindTable:
		return prefixed | inTable | 4
	case KindArray:
		return prefixed | inArray | 4
	}
	return noWidth
}

// The tags of AMQP 0-8, the oldest common ground.
var tags08 = tags{'I': KindInt32, 'D': KindDecimal, 'S': KindLongStr, 'T': KindTimestamp, 'F': KindTable}

// What RabbitMQ's server parses (rabbit_binary_parser, parse_table).
var tagsRabbitMQ = tags08.with(tags{
	't': KindBool, 'b': KindInt8, 'B': KindUint8, 's': KindInt16, 'u': KindUint16, 'i': KindUint32,
	'l': KindInt64, 'L': KindInt64, 'f': KindFloat32, 'd': KindFloat64, 'x': KindBytes, 'V': KindVoid, 'A': KindArray,
})

// The grammar of AMQP 0-9-1 section 4.2.1, read to the letter.
var tags091 = tagsRabbitMQ.without("x").with(tags{'s': KindShortStr, 'U': KindInt16, 'l': KindUint64})

// What Apache Qpid adds for characters and character strings (AMQType).
var tagsQpidText = tags{'c': KindLongStr, 'C': KindLongStr, 'k': KindChar8}

var (
	lenient = newDialect(
		"lenient",
		"RabbitMQ's tags, and those that it refuses but that mean only one thing elsewhere: U (pika, py-amqp, lapin), c, C and k (Apache Qpid).",
		tagsRabbitMQ.with(tags{'U': KindInt16}).with(tagsQpidText),
	)
	rabbitMQ = newDialect("rabbitmq",
		"What RabbitMQ's server reads (rabbit_binary_parser), but decimals signed, as the 0-9-1 errata say, and NaN and infinities too, at which the server closes the connection.",
		tagsRabbitMQ)
	spec091 = newDialect(
		"spec-0-9-1",
		"The grammar of the AMQP 0-9-1 specification, section 4.2.1, to the letter: s is a short string, l is unsigned, x is unknown; only T and D, unsigned there, are read signed, as software writes them.",
		tags091,
	)
	spec09 = newDialect("spec-0-9",
		"The AMQP 0-9 specification: I, D, S, T, F and V only.",
		tags08.with(tags{'V': KindVoid}))
	spec08 = newDialect("spec-0-8",
		"The AMQP 0-8 specification, section 4.2.5.5: I, D, S, T and F only.",
		tags08)
	qpidJava = qpidJavaDialect()
	qpidNET  = newDialect(
		"qpid-dotnet",
		"Apache Qpid's .NET client 0.10 (AMQTypeMap): L is unsigned; no arrays, and no decimals or timestamps, which it does not implement.",
		tagsRabbitMQ.without("uDAT").with(tags{'L': KindUint64}).with(tagsQpidText),
	)
	pyAMQPLegacy = newDialect(
		"py-amqp-legacy",
		"py-amqp up to 5.3.1, as used by Celery (amqp/serialization.py): b and B swapped, s a short string, l unsigned.",
		tags091.with(tags{'b': KindUint8, 'B': KindInt8, 'x': KindBytes}),
	)
	rabbitMQC = newDialect("rabbitmq-c",
		"The rabbitmq-c client library (amqp_table.c): as RabbitMQ's server, but L is unsigned.",
		tagsRabbitMQ.with(tags{'L': KindUint64}))
	phpAMQPLib = newDialect("php-amqplib",
		"php-amqplib with AMQP_STRICT_FLD_TYPES (AMQPAbstractCollection): as the 0-9-1 grammar, and x.",
		tags091.with(tags{'x': KindBytes}))
	qpidJavaI8 = qpidJavaI8Dialect()
	qpid336    = qpid336Dialect()
)

func qpidJavaDialect() *Dialect {
	d := newDialect(
		"qpid-java",
		"Apache Qpid Broker-J and the Qpid JMS client for AMQP 0-x (AMQType): timestamps in milliseconds, true only as 1, no L.",
		tagsRabbitMQ.without("L").with(tagsQpidText),
	)
	d.unit = Milliseconds
	d.trueIsOne = true
	return d
}

func qpidJavaI8Dialect() *Dialect {
	d := newDialect(
		"qpid-java-i8",
		"As qpid-java, but i has 8 octets: a known fault of Broker-J where it writes an unsigned integer itself (AMQType).",
		tagsRabbitMQ.without("L").with(tagsQpidText).with(tags{'i': KindUint64}),
	)
	d.unit = Milliseconds
	d.trueIsOne = true
	return d
}

func qpid336Dialect() *Dialect {
	d := newDialect(
		"qpid-336",
		"The extension proposed in Apache issue QPID-336: small letters signed, capitals unsigned, so that S and I are integers; no known client writes it.",
		tags{
			't': KindBool,
			'b': KindInt8,
			's': KindInt16,
			'i': KindInt32,
			'l': KindInt64,
			'B': KindUint8,
			'S': KindUint16,
			'I': KindUint32,
			'L': KindUint64,
			'f': KindFloat32,
			'd': KindFloat64,
			'k': KindChar8,
			'c': KindLongStr,
			'C': KindLongStr,
			'n': KindVoid,
			'x': KindBytes,
			'F': KindTable,
			'T': KindTimestamp,
		},
	)
	d.setWidth('c', irregular|2)
	d.unit = Milliseconds // as everything of Apache Qpid's that has timestamps
	d.unwritten = true
	d.notes = map[byte]string{
		'D': "an extended float, whose width the proposal does not give, so that it cannot be passed over",
	}
	return d
}

// Lenient is the default: everything that can be read without contradicting RabbitMQ.
func Lenient() *Dialect { return lenient }

// RabbitMQ reads what RabbitMQ's server reads.
func RabbitMQ() *Dialect { return rabbitMQ }

// Spec091 follows the grammar of the AMQP 0-9-1 specification to the letter.
func Spec091() *Dialect { return spec091 }

// Spec09 follows the AMQP 0-9 specification.
func Spec09() *Dialect { return spec09 }

// Spec08 follows the AMQP 0-8 specification.
func Spec08() *Dialect { return spec08 }

// QpidJava reads as Apache Qpid Broker-J and Qpid's JMS client for AMQP 0-x do.
func QpidJava() *Dialect { return qpidJava }

// QpidDotNet reads as Apache Qpid's .NET client does.
func QpidDotNet() *Dialect { return qpidNET }

// PyAMQPLegacy reads as py-amqp up to version 5.3.1 does.
func PyAMQPLegacy() *Dialect { return pyAMQPLegacy }

// RabbitMQC reads as the rabbitmq-c client library does.
func RabbitMQC() *Dialect { return rabbitMQC }

// PHPAMQPLib reads as php-amqplib in its strict mode does.
func PHPAMQPLib() *Dialect { return phpAMQPLib }

// QpidJavaI8 reads what Broker-J writes where it gives i 8 octets.
func QpidJavaI8() *Dialect { return qpidJavaI8 }

// Qpid336 reads the extension proposed in Apache issue QPID-336.
func Qpid336() *Dialect { return qpid336 }

// Dialects returns every dialect, Lenient first.
func Dialects() []*Dialect {
	return []*Dialect{
		lenient, rabbitMQ, spec091, spec09, spec08, qpidJava, qpidNET, pyAMQPLegacy, rabbitMQC, phpAMQPLib, qpidJavaI8,
		qpid336,
	}
}

// DialectByName returns the dialect of that name. The error lists the names there are.
func DialectByName(name string) (*Dialect, error) {
	all := Dialects()
	names := make([]string, len(all))
	for i, d := range all {
		if d.name == name {
			return d, nil
		}
		names[i] = d.name
	}
	return nil, fmt.Errorf("unknown dialect %q: use one of %s", name, strings.Join(names, ", "))
}

// ExactDialects returns the dialects under which encoded is one whole table without any damage.
func ExactDialects(encoded []byte) []*Dialect {
	var exact []*Dialect
	for _, d := range Dialects() {
		if View(encoded, d).Valid() == nil {
			exact = append(exact, d)
		}
	}
	return exact
}

// Name returns the name that DialectByName understands.
func (d *Dialect) Name() string { return d.name }

// Description returns a sentence on what the dialect is and where it is defined.
func (d *Dialect) Description() string { return d.description }

// Kind returns what the tag means, KindInvalid if the dialect does not know it.
func (d *Dialect) Kind(tag byte) Kind { return d.kinds[tag] }

// TimestampUnit returns the unit in which the dialect counts timestamps.
func (d *Dialect) TimestampUnit() Unit { return d.unit }

// LengthOctets returns how many octets of a value with this tag say how long it is: 0 if its length
// is fixed or the dialect does not know the tag.
func (d *Dialect) LengthOctets(tag byte) int { return int(d.prefixes[tag]) }

// Rivals returns those of the dialects that give the tag another width than d does, so that they
// find other fields after such a value. A dialect is left out if no known client writes it, or if
// another one that is returned reads all that it reads with the same widths.
func (d *Dialect) Rivals(tag byte, among []*Dialect) []*Dialect {
	var rivals []*Dialect
	mine := d.limits[0][tag]
	for _, other := range among {
		theirs := other.limits[0][tag]
		if other.unwritten || theirs == mine || theirs == noWidth || mine == noWidth {
			continue
		}
		covered := func(by *Dialect) bool { return by.covers(other) }
		if slices.ContainsFunc(rivals, covered) {
			continue
		}
		rivals = slices.DeleteFunc(rivals, other.covers)
		rivals = append(rivals, other)
	}
	return rivals
}

// covers reports whether d gives every tag that other knows the width that it has there.
func (d *Dialect) covers(other *Dialect) bool {
	for tag, width := range other.limits[0] {
		if width != noWidth && d.limits[0][tag] != width {
			return false
		}
	}
	return true
}

func (d *Dialect) widthsAt(depth uint8) *widths {
	if depth >= MaxDepth {
		return &d.limits[1]
	}
	return &d.limits[0]
}
