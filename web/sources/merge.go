package sources

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// Request says which messages of a view to look at, and how. Its Before and After are not used:
// Under and Over take their place.
type Request struct {
	query.PageRequest
	// Under and Over are places that the messages are below and above; nil: there is none.
	Under, Over Position
}

// Page is some of the messages that match.
type Page struct {
	query.Page
	// Next is the place to go on from, as the next request's Under, or its Over where the order is
	// oldest first; nil: there is nothing further.
	Next Position
}

// defaultLimit is that of query.PageRequest.
const defaultLimit = 100

// page is a page in the order of the request.
func (v View) page(ctx context.Context, f *query.Filter, r Request) (Page, error) {
	r.Budget = cmp.Or(r.Budget, v.set.Budget)
	f = cmp.Or(f, v.set.all)
	if len(v.members) == 1 {
		found, err := f.Page(ctx, v.snaps[0], v.scan(0, r))
		p := Page{Page: found}
		if found.Next != 0 {
			p.Next = Position{boundary(found.Next, r.Ascending)}
		}
		return p, err
	}
	return v.merge(ctx, f, r)
}

// boundary is where a page ended, as a place.
func boundary(next uint64, ascending bool) uint64 {
	if ascending {
		return next
	}
	return next - 1
}

// scan is r for one of the sources.
func (v View) scan(i int, r Request) query.PageRequest {
	one := r.PageRequest
	one.ArchiveDialect = v.members[i].Archive.Dialect()
	one.Now = v.set.Now
	one.Before, one.After = 0, 0
	if r.Under != nil {
		one.Before = min(r.Under[i], math.MaxUint64-1) + 1
	}
	if r.Over != nil {
		one.After = r.Over[i]
		if !r.Ascending && r.Under == nil {
			one.Before = v.snaps[i].Last() + 1
		}
	}
	return one
}

// flow is the matches of one source, in order, found a few at a time.
type flow struct {
	found []archive.Message // the next ones
	next  uint64            // where to look for more; 0: nowhere
	more  int               // how many to look for
}

// wants reports whether the next match is not known and there may be one.
func (f flow) wants() bool { return f.found == nil || len(f.found) == 0 && f.next != 0 }

// least is how many matches of each source are looked for first. With many sources most of what is
// looked for beyond that would not be shown.
const least = 2

// merge is a page over several sources: each time the newest of the next messages of all, or the
// oldest. What is shown of a source is in its own order whatever its clock has done.
func (v View) merge(ctx context.Context, f *query.Filter, r Request) (p Page, _ error) {
	begun := v.set.Now()
	budget := cmp.Or(r.Budget, query.DefaultBudget)
	limit := cmp.Or(max(r.Limit, 0), defaultLimit)
	p.Filter, p.Keys = f.String(), f.Keys()
	var scratch query.Scratch
	flows := make([]flow, len(v.members))
	fetch := func(i int, within time.Duration) error {
		one := v.scan(i, r)
		one.Limit, one.Budget = flows[i].more, max(within, 1)
		if flows[i].next != 0 && r.Ascending {
			one.After = flows[i].next
		} else if flows[i].next != 0 {
			one.Before = flows[i].next
		}
		found, err := f.Page(ctx, v.snaps[i], one)
		first := flows[i].found == nil
		flows[i] = flow{found.Messages, found.Next, min(2*flows[i].more, limit)}
		if flows[i].found == nil {
			flows[i].found = []archive.Message{}
		}
		add(&p.Explain, found.Explain, first)
		return err
	}
	for i := range flows {
		flows[i].more = max(least, limit/len(flows)+1)
	}
	// heads has the next match of each source found, as far as there is one and time for it.
	heads := func() (ok bool, err error) {
		for i := range flows {
			for flows[i].wants() {
				left := budget - v.set.Now().Sub(begun)
				if flows[i].found != nil && left <= 0 {
					return false, nil
				}
				if flows[i].found == nil {
					left /= time.Duration(len(flows) - i) // so that each gets its turn
				}
				if err := fetch(i, left); err != nil {
					return false, err
				}
				if flows[i].wants() {
					break
				}
			}
		}
		return !slices.ContainsFunc(flows, flow.wants), nil
	}
	for len(p.Messages) < limit {
		ok, err := heads()
		if err != nil {
			return p, err
		}
		if !ok && budget > v.set.Now().Sub(begun) {
			continue
		}
		at := -1
		for i := range flows {
			if len(flows[i].found) > 0 && (at < 0 || ahead(flows[i].found[0], flows[at].found[0], r.Ascending)) {
				at = i
			}
		}
		if !ok || at < 0 {
			break
		}
		m := flows[at].found[0]
		flows[at].found = flows[at].found[1:]
		p.Messages = append(p.Messages, m)
		if !r.IncludeDamaged || f.Match(m, cmp.Or(r.Dialect, v.members[at].Archive.Dialect()), &scratch) == query.Yes {
			p.Matched++
		}
	}
	p.Elapsed = v.set.Now().Sub(begun)
	p.Next = v.rest(flows, r)
	p.Complete = p.Next == nil
	return p, nil
}

// ahead reports whether a comes before b, of an earlier source, in a page.
func ahead(a, b archive.Message, ascending bool) bool {
	if ascending {
		return a.ReceivedUnixNano() < b.ReceivedUnixNano()
	}
	return a.ReceivedUnixNano() >= b.ReceivedUnixNano()
}

// rest is where the flows go on; nil: all have ended.
func (v View) rest(flows []flow, r Request) Position {
	p := make(Position, len(flows))
	further := false
	for i, f := range flows {
		switch {
		case len(f.found) > 0 && r.Ascending:
			p[i] = f.found[0].Seq() - 1
		case len(f.found) > 0:
			p[i] = f.found[0].Seq()
		case f.next != 0:
			p[i] = boundary(f.next, r.Ascending)
		case r.Ascending:
			p[i] = v.snaps[i].Last()
			if r.Under != nil {
				p[i] = min(p[i], r.Under[i])
			}
		}
		further = further || len(f.found) > 0 || f.next != 0
	}
	if !further {
		return nil
	}
	return p
}

// add adds what one source cost. Its shapes are counted once.
func add(to *query.Explain, of query.Explain, first bool) {
	if first {
		to.Shapes += of.Shapes
		to.ShapesMatched += of.ShapesMatched
	}
	to.Scanned += of.Scanned
	to.Skipped += of.Skipped
	to.Answered += of.Answered
	for _, c := range of.Columns {
		if !slices.Contains(to.Columns, c) {
			to.Columns = append(to.Columns, c)
		}
	}
	to.Damaged += of.Damaged
	to.BytesRead += of.BytesRead
	to.Decoded += of.Decoded
}
