package capture

import (
	"fmt"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Report counts what a file gave.
type Report struct {
	Messages uint64 // put into the archive
	// Of these, in captures: by the method that the content came with.
	Published, Returned, Delivered, Fetched uint64
	// Incomplete of the messages of a capture have less of their body there than was sent.
	Incomplete uint64
	// Missing messages were evicted before they were written into an export that was cut off.
	Missing uint64

	Packets uint64
	// Breaks is how often a stream of AMQP frames could not be followed: packets are missing, or
	// octets are no frames.
	Breaks uint64
	// Clipped packets are shorter in the capture than they were on the wire.
	Clipped uint64
	// Foreign packets are of a kind of network that cannot be read.
	Foreign uint64
	// Encrypted and AMQP10 count the streams of TLS and of AMQP 1.0, one for each direction.
	Encrypted, AMQP10 uint64
}

// Add adds the counts of another file.
func (r *Report) Add(o Report) {
	r.Messages += o.Messages
	r.Published += o.Published
	r.Returned += o.Returned
	r.Delivered += o.Delivered
	r.Fetched += o.Fetched
	r.Incomplete += o.Incomplete
	r.Missing += o.Missing
	r.Packets += o.Packets
	r.Breaks += o.Breaks
	r.Clipped += o.Clipped
	r.Foreign += o.Foreign
	r.Encrypted += o.Encrypted
	r.AMQP10 += o.AMQP10
}

// String is one plain line about what was found.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString(plural.Of(r.Messages, "message"))
	var ways []string
	for _, w := range []struct {
		n    uint64
		what string
	}{
		{r.Delivered, "delivered"},
		{r.Published, "published"},
		{r.Fetched, "fetched with basic.get"},
		{r.Returned, "returned"},
	} {
		if w.n > 0 {
			ways = append(ways, fmt.Sprintf("%d %s", w.n, w.what))
		}
	}
	if len(ways) > 0 {
		b.WriteString(" (" + strings.Join(ways, ", ") + ")")
	}
	return b.String()
}

// Notes are plain sentences about what a reader of the messages should know, without a stop at the
// end.
func (r Report) Notes() []string {
	var notes []string
	note := func(n uint64, one, many string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf("%d %s", n, plural.Verb(n, one, many)))
		}
	}
	note(r.Incomplete, "message has less of its body in the capture than was sent",
		"messages have less of their body in the capture than was sent")
	note(r.Missing, "message is missing, because the export was cut off",
		"messages are missing, because the export was cut off")
	if r.Breaks > 0 {
		notes = append(notes, "AMQP streams broke off "+plural.Of(r.Breaks, "time")+
			", because packets are missing or damaged; messages there are lost")
	}
	note(r.Clipped, "packet was clipped when it was captured; tcpdump -s 0 keeps it whole",
		"packets were clipped when they were captured; tcpdump -s 0 keeps them whole")
	note(r.Foreign, "packet is of a kind of network that cannot be read",
		"packets are of a kind of network that cannot be read")
	note(r.Encrypted, "stream is encrypted with TLS and cannot be read",
		"streams are encrypted with TLS and cannot be read")
	note(r.AMQP10, "stream speaks AMQP 1.0, which has no field tables",
		"streams speak AMQP 1.0, which has no field tables")
	return notes
}

// recorder puts messages into an archive and counts them.
type recorder struct {
	writer *archive.Writer
	Report
}

func (r *recorder) record(d *wire.Delivery, received time.Time, body []byte) {
	r.writer.Begin(d, received)
	r.writer.Body(body)
	r.writer.Commit()
	r.Messages++
}

// Method is described at Listener; a file's methods are not counted.
func (r *recorder) Method(uint16, uint16, uint16, []byte) {}

// Content takes a message of a capture.
func (r *recorder) Content(c Content) {
	r.record(&c.Delivery, c.Received, c.Body)
	switch c.Method {
	case wire.MethodBasicPublish:
		r.Published++
	case wire.MethodBasicReturn:
		r.Returned++
	case wire.MethodBasicDeliver:
		r.Delivered++
	case wire.MethodBasicGetOk:
		r.Fetched++
	}
	if !c.Whole {
		r.Incomplete++
	}
}
