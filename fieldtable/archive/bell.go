package archive

import (
	"context"
	"reflect"
	"sync/atomic"
)

// bell wakes any number of waiters at once and costs one atomic load when nobody waits.
type bell struct {
	// ch is nil when nobody has waited since the last ring. A waiter puts a channel here and only
	// then looks for the event; the writer stores the event and only then looks here. So one of
	// them sees the other.
	ch atomic.Pointer[chan struct{}]
}

func (b *bell) ring() {
	if b.ch.Load() == nil {
		return
	}
	if ch := b.ch.Swap(nil); ch != nil {
		close(*ch)
	}
}

func (b *bell) listen() <-chan struct{} {
	for {
		if ch := b.ch.Load(); ch != nil {
			return *ch
		}
		ch := make(chan struct{})
		if b.ch.CompareAndSwap(nil, &ch) {
			return ch
		}
	}
}

// Wait returns nil as soon as the archive has had a message with a number above after, or the error
// of ctx. No goroutine is started for it.
func (a *Archive) Wait(ctx context.Context, after uint64) error {
	for {
		rung := a.bell.listen()
		if a.Snapshot().Last() > after {
			return nil
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// WaitAny returns nil as soon as one of the archives has had a message with a number above its
// after, or the error of ctx.
func WaitAny(ctx context.Context, archives []*Archive, after []uint64) error {
	if len(archives) == 1 {
		return archives[0].Wait(ctx, after[0])
	}
	cases := make([]reflect.SelectCase, 1, len(archives)+1)
	cases[0] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())}
	for {
		cases = cases[:1]
		for i, a := range archives {
			rung := a.bell.listen()
			if a.Snapshot().Last() > after[i] {
				return nil
			}
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(rung)})
		}
		if chosen, _, _ := reflect.Select(cases); chosen == 0 {
			return ctx.Err()
		}
	}
}
