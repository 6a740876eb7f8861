package budget

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrBusy is returned where as much work as is allowed has been running for the whole time that one
// may wait, or as much of one address waits already as may.
var ErrBusy = errors.New("too many queries are running; try again in a moment")

// Limits say how many pieces of work run at once, and how many wait. Each is at least one.
type Limits struct {
	All  int           // run at once
	Each int           // of one address; 0: as many as All
	Line int           // of one address wait; 0: any number
	Wait time.Duration // how long; 0: as long as the work's context lasts
}

// Limiter bounds how many pieces of work run at once, in all and for one address. Where several
// addresses wait for a place, the one with the fewest running gets it. It is safe for concurrent
// use.
type Limiter struct {
	Limits

	mu      sync.Mutex
	n       int            // guarded by mu; the sum of running
	running map[string]int // guarded by mu; by address, no zeros
	waiting []*turn        // guarded by mu; oldest first
	lines   map[string]int // guarded by mu; of waiting, by address, no zeros
	refused uint64         // guarded by mu
}

// turn is work that waits for a place.
type turn struct {
	addr  string
	ready chan struct{} // closed once it has one
}

// NewLimiter allows n queries at once, at least one, and leaves a quarter of them to others than
// the address that asks for most; work waits for at most wait.
func NewLimiter(n int, wait time.Duration) *Limiter {
	n = max(n, 1)
	return NewTurns(Limits{All: n, Each: max(n-n/4, 1), Wait: max(wait, 1)})
}

// NewTurns returns a limiter.
func NewTurns(l Limits) *Limiter {
	l.All = max(l.All, 1)
	if l.Each == 0 {
		l.Each = l.All
	}
	return &Limiter{Limits: l, running: make(map[string]int), lines: make(map[string]int)}
}

type addrKey struct{}

// For is a context of work that counts for an address.
func For(ctx context.Context, addr string) context.Context {
	return context.WithValue(ctx, addrKey{}, addr)
}

// Addr is the address that the work of a context counts for; "": none is known.
func Addr(ctx context.Context) string {
	addr, _ := ctx.Value(addrKey{}).(string)
	return addr
}

// Acquire waits for a place for the address of ctx; release gives it back and may be called more
// than once. The error is ErrBusy or that of ctx.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	return l.acquire(ctx, l.Line, l.Wait)
}

// Again is Acquire for work that had a place before: it waits as long as ctx lasts, however many
// others do.
func (l *Limiter) Again(ctx context.Context) (release func(), err error) {
	return l.acquire(ctx, 0, 0)
}

func (l *Limiter) acquire(ctx context.Context, line int, wait time.Duration) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	addr := Addr(ctx)
	var once sync.Once
	release = func() { once.Do(func() { l.leave(addr) }) }
	l.mu.Lock()
	if line > 0 && l.lines[addr] >= line {
		l.refused++
		l.mu.Unlock()
		return nil, ErrBusy
	}
	if len(l.waiting) == 0 && l.free(addr) { // mostly
		l.enter(addr)
		l.mu.Unlock()
		return release, nil
	}
	w := &turn{addr: addr, ready: make(chan struct{})}
	l.waiting = append(l.waiting, w)
	l.lines[addr]++
	l.admit()
	l.mu.Unlock()
	select {
	case <-w.ready:
		return release, nil
	default:
	}
	var over <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-w.ready:
		return release, nil
	case <-over:
		err = ErrBusy
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, w)
	if i < 0 { // it has got a place meanwhile
		return release, nil
	}
	l.unqueue(i)
	if err == ErrBusy {
		l.refused++
	}
	return nil, err
}

func (l *Limiter) leave(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n--
	if l.running[addr]--; l.running[addr] == 0 {
		delete(l.running, addr)
	}
	l.admit()
}

// admit gives the places that are free to those who wait: first to the address with the fewest
// running, then to who has waited longest.
func (l *Limiter) admit() {
	for l.n < l.All {
		next := -1
		for i, w := range l.waiting {
			if n := l.running[w.addr]; n < l.Each && (next < 0 || n < l.running[l.waiting[next].addr]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := l.waiting[next]
		l.unqueue(next)
		l.enter(w.addr)
		close(w.ready)
	}
}

// free reports whether an address may have one more place.
func (l *Limiter) free(addr string) bool { return l.n < l.All && l.running[addr] < l.Each }

func (l *Limiter) enter(addr string) {
	l.n++
	l.running[addr]++
}

func (l *Limiter) unqueue(i int) {
	addr := l.waiting[i].addr
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if l.lines[addr]--; l.lines[addr] == 0 {
		delete(l.lines, addr)
	}
}

// LimiterStats are figures about a limiter at one moment.
type LimiterStats struct {
	Running, Waiting int    // pieces of work
	Refused          uint64 // ever
}

// Stats returns figures about the limiter now.
func (l *Limiter) Stats() LimiterStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return LimiterStats{l.n, len(l.waiting), l.refused}
}
