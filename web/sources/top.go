package sources

import (
	"cmp"
	"context"
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// Top returns the messages that come first of all that match f in the order of an operand's values,
// at most r.Limit; of equal ones, the newest come first. It waits its turn as Find does.
func (v View) Top(
	ctx context.Context, f *query.Filter, r Request, by *query.Operand, descending bool,
) (p Page, err error) {
	release, err := v.set.Queries.Acquire(ctx)
	if err != nil {
		return p, err
	}
	defer release()
	r.Budget, r.Ascending = cmp.Or(r.Budget, v.set.Budget), false
	f = cmp.Or(f, v.set.all)
	p.Complete = true
	for i, snap := range v.snaps {
		found, err := f.Top(ctx, snap, v.scan(i, r), by, descending)
		if len(v.snaps) == 1 {
			p.Page = found
			return p, err
		}
		p.Filter, p.Keys = found.Filter, found.Keys
		p.Matched += found.Matched
		p.Complete = p.Complete && found.Complete
		p.Messages = append(p.Messages, found.Messages...)
		addScan(&p.Explain, found.Explain)
		if err != nil {
			return p, err
		}
	}
	slices.SortStableFunc(p.Messages, func(a, b archive.Message) int {
		return cmp.Compare(b.ReceivedUnixNano(), a.ReceivedUnixNano())
	})
	p.Messages = query.Sort(p.Messages, by, descending, r.Dialect)
	p.Messages = p.Messages[:min(len(p.Messages), cmp.Or(max(r.Limit, 0), defaultLimit))]
	return p, nil
}
