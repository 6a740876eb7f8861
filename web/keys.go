package web

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views"
)

const (
	maxKeys  = 200         // header names in the panel
	keysFor  = time.Second // how long a count of the names serves
	nearKeys = 3           // names offered when a filter matches nothing
)

// keyCache holds the count of header names that pages and live feeds share.
type keyCache struct {
	now func() time.Time

	mu   sync.Mutex
	at   time.Time          // guarded by mu; when keys were counted
	last uint64             // guarded by mu; the newest message then
	keys []archive.KeyCount // guarded by mu; never changed, only replaced
}

// counts returns the header names of snap, or those of up to a second before.
func (c *keyCache) counts(snap archive.Snapshot) []archive.KeyCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.at.IsZero() || snap.Last() != c.last && now.Sub(c.at) >= keysFor {
		c.keys, c.at, c.last = snap.Keys(), now, snap.Last()
	}
	return c.keys
}

// list draws the most frequent names, at most limit of them.
func (c *keyCache) list(snap archive.Snapshot, limit int, active map[string]bool) views.KeyList {
	counts := c.counts(snap)
	l := views.KeyList{More: max(0, len(counts)-limit)}
	if snap.Last() >= snap.First() {
		l.Messages = snap.Last() - snap.First() + 1
	}
	for _, k := range counts[:min(limit, len(counts))] {
		key := views.Key{Name: []byte(k.Key), Count: k.Count, Active: active[k.Key]}
		for tag, n := range k.Tags {
			key.Tags = append(key.Tags, views.TagCount{Tag: tag, Count: n})
		}
		slices.SortFunc(key.Tags, func(a, b views.TagCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tag, b.Tag))
		})
		l.Keys = append(l.Keys, key)
	}
	return l
}

// nearest finds names that were seen and resemble one that a filter asks for
// and that was not.
func nearest(wanted []string, seen []archive.KeyCount) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	for _, w := range wanted {
		if slices.ContainsFunc(seen, func(k archive.KeyCount) bool { return k.Key == w }) {
			continue
		}
		for _, k := range seen[:min(len(seen), maxKeys)] {
			if d := distance(fold(w), fold(k.Key)); d <= max(len(w)/3, 1) {
				found = append(found, near{k.Key, d})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.distance - b.distance })
	var names []string
	for _, n := range found[:min(len(found), nearKeys)] {
		names = append(names, n.name)
	}
	return slices.Compact(names)
}

// fold makes names comparable that differ only in case and punctuation.
func fold(s string) string {
	const most = 64
	s = s[:min(len(s), most)]
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', '.', ':', ' ':
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// distance is the number of bytes to insert, delete or replace to get from a
// to b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
