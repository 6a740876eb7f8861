package web

import (
	"container/list"
	"net/http"
	"sync"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/address"
)

// maxLongFilters is how many bytes of long filters are kept.
const maxLongFilters = 2 << 20

// longFilters keeps the filters that are too long to stand in every link of a page, so that links
// can name them by a key. Where they become too many, the oldest goes of the address that has the
// most.
type longFilters struct {
	mu     sync.Mutex
	all    map[string]*list.Element // guarded by mu; of longFilter, by key
	recent list.List                // guarded by mu; the last one asked for first
	owners map[string]int           // guarded by mu; bytes by owner, no zeros
	bytes  int                      // guarded by mu; the sum of owners
}

type longFilter struct{ key, text, owner string }

func (l *longFilters) get(key string) (text string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.all[key]
	if e == nil {
		return "", false
	}
	l.recent.MoveToFront(e)
	return e.Value.(longFilter).text, true
}

// keep keeps a filter that owner asked for.
func (l *longFilters) keep(text, owner string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := address.FilterKey(text)
	if e := l.all[key]; e != nil {
		l.recent.MoveToFront(e)
		return
	}
	if l.all == nil {
		l.all, l.owners = make(map[string]*list.Element), make(map[string]int)
	}
	l.all[key] = l.recent.PushFront(longFilter{key, text, owner})
	l.owners[owner] += len(text)
	l.bytes += len(text)
	for l.bytes > maxLongFilters {
		most := owner
		for other, n := range l.owners {
			if n > l.owners[most] {
				most = other
			}
		}
		e := l.recent.Back()
		for e.Value.(longFilter).owner != most {
			e = e.Prev()
		}
		l.drop(e)
	}
}

func (l *longFilters) drop(e *list.Element) {
	f := l.recent.Remove(e).(longFilter)
	delete(l.all, f.key)
	l.bytes -= len(f.text)
	if l.owners[f.owner] -= len(f.text); l.owners[f.owner] == 0 {
		delete(l.owners, f.owner)
	}
}

// wholeFilter puts the filter that a link names by its key in its place, and adds the link's
// condition.
func (s *Server) wholeFilter(r *http.Request, q address.State) (address.State, error) {
	if q.Key != "" && q.Q == "" {
		var ok bool
		if q.Q, ok = s.longFilters.get(q.Key); !ok {
			return q, errForgotten
		}
	}
	if q.And != "" {
		q.Q = query.Conjoin(q.Q, q.And)
	}
	q.Key, q.And = "", ""
	if address.IsLong(q.Q) && len(q.Q) <= query.MaxSource {
		s.longFilters.keep(q.Q, clientOf(r))
	}
	return q, nil
}
