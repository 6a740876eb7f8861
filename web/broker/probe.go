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
func (s *session) probe() (kind string, err error) {
	ch, err := s.conn.Channel()
	if errors.Is(err, amqp.ErrChannelMax) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if err := ch.Qos(1, 0, true); err != nil {
		return "", err
	}
	deliveries, err := ch.Consume(
		s.queue,
		probeTag,
		false,
		false,
		false,
		false,
		amqp.Table{"x-stream-offset": "next"},
	)
	if err != nil {
		kind, found := typeInReply(err)
		if found {
			err = nil
		}
		return kind, err
	}
	go discard(deliveries)
	_ = ch.Cancel(probeTag, false)
	_ = ch.Nack(0, true, true) // a broker that looks at no argument may have delivered one message
	_ = ch.Close()
	if s.c.status.rabbitMQ(3, 9) {
		return "stream", nil
	}
	return "", nil
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
