// Package sources holds the places that messages come from, and reads what is kept of them: pages,
// neighbours and ranges of messages, what they add up to, and the names of their headers. Whoever
// shows messages asks here and touches no archive.
//
// A question is asked of a [View]: of all sources together, whose messages are in the order of
// their receipt, or of one. A [Position] is a place in either.
package sources

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/budget"
)

// Source is one place that messages come from: a queue, an exchange, a stream, files.
type Source struct {
	// Name is what addresses call it, see [Name]. It may be empty where there is one source only.
	Name    string
	Archive *archive.Archive
	// Status is what the source is doing; the figures of Kept are filled in here. Nil: nothing is
	// known.
	Status func() source.Status
	// Passage is how a message passed through a relay, nil where that is not known. Nil: it is no
	// relay.
	Passage func(seq uint64) *source.Passage
}

// Key names a message. Sequence numbers are a source's own. Source is empty where there is one
// source only.
type Key struct {
	Source string
	Seq    uint64
}

// Config is what a Set reads, and how much of it at once.
type Config struct {
	// Sources are those at the start, at least one unless others may come.
	Sources []Source
	// Growing: others may come, so that messages are named by their source from the start.
	Growing bool
	// Queries bounds how many questions are answered at once.
	Queries *budget.Limiter
	// Budget is how long one page is looked for. 0: that of query.PageRequest.
	Budget time.Duration
	// Now is the clock.
	Now func() time.Time
}

// Set is the sources that an explorer shows. It is safe for concurrent use.
type Set struct {
	Config
	all   *query.Filter // matches every message
	names names         // of all sources together

	// members is replaced as a whole, in the order in which they were added.
	members atomic.Pointer[[]*member]
	mu      sync.Mutex
	added   int // guarded by mu; sources ever
}

// member is a source with what the set knows of it.
type member struct {
	Source
	ordinal int // among all that were ever added: where its number stands in a position
	names   names
}

// The errors of a Set.
var (
	ErrNoSource = errors.New("sources: no source of this name")
	errNone     = errors.New("sources: no source")
)

// New returns the set of cfg.
func New(cfg Config) (*Set, error) {
	all, err := query.Compile("")
	if err != nil {
		return nil, err
	}
	s := &Set{Config: cfg, all: all, names: names{now: cfg.Now}}
	s.members.Store(&[]*member{})
	if len(cfg.Sources) == 0 && !cfg.Growing {
		return nil, errNone
	}
	s.Config.Growing = cfg.Growing || len(cfg.Sources) > 1
	for _, one := range cfg.Sources {
		if err := s.Add(one); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Add takes a source in. Its name must be that of no other.
func (s *Set) Add(one Source) error {
	if one.Archive == nil {
		return errors.New("sources: no archive")
	}
	if one.Status == nil {
		one.Status = func() source.Status { return source.Status{} }
	}
	if s.Several() && one.Name != Name(one.Name) {
		return fmt.Errorf("%q cannot be the name of a source: it holds letters, digits and -._ only", one.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*member
	for _, other := range *s.members.Load() {
		if other.Name == one.Name {
			return fmt.Errorf("two sources of one name: %s", one.Name)
		}
		list = append(list, other)
	}
	list = append(list, &member{Source: one, ordinal: s.added, names: names{now: s.Now}})
	s.added++
	s.members.Store(&list)
	return nil
}

// Remove takes a source out. What is being read of it can be read to the end.
func (s *Set) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*member
	for _, other := range *s.members.Load() {
		if other.Name != name {
			list = append(list, other)
		}
	}
	s.members.Store(&list)
}

// Several reports whether messages are named by their source: there are several, or may be.
func (s *Set) Several() bool { return s.Growing }

// Names are those of the sources, in the order in which they were added.
func (s *Set) Names() []string {
	var list []string
	for _, m := range *s.members.Load() {
		list = append(list, m.Name)
	}
	return list
}

// Room is memory for clones of messages, in bytes.
type Room interface {
	Take(n int64) error
	Give(n int64)
}

// EvictedBytes is how much memory of messages was ever evicted, of all sources.
func (s *Set) EvictedBytes() (n int64) {
	for _, m := range *s.members.Load() {
		n += m.Archive.EvictedBytes()
	}
	return n
}
