// Package sources holds the places that messages come from, and reads what is kept of them: pages,
// neighbours and ranges of messages, what they add up to, and the names of their headers. Whoever
// shows messages asks here and touches no archive.
package sources

import (
	"errors"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/budget"
)

// Source is one place that messages come from: a queue, an exchange, a stream, files.
type Source struct {
	// Name is what addresses call it. "": it is the only one, and they do not.
	Name    string
	Archive *archive.Archive
	// Status is what the source is doing; the figures of Kept are filled in here. Nil: nothing is
	// known.
	Status func() source.Status
	// Passage is how a message passed through a relay, nil where that is not known. Nil: it is no
	// relay.
	Passage func(seq uint64) *source.Passage
}

// Key names a message. Sequence numbers are a source's own.
type Key struct {
	Source string
	Seq    uint64
}

// Config is what a Set reads, and how much of it at once.
type Config struct {
	Source Source
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
	names names
	all   *query.Filter // matches every message
}

// New returns the set of cfg.
func New(cfg Config) (*Set, error) {
	if cfg.Source.Archive == nil {
		return nil, errors.New("sources: no archive")
	}
	if cfg.Source.Status == nil {
		cfg.Source.Status = func() source.Status { return source.Status{} }
	}
	all, err := query.Compile("")
	if err != nil {
		return nil, err
	}
	return &Set{Config: cfg, all: all, names: names{now: cfg.Now}}, nil
}

// Status is the state of the source together with what is kept of it.
func (s *Set) Status() source.Status {
	status, stats := s.Source.Status(), s.Stats()
	status.Kept = source.Kept{
		Messages: stats.Stored - stats.Evicted,
		Evicted:  stats.Evicted,
		Oldest:   stats.Oldest,
		Bytes:    stats.Bytes,
		MaxBytes: stats.MaxBytes,
		Rate:     s.Source.Archive.Snapshot().Rate(s.Now()),
	}
	return status
}

// Stats are figures about what is kept.
func (s *Set) Stats() archive.Stats { return s.Source.Archive.Stats() }

// View is what the sources hold at one moment. Everything on a page is read from one. Memory that
// it refers to is not freed while it is used.
type View struct {
	set  *Set
	snap archive.Snapshot
}

// View is what the sources hold now.
func (s *Set) View() View { return View{s, s.Source.Archive.Snapshot()} }

// At is the view of a snapshot that was taken before.
func (s *Set) At(snap archive.Snapshot) View { return View{s, snap} }

// First and Last are the sequence numbers of the oldest and the newest message kept; First is above
// Last where nothing is.
func (v View) First() uint64 { return v.snap.First() }
func (v View) Last() uint64  { return v.snap.Last() }

// Kept is how many messages there are.
func (v View) Kept() uint64 { return v.Last() - min(v.First()-1, v.Last()) }

// Key is that of a message of the only source.
func (v View) Key(seq uint64) Key { return Key{v.set.Source.Name, seq} }

// Get returns a message, [archive.ErrEvicted] or [archive.ErrNotYet].
func (v View) Get(k Key) (archive.Message, error) {
	if k.Source != v.set.Source.Name {
		return archive.Message{}, archive.ErrNotYet
	}
	return v.snap.Get(k.Seq)
}

// Passage is how a message passed through a relay; nil where it did not, or that is not known.
func (v View) Passage(k Key) *source.Passage {
	if k.Source != v.set.Source.Name || v.set.Source.Passage == nil {
		return nil
	}
	return v.set.Source.Passage(k.Seq)
}

// NameCount is a name and how many fields of a table have it.
type NameCount struct {
	Name  string
	Times int
}

// Preview is the first names of a message's headers, at most most, without a look at its table. It
// is nil where they are not known so cheaply.
func (v View) Preview(m archive.Message, most int) (names []NameCount) {
	id, ok := m.ShapeID()
	if !ok {
		return nil
	}
	shape := v.snap.Shape(id)
	if shape == nil {
		return nil
	}
	for _, f := range shape.Fields {
		i := slices.IndexFunc(names, func(n NameCount) bool { return n.Name == f.Name })
		switch {
		case i >= 0:
			names[i].Times++
		case len(names) < most:
			names = append(names, NameCount{f.Name, 1})
		case !shape.Duplicates:
			return names
		}
	}
	return names
}
