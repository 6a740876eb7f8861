// Package traffic makes AMQP messages like those of a company's real queues: what Celery, Spring
// AMQP, MassTransit, NServiceBus, OpenTelemetry, RabbitMQ's dead-lettering, its MQTT plugin and
// Qpid JMS put into headers and properties, and now and then what goes wrong: duplicate keys,
// octets that are no text, tags that nobody reads, tables that are cut off.
//
// The same seed gives the same messages, octet for octet.
package traffic

import (
	"math/rand/v2"
	"time"

	"github.com/headerglass/headerglass/web/demoserver"
)

// Generator makes one message after the other. It is for one goroutine.
type Generator struct {
	r     *rand.Rand
	made  uint64
	clock time.Time // of the senders; it moves on with each message
	odd   []maker   // still to be shown among the first messages
}

// maker draws one message.
type maker func(*draw) message

// showcase messages come early, one in so many, so that whoever looks at the first page sees each
// kind.
const (
	showcaseEvery = 4
	warmUp        = 3 // messages before the first
)

// New returns a generator for a seed.
func New(seed uint64) *Generator {
	return &Generator{
		r:     rand.New(rand.NewPCG(seed, 0x6865616465726773)), // #nosec G404 -- the same seed makes the same messages
		clock: time.Date(2026, time.November, 2, 8, 0, 0, 0, time.UTC),
		odd:   curiosities(),
	}
}

// Next returns the next message.
func (g *Generator) Next() demoserver.Message {
	g.clock = g.clock.Add(time.Duration(1+g.r.IntN(40)) * time.Millisecond)
	d := &draw{Rand: g.r, now: g.clock}
	m := g.pick()(d)
	g.made++
	// About three in a hundred were delivered before and came back.
	return m.encode(g.r.IntN(100) < 3)
}

func (g *Generator) pick() maker {
	if n := g.made; n >= warmUp && (n-warmUp)%showcaseEvery == 0 && len(g.odd) > 0 {
		m := g.odd[0]
		g.odd = g.odd[1:]
		return m
	}
	p := g.r.IntN(1000)
	for _, s := range senders() {
		if p -= s.perMille; p < 0 {
			return s.make
		}
	}
	all := curiosities()
	return all[g.r.IntN(len(all))]
}

// sender is one kind of ordinary traffic. What is left to 1,000 are curiosities.
type sender struct {
	make     maker
	perMille int
}

func senders() []sender {
	return []sender{
		{celery, 190}, {springEvent, 150}, {massTransit, 130}, {nServiceBus, 130}, {openTelemetry, 120},
		{mqttReading, 110}, {deadLetter, 80}, {qpidJMS, 40}, {plainJob, 25},
	}
}
