// Package budget bounds the memory of work in progress: pages drawn and not yet read, exports, live
// feeds, uploads. Work is admitted by bytes, not by number. It takes from a Budget before it
// allocates, waits a moment where there is too little, and is then refused.
//
// A budget must not be a way to lock others out. Whoever asks for more than is free gets it from
// the address that holds the most, and there first from work that waits for a peer that does not
// read: it is told to give way. So no number of requests from one address keeps another from its
// page, however slowly that is read.
package budget

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrFull refuses work for which the budget has too few bytes.
var ErrFull = errors.New("budget: too much work in progress")

// Kind says what bytes are for.
type Kind uint8

const (
	Page   Kind = iota // an answer that is made whole before it is sent, or an upload
	Export             // a download that is written as it is read
	Feed               // a live feed
	kinds
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Page, Export, Feed} }

func (k Kind) String() string { return [...]string{"page", "export", "feed"}[k] }

// share is the part of a budget that work of a kind may hold. What people wait for always finds
// room beside what lasts.
func (k Kind) share(max int64) int64 {
	switch k {
	case Export:
		return max / 2
	case Feed:
		return max / 4
	}
	return max
}

const (
	// Wait is how long work waits before it is refused.
	Wait = time.Second
	// Patience is how long work may wait for its peer before it gives way to others.
	Patience = Wait / 2
)

// Budget is a number of bytes. It is safe for concurrent use.
type Budget struct {
	max     int64
	evicted func() int64

	mu      sync.Mutex
	held    [kinds]int64        // guarded by mu; the sum of the shares' bytes
	shares  map[*Share]struct{} // guarded by mu; those that hold bytes
	readers map[*Share]struct{} // guarded by mu; those that read
	ticking bool                // guarded by mu; the ticker is under way
	ticker  *time.Timer         // guarded by mu
	holders map[string]int64    // guarded by mu; bytes by address, no zeros
	queue   []*waiter           // guarded by mu; oldest first
	refused [kinds]uint64       // guarded by mu
	revoked [kinds]uint64       // guarded by mu
}

// Share is what one piece of work holds. It belongs to one goroutine, unless noted.
type Share struct {
	b    *Budget
	kind Kind
	addr string
	// giveWay ends the work so that it releases its bytes soon. It is called at most once, by
	// another goroutine, with the budget locked.
	giveWay func()

	n       int64     // guarded by b.mu
	stalled time.Time // guarded by b.mu; since when it waits for its peer; zero: it does not
	told    bool      // guarded by b.mu; giveWay was called
	toldAt  time.Time // guarded by b.mu
	from    int64     // guarded by b.mu; bytes ever evicted when it began to read
	pinned  int64     // guarded by b.mu; bytes kept from being freed
}

// waiter is work that waits for n bytes more.
type waiter struct {
	s     *Share
	n     int64
	ready chan struct{} // closed once s has them
}

// New returns a budget of max bytes.
func New(max int64) *Budget {
	return &Budget{
		max:     max,
		evicted: func() int64 { return 0 },
		shares:  make(map[*Share]struct{}),
		readers: make(map[*Share]struct{}),
		holders: make(map[string]int64),
	}
}

// Take takes n bytes for work of a kind that addr asked for, and which giveWay ends; nil: it does
// not give way. The caller releases the share. The error is ErrFull or that of ctx.
func (b *Budget) Take(ctx context.Context, kind Kind, addr string, n int64, giveWay func()) (*Share, error) {
	s := &Share{b: b, kind: kind, addr: addr, giveWay: giveWay}
	if err := s.Grow(ctx, n); err != nil {
		return nil, err
	}
	return s, nil
}

// Open returns a share without bytes, of work that does not give way.
func (b *Budget) Open(kind Kind, addr string) *Share {
	return &Share{b: b, kind: kind, addr: addr}
}

// Grow takes n bytes more. What is larger than the budget counts as all of it.
func (s *Share) Grow(ctx context.Context, n int64) error {
	b := s.b
	b.mu.Lock()
	n = min(n, max(s.kind.share(b.max)-s.n, 0))
	if len(b.queue) == 0 && b.fits(s, n) || n <= 0 {
		b.add(s, n)
		b.mu.Unlock()
		return nil
	}
	w := &waiter{s: s, n: n, ready: make(chan struct{})}
	b.queue = append(b.queue, w)
	b.makeRoom(w)
	b.admit()
	b.mu.Unlock()

	timer := time.NewTimer(Wait)
	defer timer.Stop()
	tick := time.NewTicker(Patience / 8) // others may have begun to stall
	defer tick.Stop()
	for {
		var err error
		select {
		case <-w.ready:
			return nil
		case <-tick.C:
			b.mu.Lock()
			b.makeRoom(w)
			b.mu.Unlock()
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
			err = ErrFull
		}
		if b.leave(w, err == ErrFull) {
			return err
		}
		return nil
	}
}

// TryGrow takes n bytes more if they are free. Nobody gives way for them.
func (s *Share) TryGrow(n int64) bool {
	b := s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) > 0 || !b.fits(s, n) {
		return false
	}
	b.add(s, n)
	return true
}

// leave takes w out of the queue, unless it has got its bytes meanwhile.
func (b *Budget) leave(w *waiter, refused bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.queue {
		if other == w {
			b.queue = append(b.queue[:i], b.queue[i+1:]...)
			if refused {
				b.refused[w.s.kind]++
			}
			b.admit()
			return true
		}
	}
	return false
}

