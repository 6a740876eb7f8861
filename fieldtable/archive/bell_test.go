package archive

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(Config{})
		ctx, cancel := context.WithCancel(t.Context())
		var done [4]bool
		var waiters sync.WaitGroup
		for i := range uint64(3) {
			waiters.Go(func() {
				if err := a.Wait(ctx, i); err != nil {
					t.Error(err)
				}
				done[i] = true
			})
		}
		waiters.Go(func() {
			if err := a.Wait(ctx, 100); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			done[3] = true
		})
		for n := range 3 {
			synctest.Wait()
			for i, d := range done {
				if want := i < n; d != want {
					t.Errorf("after %d messages, waiter %d is done: %t", n, i, d)
				}
			}
			put(a, nil, nil)
		}
		synctest.Wait()
		cancel()
		waiters.Wait()
		if err := a.Wait(t.Context(), 2); err != nil {
			t.Error("what is there already was waited for:", err)
		}
	})
}

// TestNoWakeIsLost: a waiter follows the archive to its end while the writer goes as fast as it
// can.
func TestNoWakeIsLost(t *testing.T) {
	a := New(Config{MaxBytes: 1 << 20})
	const messages = 20_000
	var waiters sync.WaitGroup
	for range 3 {
		waiters.Go(func() {
			for after := uint64(0); after < messages; after = a.Snapshot().Last() {
				if err := a.Wait(t.Context(), after); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range messages {
		put(a, nil, nil)
	}
	waiters.Wait()
}
