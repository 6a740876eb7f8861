package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/address"
)

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// request is what the parameters of a page or of the API ask for.
type request struct {
	address.State
	filter  *query.Filter // nil when filterErr is not
	columns []*query.Operand
	by      *query.Operand // what a page is put in order by; nil: arrival
	dialect *fieldtable.Dialect
	limit   int // 1…maxLimit
	budget  time.Duration
}

// parse reads the parameters of r. A filter that does not compile is the
// second result: pages show it in place.
func (s *Server) parse(r *http.Request) (request, error, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return request{}, nil, &paramError{"query", "The parameters of this address are not URL-encoded correctly."}
	}
	q, bad := address.Parse(values)
	if len(bad) > 0 {
		return request{}, nil, &paramError{bad[0], "The parameter " + bad[0] + " of this address cannot be understood."}
	}
	req := request{State: q, dialect: s.cfg.Dialect, limit: q.Limit, budget: s.cfg.QueryBudget}
	if q.Dialect != "" {
		if req.dialect, err = fieldtable.DialectByName(q.Dialect); err != nil {
			return request{}, nil, &paramError{"dialect", "There is no dialect of this name: " + err.Error() + "."}
		}
	}
	if req.columns, req.by, err = compileColumns(q); err != nil {
		return request{}, nil, err
	}
	if req.limit == 0 {
		req.limit = defaultLimit
	}
	req.limit = min(req.limit, maxLimit)
	var filterErr error
	req.filter, filterErr = query.Compile(q.Q)
	return req, filterErr, nil
}

// ascending reports whether the messages wanted are those next to After, and not the newest.
func (r *request) ascending() bool { return r.Before == 0 && (r.After != 0 || r.Oldest) }

// sorted puts the messages of a page in the order asked for.
func (r *request) sorted(ms []archive.Message) []archive.Message {
	if r.by == nil {
		return ms
	}
	return query.Sort(ms, r.by, r.Sort.Desc, r.dialect)
}

// page finds the messages that req asks for, newest first also where its
// cursor is After: then they are the ones next to it. It waits its turn among
// the other queries.
func (s *Server) page(ctx context.Context, snap archive.Snapshot, req request) (query.Page, error) {
	release, err := s.queries.Acquire(ctx)
	if err != nil {
		return query.Page{}, err
	}
	defer release()
	p, err := req.filter.Page(ctx, snap, query.PageRequest{
		Before:         req.Before,
		After:          req.After,
		Ascending:      req.ascending(),
		From:           req.From,
		To:             req.To,
		Dialect:        req.dialect,
		ArchiveDialect: s.archive.Dialect(),
		Limit:          req.limit,
		Budget:         req.budget,
		IncludeDamaged: req.Damaged,
	})
	slices.SortFunc(p.Messages, func(a, b archive.Message) int { return cmp.Compare(b.Seq(), a.Seq()) })
	return p, err
}

// queryWait is how long a query waits for others to end before it is refused.
const queryWait = 2 * time.Second

// message finds the message that the path of r names.
func (s *Server) message(r *http.Request) (archive.Message, error) {
	seq, err := pathSeq(r)
	if err != nil {
		return archive.Message{}, err
	}
	return s.archive.Snapshot().Get(seq)
}

func pathSeq(r *http.Request) (uint64, error) {
	seq, err := strconv.ParseUint(chi.URLParam(r, "seq"), 10, 64)
	if err != nil || seq == 0 {
		return 0, errNoPage
	}
	return seq, nil
}
