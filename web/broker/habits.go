package broker

import (
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// broker is what the broker said of itself.
func (s *session) broker() source.Broker {
	return source.Broker{Product: text(s.conn.Properties, "product"), Version: text(s.conn.Properties, "version")}
}

// settleIn prepares for what differs from broker to broker. It is called before anything is
// consumed.
func (s *session) settleIn() {
	s.c.status.habits(s.browses())
	if r := s.c.delivered.recent; r != nil {
		r.unflagged = !s.broker().FlagsRedelivery()
		r.replay = r.replay || r.unflagged
	}
}

// browses reports whether peek takes no message here.
func (s *session) browses() bool {
	return s.c.cfg.Mode == source.Peek && s.conn != nil && s.broker().Browses()
}

// browsing are the arguments of basic.consume that have Qpid show messages without acquiring them.
// A prefetch does not bound that.
func browsing() amqp.Table { return amqp.Table{"x-filter-no-consume": true} }

// missing ends the session when the observer's passive declare finds no queue. Some brokers send no
// basic.cancel when a queue is deleted, so the consumer would wait for ever.
func (s *session) missing(err error) {
	e, ok := errors.AsType[*amqp.Error](err)
	if !ok || !e.Server || e.Code != amqp.NotFound {
		return
	}
	s.gone <- &Error{
		Kind: KindCancelled, Err: err,
		Msg: fmt.Sprintf("%s was deleted: the broker does not know it any more (404)", s.c.target()),
	}
}

// idle tells a queue that loses nothing by being drained, such as Qpid's with
// ensureNondestructiveConsumers: everything that arrived is acknowledged, nothing more has come
// since the last observation, nobody else reads, and the queue is not empty.
type idle struct {
	arrived uint64
	twice   bool
}

func (i *idle) observe(s *session, waiting, others int) {
	arrived, settled := s.sink.arrived.Load(), s.sink.settled.Load()
	still := s.c.cfg.Mode == source.Drain && s.broker().Product == source.BrokerJ &&
		arrived > 0 && arrived == i.arrived && arrived == settled && waiting > 0 && others == 0
	if still && i.twice {
		s.c.status.undrained()
	}
	i.arrived, i.twice = arrived, still
}
