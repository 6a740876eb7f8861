package traffic

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/web/demoserver"
)

func TestFeedKeepsItsRateAndStops(t *testing.T) {
	for _, rate := range []float64{0.5, 7, 50, 5000} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			n := 0
			go func() {
				done <- feed(ctx, New(1), Config{Rate: rate}, func(demoserver.Message) error { n++; return nil })
			}()
			time.Sleep(20*time.Second + time.Millisecond) // the bubble's clock
			synctest.Wait()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if want := int(20 * rate); n < want-1 || n > want+1 {
				t.Errorf("at %v messages a second: %d in 20 s, want %d", rate, n, want)
			}
		})
	}
}

func TestFeedFallsIdleAfterCount(t *testing.T) {
	for _, rate := range []float64{0, 100} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			n := 0
			go func() {
				done <- feed(ctx, New(1), Config{
					Rate:  rate,
					Count: 123,
				}, func(demoserver.Message) error { n++; return nil })
			}()
			time.Sleep(time.Hour)
			synctest.Wait()
			if n != 123 {
				t.Errorf("%d messages", n)
			}
			select {
			case err := <-done:
				t.Errorf("returned %v instead of waiting", err)
			default:
			}
			cancel()
			<-done
		})
	}
}

func TestFeedDoesNotCatchUpAfterAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		n := 0
		go func() {
			done <- feed(ctx, New(1), Config{Rate: 100}, func(demoserver.Message) error {
				if n++; n == 10 {
					time.Sleep(time.Minute)
				}
				return nil
			})
		}()
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		cancel()
		<-done
		if n > 10+100+110 {
			t.Errorf("%d messages: a minute was caught up with", n)
		}
	})
}

func TestOwed(t *testing.T) {
	for _, tt := range []struct {
		due, rate float64
		passed    time.Duration
		n         uint64
	}{
		{0, 50, 20 * time.Millisecond, 1},
		{0.5, 50, 10 * time.Millisecond, 1},
		{0, 50, 10 * time.Millisecond, 0},
		{0, 50, time.Hour, 50},
		{0.5, 50, -time.Hour, 0}, // the clock stepped back
		{-3, 50, 0, 0},
	} {
		if n, left := owed(tt.due, tt.rate, tt.passed); n != tt.n || left < -1e-5 || left >= 1 {
			t.Errorf("owed(%v, %v, %v) is %d and %v, want %d", tt.due, tt.rate, tt.passed, n, left, tt.n)
		}
	}
}
