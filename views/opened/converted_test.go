package opened

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
)

func octetsOf(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func text(name, value string) wire.Property { return wire.Property{Name: name, Raw: []byte(value)} }

// What a broker made of an AMQP 1.0 message is recognised by what only such a message has.
func TestConverted(t *testing.T) {
	certain, perhaps := "was published with AMQP 1.0", "may have been published with AMQP 1.0"
	for _, c := range []struct {
		name       string
		properties []wire.Property
		header     string
		says       string // empty: nothing is recognised
	}{
		{"nothing", nil, "tenant", ""},
		{"the type", []wire.Property{text("type", "amqp-1.0")}, "", certain},
		{"another type", []wire.Property{text("type", "amqp-1.0.1")}, "", ""},
		{"a section", nil, "x-amqp-1.0-properties", certain},
		{"a UUID", []wire.Property{text("message_id", "urn:uuid:00112233-4455-6677-8899-aabbccddeeff")}, "", perhaps},
		{"a plain UUID", []wire.Property{text("message_id", "00112233-4455-6677-8899-aabbccddeeff")}, "", ""},
		{"an annotation", nil, "x-opt-jms-msg-type", perhaps},
		{"RabbitMQ's own annotation", nil, "x-opt-rabbitmq-received-time", ""},
		{"a map message", []wire.Property{text("content_type", "jms/map-message")}, "", "a map message of Apache Qpid's"},
		{"a stream message", []wire.Property{text("content_type", "jms/stream-message")}, "", "a stream message of Apache Qpid's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := fieldtable.Table{}
			if c.header != "" {
				table = fieldtable.View(encode.Table(func(e *encode.Encoder) { e.Str(c.header, "x") }), nil)
			}
			got := buildConverted(facts.Message{Properties: c.properties}, table, TreeOptions{})
			switch {
			case c.says == "" && got != nil:
				t.Errorf("recognised: %+v", got)
			case c.says != "" && (got == nil || !strings.Contains(got.Says, c.says)):
				t.Errorf("%+v, want %q", got, c.says)
			case got != nil && len(got.Parts) > 0:
				t.Error("read before anybody asked")
			}
		})
	}
}

// A part is laid open on its tab, with what was removed left out.
func TestConvertedIsLaidOpen(t *testing.T) {
	o := TreeOptions{Links: address.Links{State: address.State{Tab: address.TabLaidOpen}}}
	encoded := encode.Table(func(e *encode.Encoder) {
		e.Bytes("x-amqp-1.0-properties", octetsOf(t, "005373c00501a1026964"))
		e.Bytes("x-amqp-1.0-app-properties", octetsOf(t, "005374c1010000"))
	})
	m := facts.Message{
		Properties: []wire.Property{text("type", "amqp-1.0")},
		Body:       octetsOf(t, "005377a10568656c6c6f"),
		BodySize:   10,
	}
	c := buildConverted(m, fieldtable.View(encoded, nil), o)
	if len(c.Parts) != 3 || c.Parts[0].Title != "x-amqp-1.0-properties" || c.Parts[2].Title != "body" {
		t.Fatalf("%+v", c.Parts)
	}
	if r := c.Parts[0].Rows; len(r) != 2 || r[1].Name != "message-id" || r[1].Text != "id" {
		t.Errorf("%+v", r)
	}
	if r := c.Parts[2].Rows; len(r) != 1 || r[0].Type != "amqp-value: string" || r[0].Text != "hello" || c.Parts[2].Kept != 0 {
		t.Errorf("%+v", c.Parts[2])
	}
	m.BodySize = 11
	o.Removed = []archive.Span{{From: 31, To: 41}} // the first section
	if c = buildConverted(m, fieldtable.View(encoded, nil), o); len(c.Parts) != 2 || c.Parts[1].Kept != 10 {
		t.Errorf("%+v", c.Parts)
	}
	m = facts.Message{
		Properties: []wire.Property{text("content_type", "jms/map-message")},
		Body:       octetsOf(t, "000000016e0006ffffffff"),
		BodySize:   11,
	}
	if c = buildConverted(m, fieldtable.Table{}, o); len(c.Parts) != 1 || c.Parts[0].Rows[0].Text != "-1" {
		t.Errorf("%+v", c)
	}
}
