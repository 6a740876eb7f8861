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
//
// Where the flow wants another width, settle lets the subscription fill up and calls resize before
// it acknowledges: nothing is on its way then, so one subscription takes the other's place without
// changing the order. resize returns false when that failed.
func settle(s *sink, ch acknowledger, quit <-chan struct{}, resize func(width int) bool) {
	flush := func(patient bool) bool {
		from, to := s.settled.Load(), s.stored.Load()
		if to == from {
			return true
		}
		if now, next := s.flow.wants(); next != now {
			switch full := to-from >= uint64(now) && s.arrived.Load() == to; {
			case full && !resize(next):
				return false
			case !full && patient:
				return true
			}
		}
		if s.holds != nil {
			if e := s.holds(); e != nil {
				s.refuse(e)
				return false
			}
		}
		s.attempted.Store(to)
		n, err := s.acknowledge(ch, from, to)
		s.counts.acknowledged.Add(n)
		if err != nil {
			return false
		}
		s.settled.Store(to)
		s.flow.acknowledged(to - from)
		// What is set aside may fill the subscription, so that nothing comes any more.
		if now, next := s.flow.wants(); next != now && len(s.aside.upTo(to)) >= now && s.arrived.Load() == to {
			return resize(next)
		}
		return true
	}
	timer := time.NewTimer(ackDelay)
	timer.Stop()
	defer timer.Stop()
	armed := false
	for {
		patient := false
		select {
		case <-s.wake:
			if s.unsettled() < s.batch.Load() {
				if !armed {
					armed = true
					timer.Reset(ackDelay)
				}
				continue
			}
			patient = true
		case <-timer.C:
			armed = false
		case <-quit:
			flush(false)
			return
		}
		if !flush(patient) {
			return
		}
		if s.unsettled() > 0 && !armed {
			armed = true
			timer.Reset(ackDelay)
		}
	}
}
