package budget

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBusy is returned where as many queries as allowed have been running for the
// whole time that one may wait.
var ErrBusy = errors.New("too many queries are running; try again in a moment")

// Limiter bounds how many queries run at once.
type Limiter struct {
	slots chan struct{}
	wait  time.Duration
}

// NewLimiter allows n queries at once, at least one; others wait for at most wait.
func NewLimiter(n int, wait time.Duration) *Limiter {
	return &Limiter{slots: make(chan struct{}, max(n, 1)), wait: wait}
}

// Acquire waits for a place; release gives it back and may be called more than
// once. The error is ErrBusy or that of ctx.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case l.slots <- struct{}{}:
		return l.release(), nil
	default:
	}
	timer := time.NewTimer(l.wait)
	defer timer.Stop()
	select {
	case l.slots <- struct{}{}:
		return l.release(), nil
	case <-timer.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *Limiter) release() func() {
	return sync.OnceFunc(func() { <-l.slots })
}
