package broker

import "time"

// acknowledger is the part of an AMQP channel that settles.
type acknowledger interface {
	Ack(tag uint64, multiple bool) error
}

const ackDelay = 20 * time.Millisecond // that a delivery waits for others to be acknowledged with

// settle acknowledges what is stored, many deliveries with one basic.ack, until quit is closed;
// then it acknowledges the rest. It returns when the channel is gone, too: what was not
// acknowledged then comes again.
func settle(s *sink, ch acknowledger, quit <-chan struct{}) {
	flush := func() bool {
		from, to := s.settled.Load(), s.stored.Load()
		if to == from {
			return true
		}
		if s.holds != nil {
			if e := s.holds(); e != nil {
				s.refuse(e)
				return false
			}
		}
		s.attempted.Store(to)
		if ch.Ack(to, true) != nil {
			return false
		}
		s.settled.Store(to)
		s.counts.acknowledged.Add(to - from)
		return true
	}
	timer := time.NewTimer(ackDelay)
	timer.Stop()
	defer timer.Stop()
	armed := false
	for {
		select {
		case <-s.wake:
			if s.unsettled() < s.batch {
				if !armed {
					armed = true
					timer.Reset(ackDelay)
				}
				continue
			}
		case <-timer.C:
			armed = false
		case <-quit:
			flush()
			return
		}
		if !flush() {
			return
		}
		if s.unsettled() > 0 && !armed {
			armed = true
			timer.Reset(ackDelay)
		}
	}
}
