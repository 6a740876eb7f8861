package broker

import (
	"errors"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

const probeTag = consumerTag + " probe"

// probe learns the queue's type before a message of it is read, on a channel of its own. AMQP has
// no way to ask, but RabbitMQ checks the arguments of basic.consume against the type: since 3.9 it
// refuses x-stream-offset on everything but a stream, and names the type in its reply. Before, a
// quorum queue refuses a prefetch for a whole channel, which later versions quietly turn into one
// for a consumer.
func (s *session) probe() *Error {
	ch, err := s.conn.Channel()
	if err != nil {
		return s.explain(phaseDeclare, err)
	}
	if err := ch.Qos(1, 0, true); err != nil {
		return s.explain(phaseDeclare, err)
	}
	deliveries, err := ch.Consume(s.queue, probeTag, false, false, false, false, amqp.Table{"x-stream-offset": "next"})
	kind, found := typeInReply(err)
	switch {
	case found:
	case err != nil:
		return s.explain(phaseDeclare, err)
	default:
		go discard(deliveries)
		_ = ch.Cancel(probeTag, false)
		// a broker that looks at no argument may have delivered one message
		_ = ch.Nack(0, true, true)
		_ = ch.Close()
		if s.c.status.rabbitMQ(3, 9) {
			kind = "stream"
		}
	}
	s.c.status.queueType(kind)
	switch {
	case kind == "stream":
		return s.c.refuseStream()
	case kind == "quorum" && !s.c.cfg.AcceptRedeliveryCount:
		return s.c.refuseQuorum()
	}
	return nil
}

// typeInReply reads the type of a queue from a refusal of basic.consume.
func typeInReply(err error) (kind string, found bool) {
	e, ok := errors.AsType[*amqp.Error](err)
	if !ok || !e.Server {
		return "", false
	}
	switch {
	case e.Code == amqp.NotImplemented && strings.Contains(e.Reason, "global qos"):
		return "quorum", true
	case e.Code == amqp.PreconditionFailed && strings.Contains(e.Reason, "prefetch count is not set"):
		return "stream", true
	case e.Code == amqp.PreconditionFailed && strings.Contains(e.Reason, "x-stream-offset"):
		_, name, _ := strings.Cut(e.Reason, " of queue type ")
		for _, kind := range []string{"classic", "quorum", "stream"} {
			if strings.Contains(name, kind) {
				return kind, true
			}
		}
		return "", true
	}
	return "", false
}

func discard(deliveries <-chan amqp.Delivery) {
	for range deliveries { // none arrives: the tap has them
	}
}
