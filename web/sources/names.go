package sources

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// namesFor is how long a count of the names serves.
const namesFor = time.Second

// names holds the count of header names that pages and live feeds of one view share.
type names struct {
	now func() time.Time

	mu      sync.Mutex
	at      time.Time          // guarded by mu; when they were counted
	end     Position           // guarded by mu; the newest messages then
	counts  []archive.KeyCount // guarded by mu; never changed, only replaced
	damaged uint64             // guarded by mu
}

// Names are the header names that are kept and how many messages carry each, the most frequent
// first, as of now or up to a second before. The result must not be changed.
func (v View) Names() []archive.KeyCount {
	keys, _ := v.counted()
	return keys
}

// AllNames are the names of everything kept, with how many messages are damaged, as of the same
// time.
func (v View) AllNames() query.Names {
	keys, damaged := v.counted()
	return query.Names{Keys: keys, Matched: v.Kept(), Damaged: damaged, Complete: true}
}

func (v View) counted() ([]archive.KeyCount, uint64) {
	n := v.names
	n.mu.Lock()
	defer n.mu.Unlock()
	now, end := n.now(), v.End()
	if n.at.IsZero() || !slices.Equal(end, n.end) && now.Sub(n.at) >= namesFor {
		n.at, n.end = now, end
		n.counts, n.damaged = v.countBoth()
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
	return v.countNames(), nil
}

func (v View) countNames() []archive.KeyCount {
	if len(v.snaps) == 1 {
		return v.snaps[0].Keys()
	}
	var all nameTotals
	for _, snap := range v.snaps {
		all.add(snap.Keys())
	}
	return all.list()
}

// countBoth counts names and damaged messages, of several sources by what is known of each.
func (v View) countBoth() ([]archive.KeyCount, uint64) {
	if len(v.snaps) == 1 {
		return v.snaps[0].Keys(), v.snaps[0].Damaged()
	}
	var all nameTotals
	var damaged uint64
	for i := range v.members {
		keys, n := v.alone(i).counted()
		all.add(keys)
		damaged += n
	}
	return all.list(), damaged
}

// matchedNames are the names of the messages that match.
func (v View) matchedNames(ctx context.Context, f *query.Filter, r Request) (sum query.Names, err error) {
	if len(v.snaps) == 1 {
		return f.Names(ctx, v.snaps[0], v.scan(0, r))
	}
	var all nameTotals
	sum.Complete = true
	for i, snap := range v.snaps {
		one, err := f.Names(ctx, snap, v.scan(i, r))
		all.addNames(&sum, one)
		addScan(&sum.Explain, one.Explain)
		if err != nil {
			return sum, err
		}
	}
	sum.Keys = all.list()
	return sum, nil
}

// namesOf are the names of some messages.
func (v View) namesOf(ms []archive.Message) (sum query.Names) {
	if len(v.snaps) == 1 {
		return query.NamesOf(v.snaps[0], ms)
	}
	apart := make([][]archive.Message, len(v.snaps))
	for _, m := range ms {
		if i := v.of(m); i >= 0 {
			apart[i] = append(apart[i], m)
		}
	}
	var all nameTotals
	sum.Complete = true
	for i, snap := range v.snaps {
		all.addNames(&sum, query.NamesOf(snap, apart[i]))
	}
	sum.Keys = all.list()
	return sum
}

// nameTotals adds up the names of several sources.
type nameTotals struct {
	at  map[string]int // into all
	all []archive.KeyCount
}

func (t *nameTotals) addNames(sum *query.Names, one query.Names) {
	sum.Matched += one.Matched
	sum.Damaged += one.Damaged
	sum.Complete = sum.Complete && one.Complete
	t.add(one.Keys)
}

func (t *nameTotals) add(keys []archive.KeyCount) {
	if t.at == nil {
		t.at = make(map[string]int)
	}
	for _, k := range keys {
		i, ok := t.at[k.Key]
		if !ok {
			if len(t.all) < archive.MaxKeys {
				t.at[k.Key] = len(t.all)
				k.Tags = maps.Clone(k.Tags)
				t.all = append(t.all, k)
			}
			continue
		}
		t.all[i].Count += k.Count
		t.all[i].Most = max(t.all[i].Most, k.Most)
		for tag, n := range k.Tags {
			t.all[i].Tags[tag] += n
		}
	}
}

// list is the most frequent first.
func (t *nameTotals) list() []archive.KeyCount {
	slices.SortFunc(t.all, func(a, b archive.KeyCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
	})
	return t.all
}

// Complete offers names for the word that ends at a byte of a filter, at most most; see
// [query.Complete].
func (v View) Complete(filter string, at, most int) (items []query.Completion, start int) {
	if len(v.snaps) == 1 {
		return query.Complete(v.snaps[0], filter, at, most)
	}
	seen := make(map[string]int)
	for _, snap := range v.snaps {
		var some []query.Completion
		some, start = query.Complete(snap, filter, at, most)
		for _, c := range some {
			if i, ok := seen[c.Insert]; ok {
				items[i].Count += c.Count
				continue
			}
			seen[c.Insert] = len(items)
			items = append(items, c)
		}
	}
	slices.SortStableFunc(items, func(a, b query.Completion) int { return cmp.Compare(b.Count, a.Count) })
	return items[:min(most, len(items))], start
}
