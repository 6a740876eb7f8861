package budget

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(2, time.Second)
		first, err := l.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := l.Acquire(t.Context()); !errors.Is(err, ErrBusy) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a query whose browser is gone: %v", err)
		}
		got := make(chan error)
		go func() {
			_, err := l.Acquire(t.Context())
			got <- err
		}()
		synctest.Wait()
		first()
		first()
		if err := <-got; err != nil {
			t.Errorf("a place became free: %v", err)
		}
		if _, err := l.Acquire(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("one place was given back twice: %v", err)
		}
	})
}
