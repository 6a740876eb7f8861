package source

import (
	"slices"
	"strconv"
	"strings"
)

// Broker is what a broker says of itself in server-properties; the zero value is one that is not
// known.
type Broker struct{ Product, Version string }

// The products that something is known about.
const (
	RabbitMQ = "RabbitMQ"
	BrokerJ  = "Apache Qpid Broker-J Core" // as Qpid Broker-J calls itself
	LavinMQ  = "LavinMQ"
)

// Browses reports whether a queue can be browsed: read without taking a message or counting a
// delivery.
func (b Broker) Browses() bool { return b.Product == BrokerJ }

// FlagsRedelivery reports whether the broker flags what it delivers again after a crash of its own.
func (b Broker) FlagsRedelivery() bool { return b.Product != BrokerJ }

// TellsQueueType reports whether the broker checks x-stream-offset against a queue's type and names
// the type in its refusal. Others may deliver a message to who asks so, which flags it as
// redelivered.
func (b Broker) TellsQueueType() bool { return b.Product == RabbitMQ }

// Broker is the broker that is read.
func (s Status) Broker() Broker { return Broker{s.Product, s.Version} }

// AtLeast reports whether the version is known and is major.minor or a later one.
func (b Broker) AtLeast(major, minor int) bool {
	v, ok := b.release()
	return ok && slices.Compare(v[:], []int{major, minor}) >= 0
}

func (b Broker) release() (v [2]int, ok bool) {
	parts := strings.SplitN(b.Version, ".", 3)
	if len(parts) < 2 {
		return v, false
	}
	for i := range v {
		n, err := strconv.Atoi(strings.TrimFunc(parts[i], func(r rune) bool { return r < '0' || r > '9' }))
		if err != nil {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// fact is a sentence that holds for the queues of one type of some versions of a product.
type fact struct {
	product   string
	from, end [2]int // the first version and the one after the last; a zero end: no last one
	queue     string // its type; empty: any
	says      string
}

// facts is what brokers do to messages on the way to a 0-9-1 consumer, and what therefore cannot be
// known here. The sources are the brokers' own: rabbit_channel and mc_amqpl of RabbitMQ 3.13 and
// later, its guides to quorum queues and streams, and what real brokers sent.
func facts() []fact {
	var (
		first = [2]int{}
		mc    = [2]int{3, 13} // message containers
		four  = [2]int{4, 0}
		delay = [2]int{4, 3} // acquired and delivered are counted apart
		open  = [2]int{}
	)
	const classic, quorum, stream = "classic", "quorum", "stream"
	const rewritten = "fields are sorted by name, of several with one name one is left, " +
		"tag L becomes l and a boolean is 0 or 1. The order that the publisher wrote and its duplicates " +
		"cannot be known here."
	return []fact{
		{RabbitMQ, first, mc, classic, "A classic queue of this version delivers header tables as they were published, " +
			"octet for octet."},
		{RabbitMQ, first, mc, quorum, "A quorum queue of this version writes each header table anew: tag L becomes l and a " +
			"boolean is 0 or 1."},
		{RabbitMQ, mc, four, "", "With the feature flag message_containers, which cannot be seen from here, this version " +
			"writes each header table anew: " + rewritten},
		{RabbitMQ, four, open, "", "This version writes each header table anew before it is delivered: " + rewritten},
		{RabbitMQ, first, mc, stream, "A stream of this version adds x-stream-offset, and loses arrays and tables."},
		{RabbitMQ, mc, open, stream, "A stream adds x-stream-offset, and loses arrays and tables under names that do not " +
			"begin with x-."},
		{RabbitMQ, first, four, quorum, "Every return of a message counts in x-delivery-count, also when the connection " +
			"ends. There is no delivery limit unless one was set."},
		{RabbitMQ, four, delay, quorum, "Every return of a message counts in x-delivery-count, also when the connection " +
			"ends. Unless another delivery limit was set, a message is dropped or dead-lettered after 20."},
		{RabbitMQ, delay, open, quorum, "What is given back with basic.nack counts in x-acquired-count only. A reject or a " +
			"lost connection counts in x-delivery-count, and after 20, unless another delivery limit was set, a message " +
			"is dropped or dead-lettered."},
		{BrokerJ, first, open, "", "Qpid Broker-J delivers header tables as they were published, damaged ones too. " +
			"Timestamps there are in milliseconds, and expiration is the time at which the message expires."},
		{LavinMQ, first, open, "", "LavinMQ counts deliveries on classic queues too, and drops a message that has been " +
			"delivered too often."},
	}
}

// Facts are sentences on what the broker does to the messages of a queue of this type, in whole and
// in order. Of an unknown version or product they say nothing; of an unknown type (empty) they name
// the type that each is about.
func (b Broker) Facts(queueType string) []string {
	v, known := b.release()
	var says []string
	for _, f := range facts() {
		switch {
		case f.product != b.Product:
		case !known && (f.from != [2]int{} || f.end != [2]int{}):
		case slices.Compare(v[:], f.from[:]) < 0:
		case f.end != [2]int{} && slices.Compare(v[:], f.end[:]) >= 0:
		case f.queue != "" && queueType != "" && f.queue != queueType:
		default:
			says = append(says, f.says)
		}
	}
	return says
}

// Keeps reports whether queues of this type are known to deliver header tables as they were
// published.
func (b Broker) Keeps(queueType string) bool {
	_, known := b.release()
	switch b.Product {
	case BrokerJ:
		return true
	case RabbitMQ:
		return known && queueType == "classic" && !b.AtLeast(3, 13)
	}
	return false
}
