package demoserver

import (
	"encoding/binary"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Message is one message as it is delivered.
type Message struct {
	// Exchange and RoutingKey are at most 255 bytes each; what is longer is cut off.
	Exchange, RoutingKey string
	// Redelivered marks the first delivery already. A message that comes back is marked anyway.
	Redelivered bool
	// Header is the content header's payload: class, weight, body size, flags and properties. It is
	// sent as it is, so it may be larger than frame_max, damaged, or at odds with the body. Empty:
	// one without properties.
	Header []byte
	Body   []byte
}

func (m *Message) complete() {
	if len(m.Header) != 0 {
		return
	}
	m.Header = binary.BigEndian.AppendUint32(make([]byte, 0, wire.ContentHeaderFixed), wire.ClassBasic<<16)
	m.Header = binary.BigEndian.AppendUint64(m.Header, uint64(len(m.Body)))
	m.Header = append(m.Header, 0, 0)
}
