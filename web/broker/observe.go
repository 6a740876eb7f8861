package broker

import (
	"context"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// observe asks on a channel of its own how many messages wait and who else reads, until it may not
// or the connection ends.
func (s *session) observe(ctx context.Context) {
	ticker := time.NewTicker(observeEvery)
	defer ticker.Stop()
	ch, err := s.conn.Channel()
	if err != nil {
		return
	}
	silent := 0
	var idle idle
	for {
		began := s.changes.Load()
		q, err := ch.QueueDeclarePassive(s.queue, false, false, false, false, nil)
		if err != nil {
			s.missing(err)
			return
		}
		next := ticker.C
		if own := int(s.own.Load()); began%2 == 0 && s.changes.Load() == began {
			others := max(q.Consumers-own, 0)
			s.c.status.observed(q.Messages, others)
			idle.observe(s, q.Messages, others)
			if silent++; q.Messages == 0 || others == 0 || s.sink.arrived.Load() > 0 {
				silent = 0
			}
			s.c.status.standby(silent >= silentLooks)
			if s.facts.SingleActive && s.c.cfg.Mode == source.Peek && others > 0 && s.sink.held() > 0 {
				select {
				case s.yield <- struct{}{}:
				default:
				}
			}
		} else {
			next = time.After(observeAgain) // what the broker counts of this explorer is not known
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		}
	}
}

// silentLooks is how often in a row messages must wait, another consumer be there, and nothing
// arrive, before this one is taken for a standby.
const silentLooks = 2
