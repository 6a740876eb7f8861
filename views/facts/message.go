// Package facts is what a page is drawn from: one message as delivered, what was removed from it,
// and where its table is damaged.
package facts

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
)

// Message is what an inspector is built from: the facts and bytes of one message, as delivered.
type Message struct {
	Source      string // the name of where it comes from; "": the only one
	Seq         uint64
	Received    time.Time
	DeliveryTag uint64
	Redelivered bool
	Exchange    []byte
	RoutingKey  []byte
	ConsumerTag []byte
	// Headers is the headers property: an encoded field table with its length octets. HasHeaders is
	// false when the property is not set.
	Headers       []byte
	HasHeaders    bool
	HeadersOffset int    // where Headers begins in ContentHeader, bytes
	ContentHeader []byte // the whole payload
	// Removed are the bytes of ContentHeader that redaction took out before the message was stored,
	// in order.
	Removed       []archive.Span
	Properties    []wire.Property
	PropertiesErr string // why the properties end early; "" = they do not
	Body          []byte // what is kept of it
	BodySize      uint64 // bytes, as declared
	// Passage is how the message passed through a relay; nil: it did not, or that is not known.
	Passage *source.Passage
}

// Key names the message.
func (m *Message) Key() address.Key { return address.Key{Source: m.Source, Seq: m.Seq} }
