package web

import (
	"sync"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/listing"
)

const (
	maxKeys = 200         // header names in the panel
	keysFor = time.Second // how long a count of the names serves
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
func (c *keyCache) list(snap archive.Snapshot, limit int, active map[string]bool) listing.KeyList {
	counts := c.counts(snap)
	l := listing.KeyList{More: max(0, len(counts)-limit)}
	if snap.Last() >= snap.First() {
		l.Messages = snap.Last() - snap.First() + 1
	}
	l.Keys, l.Active = counts[:min(limit, len(counts))], active
	return l
}
