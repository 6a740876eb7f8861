package broker

import (
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// declareCopy declares a queue that ends with this connection and never grows beyond its bounds,
// and binds it to the exchange.
func (s *session) declareCopy() *Error {
	cfg := &s.c.cfg
	if err := s.ch.ExchangeDeclarePassive(cfg.Exchange, "", false, false, false, false, nil); err != nil {
		return s.explain(phaseDeclare, err)
	}
	q, err := s.ch.QueueDeclare("", false, true, true, false, boundedQueue(s.broker(), cfg))
	if err != nil {
		return s.explain(phaseDeclare, err)
	}
	s.queue = q.Name
	for _, key := range cfg.Bindings {
		if err := s.ch.QueueBind(q.Name, key, cfg.Exchange, false, nil); err != nil {
			return s.explain(phaseDeclare, err)
		}
	}
	return nil
}

// boundedQueue are the arguments of a queue that drops its oldest messages beyond the copy's
// bounds. Qpid refuses arguments that it does not know, and has names of its own for these.
func boundedQueue(b source.Broker, cfg *Config) amqp.Table {
	if b.Product == source.BrokerJ {
		return amqp.Table{
			"qpid.max_count": cfg.CopyMaxLength, "qpid.max_size": cfg.CopyMaxBytes, "qpid.policy_type": "ring",
		}
	}
	return amqp.Table{
		"x-max-length": cfg.CopyMaxLength, "x-max-length-bytes": cfg.CopyMaxBytes, "x-overflow": "drop-head",
	}
}
