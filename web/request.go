package web

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/web/sources"
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
	req := request{State: q, dialect: s.cfg.Dialect, limit: q.Limit}
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

// within is what the request asks for, as the sources are asked.
func (r *request) within() query.PageRequest {
	return query.PageRequest{
		Before:         r.Before,
		After:          r.After,
		Ascending:      r.ascending(),
		From:           r.From,
		To:             r.To,
		Dialect:        r.dialect,
		Limit:          r.limit,
		IncludeDamaged: r.Damaged,
	}
}

// queryWait is how long a query waits for others to end before it is refused.
const queryWait = 2 * time.Second

// message finds the message that the path of r names.
func (s *Server) message(v sources.View, r *http.Request) (archive.Message, error) {
	seq, err := strconv.ParseUint(chi.URLParam(r, "seq"), 10, 64)
	if err != nil || seq == 0 {
		return archive.Message{}, errNoPage
	}
	return v.Get(v.Key(seq))
}
