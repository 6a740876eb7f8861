package typedjson

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Message is what AppendWhole or AppendMessage wrote, as far as it is needed to make the message
// again; encoding/json reads it. What follows from the octets of the content header, such as the
// headers, is not looked at.
type Message struct {
	Received    time.Time `json:"received"`
	Method      string    `json:"method"` // empty: deliver
	DeliveryTag uint64    `json:"delivery_tag"`
	Redelivered bool      `json:"redelivered"`
	ConsumerTag Octets    `json:"consumer_tag"`
	Exchange    Octets    `json:"exchange"`
	RoutingKey  Octets    `json:"routing_key"`
	// BodyBytes is the length of the body as delivered, of which Body may be only the beginning.
	BodyBytes uint64 `json:"body_bytes"`
	// the payload of the frame; nil where it is not there
	ContentHeader []byte `json:"content_header_base64"`
	Body          []byte `json:"body_base64"`
}

// Delivery is the message as it was delivered, but for its body.
func (m *Message) Delivery() wire.Delivery {
	return wire.Delivery{
		Method:      wire.MethodByName(m.Method),
		DeliveryTag: m.DeliveryTag,
		Redelivered: m.Redelivered,
		ConsumerTag: m.ConsumerTag,
		Exchange:    m.Exchange,
		RoutingKey:  m.RoutingKey,
		Header:      m.ContentHeader,
		BodySize:    max(m.BodyBytes, uint64(len(m.Body))),
	}
}

// Octets are what AppendOctets wrote: a string, or {"hex":"…"}.
type Octets []byte

// UnmarshalJSON reads either form.
func (o *Octets) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		var s string
		err := json.Unmarshal(b, &s)
		*o = Octets(s)
		return err
	}
	var v struct{ Hex string }
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	var err error
	*o, err = hex.DecodeString(v.Hex)
	return err
}
