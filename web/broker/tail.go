package broker

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// findTail learns the offset that the next message of a stream will have, and has the stream read
// from there. Reading from the word "next" would do as long as the connection lasts; but one that
// breaks before the first message must not skip what arrives meanwhile.
//
// AMQP has no way to ask. But the last chunk of a stream can be consumed, and all of it is
// delivered at once. Where nothing comes of it, "next" stays.
func (s *session) findTail() *Error {
	ch, err := s.conn.Channel()
	if err != nil {
		return s.explain(phaseDeclare, err)
	}
	if err := ch.Qos(MaxWindow, 0, false); err != nil {
		return s.explain(phaseDeclare, err)
	}
	deliveries, err := ch.Consume(s.queue, probeTag, false, false, false, false, amqp.Table{"x-stream-offset": "last"})
	if err != nil {
		if _, found := typeInReply(err); found {
			return s.c.refuseNoStream()
		}
		return s.explain(phaseDeclare, err)
	}
	go discard(deliveries)
	// What is answered after the deliveries of a chunk tells that they are all here.
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began := s.c.now()
	for before := int64(-2); ; <-tick.C {
		q, err := ch.QueueDeclarePassive(s.queue, false, false, false, false, nil)
		if err != nil {
			return s.explain(phaseDeclare, err)
		}
		last := s.sink.probedOffset.Load()
		settled := last == before && (last >= 0 || q.Messages == 0)
		late := s.c.now().Sub(began) > s.c.endpoint.dialTimeout/4
		if settled || late && last >= 0 {
			s.c.delivered.next, s.c.delivered.resumes = last+1, true
		}
		if settled || late {
			break
		}
		before = last
	}
	_ = ch.Cancel(probeTag, false)
	_ = ch.Nack(0, true, true) // no stream after all: the subscription will say so
	_ = ch.Close()
	return nil
}
