package broker

import (
	"math/rand/v2"
	"time"
)

// Bounds of the time between attempts.
const (
	minWait       = time.Second // at most one attempt a second
	maxWaitLost   = 15 * time.Second
	maxWaitRefuse = time.Minute
)

// backoff says when to try again. A broker that is away is asked again after a twentieth of the
// time that it has been away, so that a restart is noticed soon and a long outage costs little. A
// broker that answers and refuses is asked at growing intervals: 1, 2, 4 s and so on, since only a
// person can change that. Both are jittered, so that many explorers do not come back in step.
type backoff struct {
	random  func() float64 // 0 to 1
	since   time.Time      // of the first failure in a row
	refused int            // refusals in a row
}

func newBackoff() *backoff { return &backoff{random: rand.Float64} }

// reset is called after a success.
func (b *backoff) reset() { b.since, b.refused = time.Time{}, 0 }

// next returns when to try again, given when the failed attempt began and what is the time now.
func (b *backoff) next(began, now time.Time, refused bool) time.Time {
	if b.since.IsZero() {
		b.since = now
	}
	var wait time.Duration
	if refused {
		wait = min(minWait<<min(b.refused, 10), maxWaitRefuse)
		b.refused++
		wait += time.Duration(b.random() * 0.25 * float64(wait))
	} else {
		b.refused = 0
		wait = min(max(now.Sub(b.since)/20, minWait), maxWaitLost)
		wait += time.Duration(b.random() * 0.25 * float64(wait))
	}
	if at := now.Add(wait); at.Sub(began) >= minWait {
		return at
	}
	return began.Add(minWait)
}
