package budget

import (
	"context"
	"sync"
	"time"
)

// A Reading charges work with what it keeps from being freed: messages that are evicted while it
// reads them stay in memory until it is done. All that reads at one time keeps no more than what
// was evicted since the oldest reading began, so that only the largest is counted. It is safe for
// concurrent use.
type Reading struct {
	share   *Share
	evicted func() int64

	mu    sync.Mutex
	from  int64       // guarded by mu; what evicted was when it began
	timer *time.Timer // guarded by mu; nil: it does not read
}

// readingTick is how often a reading is looked at. One that is over before costs nothing.
const readingTick = Wait / 10

// Reading returns a reading for the share's work. evicted is how many bytes have ever been evicted
// of what is read.
func (s *Share) Reading(evicted func() int64) *Reading { return &Reading{share: s, evicted: evicted} }

// Begin says that the work begins to read. It must come before what is read is looked up.
func (r *Reading) Begin() {
	from := r.evicted()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = from
	if r.timer == nil {
		r.timer = time.AfterFunc(readingTick, r.look)
	}
}

// End says that nothing is kept any more. It may be called again.
func (r *Reading) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil {
		return
	}
	r.timer.Stop()
	r.timer = nil
	r.share.pin(0)
}

func (r *Reading) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil {
		return
	}
	r.share.pin(r.evicted() - r.from)
	r.timer.Reset(readingTick)
}

type readingKey struct{}

// With is a context of work that says by Begin when it reads.
func (r *Reading) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, r)
}

// Begin begins the reading of ctx, if it has one; end ends it.
func Begin(ctx context.Context) (end func()) {
	r, ok := ctx.Value(readingKey{}).(*Reading)
	if !ok {
		return func() {}
	}
	r.Begin()
	return r.End
}

// pin says how many bytes the share's work keeps from being freed. Where there are too many, others
// give way as they would for as many bytes taken, and else the work that keeps the most.
func (s *Share) pin(n int64) {
	b := s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	less := n < s.pinned
	s.pinned = n
	if n > 0 {
		b.readers[s] = struct{}{}
	} else {
		delete(b.readers, s)
	}
	if less {
		b.admit()
		return
	}
	if missing := b.makeRoom(&waiter{s: s}); missing > 0 {
		if most := b.largest(false); most != nil && most.giveWay != nil {
			b.tell(most)
		}
	}
}

// largest is the share that keeps the most bytes from being freed, of all or of those that were not
// told to give way; nil: none does.
func (b *Budget) largest(all bool) (most *Share) {
	for s := range b.readers {
		if (all || !s.told) && (most == nil || s.pinned > most.pinned) {
			most = s
		}
	}
	return most
}

// pinned is how many bytes are kept from being freed.
func (b *Budget) pinned() int64 {
	if most := b.largest(true); most != nil {
		return most.pinned
	}
	return 0
}
