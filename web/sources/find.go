package sources

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web/budget"
)

// Find returns a page of the messages that match f, newest first also where the request is for the
// oldest: then they are those next to its cursor. A nil filter matches all. It waits its turn among
// other questions; the error is budget.ErrBusy or that of ctx.
func (v View) Find(ctx context.Context, f *query.Filter, r query.PageRequest) (query.Page, error) {
	p, err := v.look(ctx, f, r)
	slices.SortFunc(p.Messages, func(a, b archive.Message) int { return cmp.Compare(b.Seq(), a.Seq()) })
	return p, err
}

// look is Find in the order of the request.
func (v View) look(ctx context.Context, f *query.Filter, r query.PageRequest) (query.Page, error) {
	release, err := v.set.Queries.Acquire(ctx)
	if err != nil {
		return query.Page{}, err
	}
	defer release()
	r.Budget = cmp.Or(r.Budget, v.set.Budget)
	return cmp.Or(f, v.set.all).Page(ctx, v.snap, v.scan(r))
}

// scan is r over what v holds.
func (v View) scan(r query.PageRequest) query.PageRequest {
	r.ArchiveDialect = v.set.Source.Archive.Dialect()
	r.Now = v.set.Now
	return r
}

// neighbourBudget is how long each neighbour of a message is looked for.
const neighbourBudget = 100 * time.Millisecond

// Older and Newer are the sequence numbers of the messages next to one under a filter; 0 where
// there is none, or none is found in time.
func (v View) Older(ctx context.Context, f *query.Filter, r query.PageRequest, seq uint64) uint64 {
	r.Before, r.After = seq, 0
	return v.next(ctx, f, r)
}

// Newer is described with Older.
func (v View) Newer(ctx context.Context, f *query.Filter, r query.PageRequest, seq uint64) uint64 {
	r.Before, r.After = 0, seq
	return v.next(ctx, f, r)
}

func (v View) next(ctx context.Context, f *query.Filter, r query.PageRequest) uint64 {
	r.Ascending, r.Limit, r.Budget = r.After != 0, 1, neighbourBudget
	p, err := v.look(ctx, f, r)
	if err != nil || len(p.Messages) == 0 {
		return 0
	}
	return p.Messages[0].Seq()
}

const (
	// alikeTime is how long the nearest message with the same exchange and routing key is looked
	// for.
	alikeTime = 500 * time.Millisecond
	// alikeChecks is how many messages are compared between two looks at the clock.
	alikeChecks = 1024
)

// Alike is the nearest older or newer message with the exchange and routing key of m. ok is false
// where none is kept, or none is found in time.
func (v View) Alike(ctx context.Context, m archive.Message, older bool) (alike archive.Message, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, alikeTime)
	defer cancel()
	others := v.snap.Forward(m.Seq())
	if older {
		others = v.snap.Backward(m.Seq())
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

// Range is a run of messages that match: Count of them, from First to Last.
type Range struct {
	First, Last uint64
	Count       int
	// More: older ones match too.
	More bool
}

// maxLook is how many messages of a range are looked for at a time.
const maxLook = 1000

// Newest is the range of the newest matches within a request, at most most of them.
func (s *Set) Newest(ctx context.Context, f *query.Filter, r query.PageRequest, most int) (Range, error) {
	var found Range
	r.Ascending, r.IncludeDamaged = false, false
	r.Before = cmp.Or(r.Before, s.View().Last()+1)
	for {
		r.Limit = min(most+1-found.Count, maxLook)
		p, err := s.View().look(ctx, f, r)
		if err != nil {
			return found, err
		}
		for _, m := range p.Messages {
			if found.Count == most {
				found.More = true
				return found, nil
			}
			if found.Count == 0 {
				found.Last = m.Seq()
			}
			found.First = m.Seq()
			found.Count++
		}
		if r.Before = p.Next; r.Before == 0 {
			return found, nil
		}
	}
}

// Room is memory for clones of messages, in bytes.
type Room interface {
	Take(n int64) error
	Give(n int64)
}

// eachLook is how many messages Each looks up at a time.
const eachLook = 200

// Each calls do for the messages of a range, oldest first, until it fails. The messages are clones,
// and nothing of the archive is kept meanwhile: what is evicted before its turn is left out, so
// that do is called less often than the range counts. Their bytes are taken from room before. It
// waits its turn for as long as ctx lasts.
func (s *Set) Each(
	ctx context.Context, f *query.Filter, r query.PageRequest, over Range,
	room Room, do func(archive.Message) error,
) error {
	one := func(seq uint64) error {
		n, err := s.bytes(seq)
		if err != nil {
			return nil // evicted
		}
		if room != nil {
			if err := room.Take(n); err != nil {
				return err
			}
			defer room.Give(n)
		}
		m, err := s.clone(seq)
		if err != nil {
			return nil
		}
		return do(m)
	}
	seqs := make([]uint64, 0, eachLook)
	r.Ascending, r.IncludeDamaged, r.Limit = true, false, eachLook
	for after := over.First - 1; over.Count > 0; {
		r.After, r.Before = after, over.Last+1
		p, err := s.View().look(ctx, f, r)
		if errors.Is(err, budget.ErrBusy) {
			continue
		}
		if err != nil {
			return err
		}
		seqs = seqs[:0]
		for _, m := range p.Messages {
			seqs = append(seqs, m.Seq())
		}
		after, p = p.Next, query.Page{}
		for _, seq := range seqs {
			if err := one(seq); err != nil {
				return err
			}
		}
		if after == 0 {
			break
		}
	}
	return nil
}

// bytes and clone look at a message and let go of the archive again.

func (s *Set) bytes(seq uint64) (int64, error) {
	m, err := s.Source.Archive.Snapshot().Get(seq)
	return int64(m.Bytes()), err
}

func (s *Set) clone(seq uint64) (archive.Message, error) {
	m, err := s.Source.Archive.Snapshot().Get(seq)
	return m.Clone(), err
}
