package opened

import (
	"bytes"
	"strings"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/bodies"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

// Converted is a message that a broker made out of one of another protocol, or whose body is in the
// encoding of another one. Nothing of the message is changed by it.
type Converted struct {
	Name     string   // of the protocol, or of the kind of body
	Says     string   // one sentence: what the message is, or may be
	Evidence []string // what says so
	Lost     string   // what the conversion drops; empty: nothing is known
	// Parts are what can be laid open; only read on its tab.
	Parts []LaidOpen
}

// LaidOpen are octets in another encoding, value by value.
type LaidOpen struct {
	Title string
	Rows  []bodies.Row
	More  bool // there are more rows
	Kept  int  // how many octets were kept, where that is not all of them
}

// maxLaidOpen bounds the rows of one part.
const maxLaidOpen = 500

const (
	sectionPrefix    = "x-amqp-1.0-"
	annotationPrefix = "x-opt-"
	uuidPrefix       = "urn:uuid:"
)

// rabbitOwnAnnotations are annotations that RabbitMQ itself sets on messages of any protocol.
const rabbitOwnAnnotations = "x-opt-rabbitmq- x-opt-mqtt-"

// lostFromAMQP10 is what RabbitMQ's conversion for AMQP 0-9-1 consumers leaves out (mc_amqpl,
// convert_from).
const lostFromAMQP10 = "What the conversion drops cannot be seen here: to, subject, absolute-expiry-time, group-sequence, " +
	"annotations whose names do not begin with x-, the milliseconds of timestamps, and the tags of binary and " +
	"unsigned long values. Later releases of RabbitMQ 4 also leave out NaN, infinities and decimals; in a list the values " +
	"after them move up."

// buildConverted recognises where a message comes from. Its parts are read only on the tab that
// shows them.
func buildConverted(m facts.Message, t fieldtable.Table, o TreeOptions) *Converted {
	c := converted(m, t)
	if c == nil || o.Links.State.Tab != address.TabLaidOpen {
		return c
	}
	read := func(title string, b []byte, read func([]byte, int) ([]bodies.Row, bool)) {
		part := LaidOpen{Title: title}
		part.Rows, part.More = read(b, maxLaidOpen)
		c.Parts = append(c.Parts, part)
	}
	for s := t.Scan(); s.Next(); {
		f := s.Field()
		if octets, ok := sectionOctets(f); ok && !facts.Without(o.Removed, f.Value) {
			read(string(f.Name), octets, bodies.AMQP10)
		}
	}
	whole := len(c.Parts)
	switch property(m, "content_type") {
	case bodies.JMSMapType:
		read("body", m.Body, bodies.JMSMap)
	case bodies.JMSStreamType:
		read("body", m.Body, bodies.JMSStream)
	default:
		if property(m, "type") == "amqp-1.0" {
			read("body", m.Body, bodies.AMQP10)
		}
	}
	if len(c.Parts) > whole && uint64(len(m.Body)) < m.BodySize {
		c.Parts[whole].Kept = len(m.Body)
	}
	return c
}

func converted(m facts.Message, t fieldtable.Table) *Converted {
	switch property(m, "content_type") {
	case bodies.JMSMapType:
		return jms("JMS map", "a map message", bodies.JMSMapType)
	case bodies.JMSStreamType:
		return jms("JMS stream", "a stream message", bodies.JMSStreamType)
	}
	c := &Converted{Name: "AMQP 1.0", Lost: lostFromAMQP10}
	certain := property(m, "type") == "amqp-1.0"
	if certain {
		c.Evidence = append(c.Evidence, "the property type is amqp-1.0: the body is a value or a sequence in AMQP 1.0 encoding")
	}
	for s := t.Scan(); s.Next() && len(c.Evidence) < 10; {
		f := s.Field()
		if _, ok := sectionOctets(f); ok {
			certain = true
			c.Evidence = append(c.Evidence, "the header "+kit.VisibleText(f.Name)+" holds a section in AMQP 1.0 encoding")
		} else if bytes.HasPrefix(f.Name, []byte(annotationPrefix)) && !rabbitsOwn(f.Name) {
			c.Evidence = append(c.Evidence, "the header "+kit.VisibleText(f.Name)+" is named as a message annotation")
		}
	}
	for _, name := range []string{"message_id", "correlation_id"} {
		if strings.HasPrefix(property(m, name), uuidPrefix) {
			c.Evidence = append(c.Evidence, "the property "+name+" is written as a UUID of AMQP 1.0 is")
		}
	}
	if len(c.Evidence) == 0 {
		return nil
	}
	c.Says = "This message was published with AMQP 1.0 and converted by the broker."
	if !certain {
		c.Says = "This message may have been published with AMQP 1.0 and converted by the broker."
	}
	return c
}

// toLaidOpen leads to what conversion left in the message, laid open.
func toLaidOpen(q *address.State) { q.Tab, q.At, q.Skip = address.TabLaidOpen, 0, 0 }

func jms(name, what, contentType string) *Converted {
	return &Converted{
		Name:     name,
		Says:     "The body is that of " + what + " of Apache Qpid's JMS client for AMQP 0-x.",
		Evidence: []string{"the property content_type is " + contentType},
	}
}

// sectionOctets returns the octets of a header that holds a section: RabbitMQ 3 writes them as
// text.
func sectionOctets(f fieldtable.Field) ([]byte, bool) {
	if !bytes.HasPrefix(f.Name, []byte(sectionPrefix)) {
		return nil, false
	}
	if text, ok := f.Value.Text(); ok {
		return text, true
	}
	return f.Value.Bytes()
}

func rabbitsOwn(name []byte) bool {
	for prefix := range strings.FieldsSeq(rabbitOwnAnnotations) {
		if bytes.HasPrefix(name, []byte(prefix)) {
			return true
		}
	}
	return false
}

// property returns a text property that was not removed; empty if there is none.
func property(m facts.Message, name string) string {
	for _, p := range m.Properties {
		if p.Name == name && p.Form() == wire.FormShortStr && !facts.Touched(m.Removed, p.Offset, p.End) {
			return string(p.Raw)
		}
	}
	return ""
}
