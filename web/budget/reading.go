package budget

import (
	"context"
	"time"
)

// Messages that are evicted while work reads them stay in memory until it is done. They are charged
// to it: all work that reads at one time keeps no more than what was evicted since the oldest
// began, so that only what that keeps counts.

// readingTick is how often work that reads is looked at. What is over before costs nothing.
const readingTick = Wait / 10

// Reads says how many bytes have ever been evicted of what work reads. It is called before any
// work.
func (b *Budget) Reads(evicted func() int64) { b.evicted = evicted }

// BeginReading says that the work begins to read. It must come before what is read is looked up.
func (s *Share) BeginReading() {
	b := s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	s.from = b.evicted()
	b.readers[s] = struct{}{}
	switch {
	case b.ticking:
	case b.ticker == nil:
		b.ticker = time.AfterFunc(readingTick, b.tick)
	default:
		b.ticker.Reset(readingTick)
	}
	b.ticking = true
}

// EndReading says that nothing is kept any more. It may be called again.
func (s *Share) EndReading() {
	b := s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.readers, s)
	if s.pinned > 0 {
		s.pinned = 0
		b.admit()
	}
}

// tick charges all that read. Where there is too much, others give way as they would for as many
// bytes taken, and else the work that keeps the most.
func (b *Budget) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ticking = len(b.readers) > 0
	if !b.ticking {
		return
	}
	b.ticker.Reset(readingTick)
	evicted := b.evicted()
	for s := range b.readers {
		s.pinned = evicted - s.from
	}
	most := b.largest(false)
	if most != nil && b.makeRoom(&waiter{s: most}) > 0 && most.giveWay != nil {
		b.tell(most)
	}
}

type shareKey struct{}

// With is a context of the share's work, which says by BeginReading when it reads.
func (s *Share) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, shareKey{}, s)
}

// BeginReading is that of the share that ctx has, if it has one; end ends it.
func BeginReading(ctx context.Context) (end func()) {
	s, ok := ctx.Value(shareKey{}).(*Share)
	if !ok {
		return func() {}
	}
	s.BeginReading()
	return s.EndReading
}

// largest is the share that keeps the most bytes from being freed, of all or of those that were not
// told to give way; nil: none does.
func (b *Budget) largest(all bool) (most *Share) {
	for s := range b.readers {
		if s.pinned > 0 && (all || !s.told) && (most == nil || s.pinned > most.pinned) {
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
