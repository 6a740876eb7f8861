package broker

import (
	amqp "github.com/rabbitmq/amqp091-go"
)

// declareCopy declares a queue that ends with this connection and never grows beyond its bounds,
// and binds it to the exchange.
func (s *session) declareCopy() *Error {
	cfg := &s.c.cfg
	if err := s.ch.ExchangeDeclarePassive(cfg.Exchange, "", false, false, false, false, nil); err != nil {
		return s.explain(phaseDeclare, err)
	}
	q, err := s.ch.QueueDeclare("", false, true, true, false, amqp.Table{
		"x-max-length": cfg.CopyMaxLength, "x-max-length-bytes": cfg.CopyMaxBytes, "x-overflow": "drop-head",
	})
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
