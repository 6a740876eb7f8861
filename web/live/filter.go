package live

import (
	"context"
	"sync"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web/budget"
)

// filterKey tells filters apart: by their canonical text, and the dialect that they read tables
// under.
type filterKey struct {
	text    string
	dialect *fieldtable.Dialect
}

// filter is what feeds with the same filter share: the filter as compiled, what the shapes of
// messages decide, and the verdicts on the newest messages. So any number of them costs about what
// one costs.
type filter struct {
	key   filterKey
	share *budget.Share
	feeds map[*feedOf]struct{} // guarded by Feeds.mu

	mu      sync.Mutex
	matcher *query.Matcher // guarded by mu
	// verdicts has the newest verdicts, each at its sequence number modulo the length, a power of
	// two: the number times two, and one more where the message matches.
	verdicts []uint64 // guarded by mu; nil until a second feed has come
}

// feedOf is one feed of a filter, which end ends.
type feedOf struct {
	filter *filter
	end    context.CancelCauseFunc
}

// verdictsKept is about as many messages as one feed gets ahead of another.
const verdictsKept = 2048

// open returns the filter of s for one more feed, which end ends.
func (fs *Feeds) open(ctx context.Context, s Stream, addr string, end context.CancelCauseFunc) (*feedOf, error) {
	key := filterKey{s.Filter.String(), s.Dialect}
	if one := fs.join(key, nil, end); one != nil {
		return one, nil
	}
	f := &filter{key: key, feeds: make(map[*feedOf]struct{})}
	f.matcher = s.Filter.Matcher(fs.cfg.Archive.Dialect(), s.Dialect)
	if fs.cfg.Budget != nil {
		var err error
		n := f.matcher.MaxBytes() + 8*verdictsKept
		f.share, err = fs.cfg.Budget.Take(ctx, budget.Feed, addr, n, func() { go fs.giveWay(f) })
		if err != nil {
			return nil, err
		}
	}
	one := fs.join(key, f, end)
	if one.filter != f {
		f.release() // another feed was faster
	}
	return one, nil
}

// join adds a feed to the filter that others have opened, or else to f; nil: there is none.
func (fs *Feeds) join(key filterKey, f *filter, end context.CancelCauseFunc) *feedOf {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if open := fs.filters[key]; open != nil {
		f = open
	}
	if f == nil {
		return nil
	}
	fs.filters[key] = f
	one := &feedOf{f, end}
	f.feeds[one] = struct{}{}
	if len(f.feeds) == 2 {
		f.mu.Lock()
		f.verdicts = make([]uint64, verdictsKept)
		f.mu.Unlock()
	}
	return one
}

// close takes a feed out; the last one closes its filter.
func (fs *Feeds) close(one *feedOf) {
	f := one.filter
	fs.mu.Lock()
	delete(f.feeds, one)
	last := len(f.feeds) == 0
	if last {
		delete(fs.filters, f.key)
	}
	fs.mu.Unlock()
	if last {
		f.release()
	}
}

// giveWay ends the feeds of a filter, whose memory others need.
func (fs *Feeds) giveWay(f *filter) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for one := range f.feeds {
		one.end(budget.ErrFull)
	}
}

func (f *filter) release() {
	if f.share != nil {
		f.share.Release()
	}
}

// match decides m of the snapshot, unless another feed has done that. The caller has locked f.
func (f *filter) match(m query.LiveMessage) bool {
	if f.verdicts == nil {
		return f.matcher.MatchLive(m) == query.Yes
	}
	seq := m.Seq()
	at := &f.verdicts[seq%verdictsKept]
	if *at>>1 != seq {
		*at = seq << 1
		if f.matcher.MatchLive(m) == query.Yes {
			*at |= 1
		}
	}
	return *at&1 != 0
}
