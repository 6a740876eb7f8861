package traffic

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/demoserver"
)

// message is what a sender publishes. Properties that are zero are not set.
type message struct {
	exchange, routingKey         string
	contentType, contentEncoding string
	// the field table with its length; nil: no headers property
	headers                        []byte
	deliveryMode, priority         uint8
	hasPriority                    bool
	correlationID, replyTo         string
	expiration, messageID          string
	timestamp                      int64
	kind, userID, appID, clusterID string
	body                           []byte
	// raw replaces the content header.
	raw []byte
}

func (m message) encode(redelivered bool) demoserver.Message {
	e := demoserver.Message{
		Exchange:    m.exchange,
		RoutingKey:  m.routingKey,
		Redelivered: redelivered,
		Header:      m.raw,
		Body:        m.body,
	}
	if e.Header != nil {
		return e
	}
	var props []wire.Property
	add := func(name string, raw []byte) { props = append(props, wire.Property{Name: name, Raw: raw}) }
	text := func(name, v string) {
		if v != "" {
			add(name, []byte(v))
		}
	}
	text("content_type", m.contentType)
	text("content_encoding", m.contentEncoding)
	if m.headers != nil {
		add("headers", m.headers)
	}
	if m.deliveryMode != 0 {
		add("delivery_mode", []byte{m.deliveryMode})
	}
	if m.hasPriority {
		add("priority", []byte{m.priority})
	}
	text("correlation_id", m.correlationID)
	text("reply_to", m.replyTo)
	text("expiration", m.expiration)
	text("message_id", m.messageID)
	if m.timestamp != 0 {
		add("timestamp", binary.BigEndian.AppendUint64(nil, uint64(m.timestamp)))
	}
	text("type", m.kind)
	text("user_id", m.userID)
	text("app_id", m.appID)
	text("cluster_id", m.clusterID)
	e.Header = wire.AppendContentHeaderPayload(nil, uint64(len(m.body)), props...)
	return e
}

// draw is a random source with the senders' clock.
type draw struct {
	*rand.Rand
	now time.Time
}

func (d *draw) of(options ...string) string { return options[d.IntN(len(options))] }

func (d *draw) tenant() string {
	return d.of("acme", "acme", "acme", "globex", "globex", "initech", "umbrella", "hooli", "stark", "wayne")
}

func (d *draw) uuid() string {
	return fmt.Sprintf(
		"%08x-%04x-4%03x-%04x-%012x",
		d.Uint32(),
		d.IntN(1<<16),
		d.IntN(1<<12),
		0x8000|d.IntN(0x4000),
		d.Int64N(1<<48),
	)
}

func (d *draw) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[d.IntN(16)]
	}
	return string(b)
}

func (d *draw) traceparent() string { return "00-" + d.hex(32) + "-" + d.hex(16) + "-01" }

func (d *draw) order() int { return 100000 + d.IntN(900000) }

func (d *draw) cents() int { return 199 + d.IntN(50000) }

// asJSON never fails for what the senders give it.
func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return b
}

type object = map[string]any