// Release gives everything back. It may be called again.
func (s *Share) Release() { s.Shrink(1<<63 - 1) }

// Shrink gives n bytes back, or what there is.
func (s *Share) Shrink(n int64) {
	b := s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s, -min(n, s.n))
	b.admit()
}

// Stall says that the work begins to wait for its peer, and Resume that it goes on.
func (s *Share) Stall() {
	now := time.Now()
	s.b.mu.Lock()
	s.stalled = now
	s.b.mu.Unlock()
}

func (s *Share) Resume() {
	s.b.mu.Lock()
	s.stalled = time.Time{}
	s.b.mu.Unlock()
}

// add changes what a share holds.
func (b *Budget) add(s *Share, n int64) {
	s.n += n
	b.held[s.kind] += n
	if b.holders[s.addr] += n; b.holders[s.addr] == 0 {
		delete(b.holders, s.addr)
	}
	if s.n > 0 {
		b.shares[s] = struct{}{}
	} else {
		delete(b.shares, s)
	}
}

func (b *Budget) total() (n int64) {
	for _, held := range b.held {
		n += held
	}
	return n
}

// missing is how many bytes must be given back before s can have n more.
func (b *Budget) missing(s *Share, n int64) int64 {
	return max(b.total()+b.pinned()+n-b.max, b.held[s.kind]+n-s.kind.share(b.max))
}

func (b *Budget) fits(s *Share, n int64) bool { return b.missing(s, n) <= 0 }

// admit serves the queue. What does not fit holds up only others of its address, so that much work
// of one does not keep another's little waiting.
func (b *Budget) admit() {
	var behind map[string]bool
	rest := b.queue[:0]
	for _, w := range b.queue {
		if !behind[w.s.addr] && b.fits(w.s, w.n) {
			b.add(w.s, w.n)
			close(w.ready)
			continue
		}
		if behind == nil {
			behind = make(map[string]bool)
		}
		behind[w.s.addr] = true
		rest = append(rest, w)
	}
	clear(b.queue[len(rest):])
	b.queue = rest
}

// makeRoom tells work to give way, until there will be room for w: of the address that holds the
// most first what has waited for its peer for longer than Patience, the longest first; then the
// largest, if the address holds more than w's own. What waits for its peer gives way also to its
// own address. It returns how many bytes are missing when all of these have given way.
func (b *Budget) makeRoom(w *waiter) (missing int64) {
	held, kind := b.total()+w.n, b.held[w.s.kind]+w.n
	overKind := kind > w.s.kind.share(b.max)
	now := time.Now()
	for s := range b.shares {
		if s.told && now.Sub(s.toldAt) < Patience { // it will; else it may be long
			held -= s.n
			if s.kind == w.s.kind {
				kind -= s.n
			}
		}
	}
	for {
		var pinned int64
		most := b.largest(false)
		if most != nil {
			pinned = most.pinned
		}
		missing = max(held+pinned-b.max, kind-w.s.kind.share(b.max))
		if missing <= 0 {
			return 0
		}
		victim := b.victim(w, most, overKind)
		if victim == nil {
			return missing
		}
		b.tell(victim)
		held -= victim.n
		if victim.kind == w.s.kind {
			kind -= victim.n
		}
	}
}

// tell has work give way.
func (b *Budget) tell(victim *Share) {
	victim.told, victim.toldAt = true, time.Now()
	b.revoked[victim.kind]++
	victim.giveWay()
}

func (b *Budget) victim(w *waiter, reader *Share, sameKind bool) *Share {
	now := time.Now()
	holds := func(addr string) int64 {
		n := b.holders[addr]
		if reader != nil && reader.addr == addr {
			n += reader.pinned
		}
		return n
	}
	takes := func(s *Share) int64 {
		if s == reader {
			return s.n + s.pinned
		}
		return s.n
	}
	own := holds(w.s.addr) + w.n
	var found *Share
	foundStalled := false
	for s := range b.shares {
		if s == w.s || s.told || s.giveWay == nil || sameKind && s.kind != w.s.kind {
			continue
		}
		stalled := !s.stalled.IsZero() && now.Sub(s.stalled) >= Patience
		if !stalled && (s.addr == w.s.addr || holds(s.addr) <= own) {
			continue
		}
		better := found == nil
		if !better {
			switch more := holds(s.addr) - holds(found.addr); {
			case more != 0:
				better = more > 0
			case stalled != foundStalled:
				better = stalled
			case stalled:
				better = s.stalled.Before(found.stalled)
			default:
				better = s.addr == found.addr && takes(s) > takes(found)
			}
		}
		if better {
			found, foundStalled = s, stalled
		}
	}
	return found
}

// Stats are figures about a budget at one moment; arrays are by Kind.
type Stats struct {
	Max     int64         // bytes
	Waiting int           // pieces of work that wait for bytes
	Pinned  int64         // bytes evicted that work still reads
	Held    [kinds]int64  // bytes
	Refused [kinds]uint64 // pieces of work ever
	Revoked [kinds]uint64 // pieces of work that gave way, ever
}

// Stats returns figures about the budget now.
func (b *Budget) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Stats{
		Max:     b.max,
		Waiting: len(b.queue),
		Pinned:  b.pinned(),
		Held:    b.held,
		Refused: b.refused,
		Revoked: b.revoked,
	}
}
