package broker

import (
	"testing"
	"time"
)

func TestBackoffNeverMoreThanOnceASecond(t *testing.T) {
	for _, refused := range []bool{false, true} {
		for _, random := range []float64{0, 0.5, 0.999} {
			b := &backoff{random: func() float64 { return random }}
			now := time.Unix(1000, 0)
			for i := range 500 {
				next := b.next(now, now.Add(time.Millisecond), refused)
				wait := next.Sub(now)
				if wait < time.Second || wait > 76*time.Second {
					t.Fatalf("attempt %d waits %s", i, wait)
				}
				now = next
			}
		}
	}
}

func TestBackoffGrows(t *testing.T) {
	b := &backoff{random: func() float64 { return 0 }}
	now := time.Unix(1000, 0)
	var waits []time.Duration
	for range 8 {
		waits = append(waits, b.next(now, now, true).Sub(now))
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if waits[i] != want*time.Second {
			t.Errorf("refusal %d: %s, want %d s", i+1, waits[i], want)
		}
	}
	b.reset()
	if wait := b.next(now, now, true).Sub(now); wait != time.Second {
		t.Errorf("after a success: %s", wait)
	}
}

// TestBackoffNoticesARestart: within a restart's time the broker is asked every second or two,
// after an hour far less often.
func TestBackoffNoticesARestart(t *testing.T) {
	b := &backoff{random: func() float64 { return 0.999 }}
	began := time.Unix(1000, 0)
	now := began
	for now.Sub(began) < 30*time.Second {
		next := b.next(now, now, false)
		if wait := next.Sub(now); wait > 1900*time.Millisecond {
			t.Errorf("%s after the loss: %s until the next attempt", now.Sub(began), wait)
		}
		now = next
	}
	later := began.Add(time.Hour)
	if wait := b.next(later, later, false).Sub(later); wait < 15*time.Second {
		t.Errorf("after an hour: %s", wait)
	}
}

func TestBackoffCountsFromTheBeginningOfASlowAttempt(t *testing.T) {
	b := &backoff{random: func() float64 { return 0 }}
	began := time.Unix(1000, 0)
	failed := began.Add(10 * time.Second)
	if next := b.next(began, failed, false); next.Sub(failed) < time.Second {
		t.Errorf("%s after a slow failure", next.Sub(failed))
	}
}
