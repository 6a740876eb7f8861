package sources

import (
	"context"
	"sync"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// namesFor is how long a count of the names serves.
const namesFor = time.Second

// names holds the count of header names that pages and live feeds share.
type names struct {
	now func() time.Time

	mu      sync.Mutex
	at      time.Time          // guarded by mu; when they were counted
	last    uint64             // guarded by mu; the newest message then
	counts  []archive.KeyCount // guarded by mu; never changed, only replaced
	damaged uint64             // guarded by mu
}

// Names are the header names that are kept and how many messages carry each, the most frequent
// first, as of now or up to a second before. The result must not be changed.
func (v View) Names() []archive.KeyCount {
	keys, _ := v.names()
	return keys
}

// AllNames are the names of everything kept, with how many messages are damaged, as of the same
// time.
func (v View) AllNames() query.Names {
	keys, damaged := v.names()
	return query.Names{Keys: keys, Matched: v.Kept(), Damaged: damaged, Complete: true}
}

func (v View) names() ([]archive.KeyCount, uint64) {
	n := &v.set.names
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.now()
	if n.at.IsZero() || v.Last() != n.last && now.Sub(n.at) >= namesFor {
		n.counts, n.damaged, n.at, n.last = v.snap.Keys(), v.snap.Damaged(), now, v.Last()
	}
	return n.counts, n.damaged
}

// CountNames counts the names anew. It waits its turn as Find does.
func (v View) CountNames(ctx context.Context) ([]archive.KeyCount, error) {
	release, err := v.set.Queries.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return v.snap.Keys(), nil
}

// Complete offers names for the word that ends at a byte of a filter, at most most; see
// [query.Complete].
func (v View) Complete(filter string, at, most int) (items []query.Completion, start int) {
	return query.Complete(v.snap, filter, at, most)
}
