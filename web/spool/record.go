package spool

import (
	"encoding/binary"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Record is one message as it is kept, all numbers little-endian:
//
//	format         uint8   1
//	flags          uint8   1: redelivered
//	length of consumer tag, exchange, routing key: 3 × uint8, then 3 unused octets
//	received       int64   Unix nanoseconds
//	delivery tag   uint64
//	print          uint64  what Seal was given; 0: none
//	header         uint32  length of the content header payload
//	removed        uint32  number of spans
//	consumer tag, exchange, routing key, content header payload, body
//	spans          from, to: 2 × uint32 each; octets of the payload that redaction has removed
type Record []byte

const (
	recordFormat = 1
	redelivered  = 1

	atFormat      = 0
	atFlags       = 1
	atNames       = 2
	atReceived    = 8
	atDeliveryTag = 16
	atPrint       = 24
	atHeader      = 32
	atRemoved     = 36
	fixedBytes    = 40
	spanBytes     = 8

	// bodyAhead bounds the memory taken for a body before it has arrived.
	bodyAhead = 64 << 10
)

// NewRecord starts a record. Its body is appended as it arrives, then it is sealed.
func NewRecord(d *wire.Delivery, received time.Time) Record {
	names := [3][]byte{d.ConsumerTag, d.Exchange, d.RoutingKey}
	size := fixedBytes + len(d.Header) + int(min(d.BodySize, bodyAhead))
	for i, name := range names {
		names[i] = name[:min(len(name), 255)]
		size += len(names[i])
	}
	r := make(Record, fixedBytes, size)
	r[atFormat] = recordFormat
	if d.Redelivered {
		r[atFlags] = redelivered
	}
	le := binary.LittleEndian
	le.PutUint64(r[atReceived:], uint64(received.UnixNano()))
	le.PutUint64(r[atDeliveryTag:], d.DeliveryTag)
	le.PutUint32(r[atHeader:], uint32(len(d.Header)))
	for i, name := range names {
		r[atNames+i] = byte(len(name))
		r = append(r, name...)
	}
	return append(r, d.Header...)
}

// Seal removes what is to be redacted and completes the record. print identifies the message for
// [Spool.Recent]; where something was removed it is not kept, since with it a removed value could
// be guessed.
func (r Record) Seal(redactor *archive.Redactor, print uint64) Record {
	spans := redactor.Redact(r.header())
	le := binary.LittleEndian
	le.PutUint32(r[atRemoved:], uint32(len(spans)))
	if len(spans) == 0 {
		le.PutUint64(r[atPrint:], print)
	}
	for _, s := range spans {
		r = le.AppendUint32(r, uint32(s.From))
		r = le.AppendUint32(r, uint32(s.To))
	}
	return r
}

// sound reports whether the lengths in r fit it.
func (r Record) sound() bool {
	if len(r) < fixedBytes || r[atFormat] != recordFormat {
		return false
	}
	fields := uint64(r.headerAt()) + uint64(r.uint32(atHeader)) + uint64(r.uint32(atRemoved))*spanBytes
	return fields <= uint64(len(r))
}

func (r Record) uint32(at int) uint32 { return binary.LittleEndian.Uint32(r[at:]) }

func (r Record) headerAt() int {
	return fixedBytes + int(r[atNames]) + int(r[atNames+1]) + int(r[atNames+2])
}

func (r Record) header() []byte {
	at := r.headerAt()
	return r[at : at+int(r.uint32(atHeader))]
}

// Body is the message's body.
func (r Record) Body() []byte {
	return r[r.headerAt()+int(r.uint32(atHeader)) : len(r)-int(r.uint32(atRemoved))*spanBytes]
}

// Delivery is how the message arrived. Its slices are the record's.
func (r Record) Delivery() wire.Delivery {
	exchange := fixedBytes + int(r[atNames])
	key := exchange + int(r[atNames+1])
	header := r.header()
	return wire.Delivery{
		DeliveryTag: binary.LittleEndian.Uint64(r[atDeliveryTag:]),
		Redelivered: r[atFlags]&redelivered != 0,
		ConsumerTag: r[fixedBytes:exchange],
		Exchange:    r[exchange:key],
		RoutingKey:  r[key:r.headerAt()],
		Header:      header,
		BodySize:    wire.ViewContentHeader(header).BodySize(),
	}
}

// Received is when the message arrived.
func (r Record) Received() time.Time {
	return time.Unix(0, int64(binary.LittleEndian.Uint64(r[atReceived:])))
}

func (r Record) print() uint64 { return binary.LittleEndian.Uint64(r[atPrint:]) }

func (r Record) removed() []archive.Span {
	n := int(r.uint32(atRemoved))
	if n == 0 {
		return nil
	}
	spans := make([]archive.Span, n)
	for i, at := 0, len(r)-n*spanBytes; i < n; i, at = i+1, at+spanBytes {
		spans[i] = archive.Span{From: int(r.uint32(at)), To: int(r.uint32(at + 4))}
	}
	return spans
}

// Store puts the message into an archive.
func (r Record) Store(w *archive.Writer) {
	d := r.Delivery()
	w.BeginRedacted(&d, r.Received(), r.removed())
	w.Body(r.Body())
	w.Commit()
}
