package live

import (
	"context"
	"sync"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web/budget"
)

// filterKey tells filters apart: by the archive that they read, their canonical text, and the
// dialect that they read tables under.
type filterKey struct {
	archive *archive.Archive
	text    string
	dialect *fieldtable.Dialect
}

// shared lets the filters of all feeds of one archive share one pass over each new message.
type shared struct {
	memos   *query.Memos
	filters int // guarded by Feeds.mu
}

// filter is what feeds with the same filter share: the filter as compiled, what the shapes of
// messages decide, and the verdicts on the newest messages. So any number of them costs about what
// one costs.
type filter struct {
	key   filterKey
	memos *query.Memos
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

// open returns the filter of s over an archive for one more feed, which end ends.
func (fs *Feeds) open(
	ctx context.Context, s Stream, a *archive.Archive, addr string, end context.CancelCauseFunc,
) (*feedOf, error) {
	key := filterKey{a, s.Filter.String(), s.Dialect}
	if one := fs.join(key, nil, end); one != nil {
		return one, nil
	}
	f := &filter{key: key, feeds: make(map[*feedOf]struct{})}
	f.matcher = s.Filter.Matcher(a.Dialect(), s.Dialect)
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
	if fs.filters[key] == nil {
		s := fs.memos[key.archive]
		if s == nil {
			s = &shared{memos: query.NewMemos(key.archive)}
			fs.memos[key.archive] = s
		}
		s.filters++
		f.memos = s.memos
		fs.filters[key] = f
	}
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
		s := fs.memos[f.key.archive]
		if s.filters--; s.filters == 0 {
			delete(fs.memos, f.key.archive)
		}
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
