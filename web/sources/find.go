package sources

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web/budget"
)

// Find returns a page of the messages that match f, newest first also where the request is for the
// oldest: then they are those next to its place. A nil filter matches all. It waits its turn among
// other questions; the error is budget.ErrBusy or that of ctx.
func (v View) Find(ctx context.Context, f *query.Filter, r Request) (Page, error) {
	p, err := v.look(ctx, f, r)
	if r.Ascending {
		slices.Reverse(p.Messages)
	}
	return p, err
}

// look is Find in the order of the request.
func (v View) look(ctx context.Context, f *query.Filter, r Request) (Page, error) {
	release, err := v.set.Queries.Acquire(ctx)
	if err != nil {
		return Page{}, err
	}
	defer release()
	return v.page(ctx, f, r)
}

// neighbourBudget is how long each neighbour of a message is looked for.
const neighbourBudget = 100 * time.Millisecond

// Older and Newer are the messages next to one under a filter; the zero Message where there is
// none, or none is found in time.
func (v View) Older(ctx context.Context, f *query.Filter, r Request, m archive.Message) archive.Message {
	r.Under, r.Over, r.Ascending = v.Below(m), nil, false
	return v.next(ctx, f, r)
}

// Newer is described with Older.
func (v View) Newer(ctx context.Context, f *query.Filter, r Request, m archive.Message) archive.Message {
	r.Under, r.Over, r.Ascending = nil, v.Above(m), true
	return v.next(ctx, f, r)
}

func (v View) next(ctx context.Context, f *query.Filter, r Request) archive.Message {
	r.Limit, r.Budget = 1, neighbourBudget
	p, err := v.look(ctx, f, r)
	if err != nil || len(p.Messages) == 0 {
		return archive.Message{}
	}
	return p.Messages[0]
}

const (
	// alikeTime is how long the nearest message with the same exchange and routing key is looked
	// for.
	alikeTime = 500 * time.Millisecond
	// alikeChecks is how many messages are compared between two looks at the clock.
	alikeChecks = 1024
)

// Alike is the nearest older or newer message of the same source with the exchange and routing key
// of m. ok is false where none is kept, or none is found in time.
func (v View) Alike(ctx context.Context, m archive.Message, older bool) (alike archive.Message, ok bool) {
	at := v.of(m)
	if at < 0 {
		return alike, false
	}
	ctx, cancel := context.WithTimeout(ctx, alikeTime)
	defer cancel()
	others := v.snaps[at].Forward(m.Seq())
	if older {
		others = v.snaps[at].Backward(m.Seq())
	}
	n := 0
	for other := range others {
		if bytes.Equal(other.RoutingKey(), m.RoutingKey()) && bytes.Equal(other.Exchange(), m.Exchange()) {
			return other, true
		}
		if n++; n%alikeChecks == 0 && ctx.Err() != nil {
			break
		}
	}
	return alike, false
}

// Printed is the newest message of a source that is the one meant. ok is false where none is kept,
// or none is found in time.
func (v View) Printed(ctx context.Context, name string, meant func(archive.Message) bool) (m archive.Message, ok bool) {
	v, err := v.Alone(name)
	if err != nil {
		return m, false
	}
	ctx, cancel := context.WithTimeout(ctx, alikeTime)
	defer cancel()
	n := 0
	for m := range v.snaps[0].Backward(0) {
		if meant(m) {
			return m, true
		}
		if n++; n%alikeChecks == 0 && ctx.Err() != nil {
			break
		}
	}
	return m, false
}

// Range is a run of messages that match: Count of them, all that are above From and below To.
type Range struct {
	From, To Position
	Count    int
	// More: older ones match too.
	More bool
	// Last is the largest sequence number among them.
	Last uint64
}

// maxLook is how many messages of a range are looked for at a time.
const maxLook = 1000

// Newest is the range of the newest matches within a request, at most most of them.
func (v View) Newest(ctx context.Context, f *query.Filter, r Request, most int) (Range, error) {
	r.Ascending, r.IncludeDamaged = false, false
	if r.Under == nil {
		r.Under = v.Now().End()
	}
	found := Range{From: r.Under, To: r.Under}
	v = v.At(nil) // snapshots keep what is evicted meanwhile
	for {
		r.Limit = min(most+1-found.Count, maxLook)
		err := v.lookNow(ctx, f, r, func(p Page) {
			some := p.Messages[:min(len(p.Messages), most-found.Count)]
			found.From = v.Lowest(some, found.From)
			for _, m := range some {
				found.Last = max(found.Last, m.Seq())
			}
			found.Count += len(some)
			found.More = len(some) < len(p.Messages)
			r.Under = p.Next
		})
		if err != nil || r.Under == nil || found.More {
			return found, err
		}
	}
}

// lookNow shows what a look finds now. Nothing of the archives is kept while it waits its turn, nor
// when it returns.
func (v View) lookNow(ctx context.Context, f *query.Filter, r Request, show func(Page)) error {
	release, err := v.set.Queries.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer budget.BeginReading(ctx)()
	p, err := v.Now().page(ctx, f, r)
	if err == nil {
		show(p)
	}
	return err
}

// eachLook is how many messages Each looks up at a time.
const eachLook = 200

// Each calls do for the messages of a range, oldest first, until it fails. The messages are clones,
// and nothing of the archives is kept meanwhile: what is evicted before its turn is left out, so
// that do is called less often than the range counts. Their bytes are taken from room before. It
// waits its turn for as long as ctx lasts.
func (v View) Each(
	ctx context.Context, f *query.Filter, r Request, over Range,
	room Room, do func(archive.Message) error,
) error {
	v = v.At(nil) // snapshots keep what is evicted meanwhile
	one := func(at place) error {
		n, err := v.bytes(at)
		if err != nil {
			return nil // evicted
		}
		if room != nil {
			if err := room.Take(n); err != nil {
				return err
			}
			defer room.Give(n)
		}
		m, err := v.clone(at)
		if err != nil {
			return nil
		}
		return do(m)
	}
	places := make([]place, 0, eachLook)
	r.Ascending, r.IncludeDamaged, r.Limit = true, false, eachLook
	for r.Over, r.Under = over.From, over.To; over.Count > 0 && r.Over != nil; {
		var next Position
		var err error
		places, next, err = v.places(ctx, f, r, places[:0])
		if errors.Is(err, budget.ErrBusy) {
			continue
		}
		if err != nil {
			return err
		}
		r.Over = next
		for _, at := range places {
			if err := one(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// place is where a message is, without its memory.
type place struct {
	member int
	seq    uint64
}

// places are those of a page, and where to go on.
func (v View) places(ctx context.Context, f *query.Filter, r Request, dst []place) ([]place, Position, error) {
	var next Position
	err := v.lookNow(ctx, f, r, func(p Page) {
		for _, m := range p.Messages {
			dst = append(dst, place{v.of(m), m.Seq()})
		}
		next = p.Next
	})
	return dst, next, err
}

// bytes and clone look at a message and let go of the archive again.

func (v View) bytes(at place) (int64, error) {
	m, err := v.members[at.member].Archive.Snapshot().Get(at.seq)
	return int64(m.Bytes()), err
}

func (v View) clone(at place) (archive.Message, error) {
	m, err := v.members[at.member].Archive.Snapshot().Get(at.seq)
	return m.Clone(), err
}
