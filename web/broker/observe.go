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
		q, err := ch.QueueDeclarePassive(s.queue, false, false, false, false, nil)
		if err != nil {
			s.missing(err)
			return
		}
		s.c.status.observed(q.Messages, q.Consumers)
		idle.observe(s, q)
		if silent++; q.Messages == 0 || q.Consumers < 2 || s.sink.arrived.Load() > 0 {
			silent = 0
		}
		s.c.status.standby(silent >= silentLooks)
		if s.facts.SingleActive && s.c.cfg.Mode == source.Peek && q.Consumers > 1 && s.sink.held() > 0 {
			select {
			case s.yield <- struct{}{}:
			default:
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// silentLooks is how often in a row messages must wait, another consumer be there, and nothing
// arrive, before this one is taken for a standby.
const silentLooks = 2
