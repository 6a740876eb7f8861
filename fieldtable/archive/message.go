package archive

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// A record is one run of octets, all numbers little-endian:
//
//	received       int64   Unix nanoseconds
//	delivery tag   uint64
//	body size      uint64  as declared
//	header kept    uint32  octets kept of the content header payload
//	flags          uint8
//	length of consumer tag, exchange, routing key: 3 × uint8
//	places         only with recordPlaced, see appendPlaces
//	header size    uint32  only with recordHeaderCut
//	size of spans  uint32  only with recordRedacted
//	spans          what was removed from the content header payload, see appendSpans
//	consumer tag, exchange, routing key, content header payload
//	body           to the end of the record
const (
	recReceived    = 0
	recDeliveryTag = 8
	recBodySize    = 16
	recHeaderKept  = 24
	recFlags       = 28
	recNames       = 29
	recFixed       = 32

	recordRedelivered = 1
	recordHeaderCut   = 2
	recordRedacted    = 4
	recordPlaced      = 8
	recordMethod      = 3 << recordMethodAt // the wire.Method, in two bits
	recordMethodAt    = 4
)

// Message is a view of one message kept. It is a value, valid for as long as it is held, also after
// eviction.
type Message struct {
	rec   []byte
	seq   uint64
	marks packedMarks
	shape uint16
	// of the archive; nil for the zero Message
	origin *Origin
}

// Bytes is the memory that the message takes.
func (m Message) Bytes() int { return len(m.rec) }

// Clone returns the message in memory of its own. One of the archive keeps a whole segment of it,
// also when that has been evicted.
func (m Message) Clone() Message {
	m.rec = bytes.Clone(m.rec)
	return m
}

// Marks say what a message's header table is like, worked out when it was appended, under the
// archive's dialect.
type Marks struct {
	HeaderCount int  // fields at the top level, up to the first damage there
	Damaged     bool // anywhere in the table, nested ones included, or in the rest of the content header
	Duplicates  bool // a name occurs twice at the top level
}

// IsZero reports whether m is the zero Message rather than one from an archive.
func (m Message) IsZero() bool { return m.rec == nil }

// Seq is the message's number: 1 for the first ever.
func (m Message) Seq() uint64 { return m.seq }

// Received is when the archive got the message, by its reader's clock.
func (m Message) Received() time.Time { return time.Unix(0, m.ReceivedUnixNano()) }

// ReceivedUnixNano is Received in nanoseconds since 1970.
func (m Message) ReceivedUnixNano() int64 { return int64(m.uint64(recReceived)) }

// DeliveryTag is the broker's, and means something only on the channel it came from.
func (m Message) DeliveryTag() uint64 { return m.uint64(recDeliveryTag) }

// Redelivered is the flag of basic.deliver.
func (m Message) Redelivered() bool {
	return m.rec != nil && m.rec[recFlags]&recordRedelivered != 0
}

// Method is the one of class basic that it came with.
func (m Message) Method() wire.Method {
	if m.rec == nil {
		return wire.Deliver
	}
	return wire.Method(m.rec[recFlags] & recordMethod >> recordMethodAt)
}

// ConsumerTag is the consumer's that it was delivered to.
func (m Message) ConsumerTag() []byte { return m.part(partConsumerTag) }

// Exchange is the one it was published to.
func (m Message) Exchange() []byte { return m.part(partExchange) }

// RoutingKey is the one it was published with.
func (m Message) RoutingKey() []byte { return m.part(partRoutingKey) }

// Header is the content header as delivered.
func (m Message) Header() wire.ContentHeader { return wire.ViewContentHeader(m.part(partHeader)) }

// HeaderSize is how many octets the content header payload had; more than are kept only where it
// was larger than the whole archive may be.
func (m Message) HeaderSize() int {
	if m.rec != nil && m.rec[recFlags]&recordHeaderCut != 0 {
		return int(binary.LittleEndian.Uint32(m.rec[recFixed+m.placesBytes():]))
	}
	return len(m.part(partHeader))
}

// Redacted reports whether Config.Redact removed anything from the message.
func (m Message) Redacted() bool { return m.rec != nil && m.rec[recFlags]&recordRedacted != 0 }

// Removed returns the octets of the content header payload that Config.Redact removed, in order;
// nil where there are none. Of a nested table it covers everything in it, though types and lengths
// there are as they came.
func (m Message) Removed() []Span {
	if !m.Redacted() {
		return nil
	}
	start, size := m.spans()
	return slices.Collect(readSpans(m.rec[start : start+size]))
}

// RemovedWithin reports whether any of the octets from … to-1 of the content header payload are
// among those Removed.
func (m Message) RemovedWithin(from, to int) bool {
	if !m.Redacted() {
		return false
	}
	start, size := m.spans()
	for s := range readSpans(m.rec[start : start+size]) {
		if s.From < to && from < s.To {
			return true
		}
	}
	return false
}

// ValueRemoved reports whether some of the payload of v, a value of the message's header table, was
// removed.
func (m Message) ValueRemoved(v *fieldtable.Value) bool {
	if !m.Redacted() {
		return false
	}
	table := m.Header().HeaderTableOffset()
	return m.RemovedWithin(table+v.End()-len(v.Raw()), table+v.End())
}

// HeaderTable is the headers property: a field table with its length octets. See
// wire.ContentHeader.HeaderTable.
func (m Message) HeaderTable() ([]byte, bool) {
	if m.placed() {
		return m.placedTable(), true
	}
	return m.Header().HeaderTable()
}

// Body is what was kept of the body: all of it, or a prefix when it is shorter than BodySize.
func (m Message) Body() []byte { return m.part(partBody) }

// BodySize is the size of the body in octets, as delivered.
func (m Message) BodySize() uint64 { return m.uint64(recBodySize) }

// Print is the CRC-32C of the content header and the body, as far as they are kept: it tells, all
// but for certain, whether a message of another run is this one.
func (m Message) Print() uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(m.Header().Payload(), table), table, m.Body())
}

// ShapeID is the message's shape in the snapshot it came from; ok is false when it has none because
// there were too many shapes.
func (m Message) ShapeID() (id uint16, ok bool) { return m.shape, m.shape != Unshaped }

// Marks are those of the message's header table.
func (m Message) Marks() Marks { return m.marks.unpack() }

func (m Message) uint64(at int) uint64 {
	if m.rec == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(m.rec[at:])
}

type recordPart uint8

const (
	partConsumerTag recordPart = iota
	partExchange
	partRoutingKey
	partHeader
	partBody
)

// spans returns where the spans begin, also if there are none, and how many octets they take.
func (m Message) spans() (start, size int) {
	start = recFixed + m.placesBytes()
	if m.rec[recFlags]&recordHeaderCut != 0 {
		start += 4
	}
	if m.rec[recFlags]&recordRedacted != 0 {
		size = int(binary.LittleEndian.Uint32(m.rec[start:]))
		start += 4
	}
	return start, size
}

// part slices one of the variable parts out of the record.
func (m Message) part(p recordPart) []byte {
	if m.rec == nil {
		return nil
	}
	start, size := m.spans()
	start += size
	for i := range min(p, partHeader) {
		start += int(m.rec[recNames+int(i)])
	}
	end := len(m.rec)
	switch p {
	case partHeader:
		end = start + int(binary.LittleEndian.Uint32(m.rec[recHeaderKept:]))
	case partBody:
		start += int(binary.LittleEndian.Uint32(m.rec[recHeaderKept:]))
	default:
		end = start + int(m.rec[recNames+int(p)])
	}
	return m.rec[start:end:end]
}
