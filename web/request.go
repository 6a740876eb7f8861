package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
	filter *query.Filter // nil when filterErr is not
	// filterErr says why the filter does not compile; nil: it does.
	filterErr error
	columns   []*query.Operand
	by        *query.Operand // what a page is put in order by; nil: arrival
	dialect   *fieldtable.Dialect
	limit     int // 1…maxLimit
}

// parse reads the parameters of r.
func (s *Server) parse(r *http.Request) (request, error) {
	req, err := s.parseAround(r)
	if err == nil {
		err = req.filterErr
	}
	return req, err
}

// parseAround reads the parameters of r, whatever its filter is like: of a filter that does not
// compile there is filterErr, for a page to show in its place.
func (s *Server) parseAround(r *http.Request) (request, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return request{}, &paramError{"query", "The parameters of this address are not URL-encoded correctly."}
	}
	q, bad := address.Parse(values)
	if len(bad) > 0 {
		what := "cannot be understood."
		if !utf8.ValidString(strings.Join(values[bad[0]], "")) {
			what = `is not UTF-8; other bytes are written \xNN in double quotes.`
		}
		return request{}, &paramError{bad[0], "The parameter " + bad[0] + " of this address " + what}
	}
	if q, err = s.wholeFilter(r, q); err != nil {
		return request{}, err
	}
	q = q.Keyed()
	req := request{State: q, dialect: s.dialect(), limit: q.Limit}
	if q.Dialect != "" {
		if req.dialect, err = dialectParam(q.Dialect); err != nil {
			return request{}, err
		}
	}
	if req.columns, req.by, err = compileColumns(q); err != nil {
		return request{}, err
	}
	if req.limit == 0 {
		req.limit = defaultLimit
	}
	req.limit = min(req.limit, maxLimit)
	req.filter, req.filterErr = query.Compile(q.Q)
	return req, nil
}

func dialectParam(name string) (*fieldtable.Dialect, error) {
	d, err := fieldtable.DialectByName(name)
	if err != nil {
		return nil, &paramError{"dialect", "There is no dialect of this name: " + err.Error() + "."}
	}
	return d, nil
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

const maxColumns = 16

// compileColumns reads the columns and the order of a listing: header paths and properties as the
// left side of a comparison in a filter. by is nil where the order is that of arrival.
func compileColumns(q address.State) (columns []*query.Operand, by *query.Operand, err error) {
	if len(q.Columns) > maxColumns {
		return nil, nil, &paramError{"cols", "A list has at most " + strconv.Itoa(maxColumns) + " columns."}
	}
	seen := make(map[string]bool, len(q.Columns))
	for _, c := range q.Columns {
		o, err := compileColumn("cols", c)
		if err != nil {
			return nil, nil, err
		}
		if seen[o.String()] {
			return nil, nil, &paramError{"cols", "A column is named twice."}
		}
		seen[o.String()] = true
		columns = append(columns, o)
	}
	if q.Sort.Path != "" {
		by, err = compileColumn("sort", q.Sort.Path)
	}
	return columns, by, err
}

func compileColumn(param, path string) (*query.Operand, error) {
	if !utf8.ValidString(path) {
		return nil, &paramError{param, `A column's path is UTF-8; other bytes are written \xNN in double quotes.`}
	}
	o, err := query.CompileOperand(path)
	if e, ok := errors.AsType[*query.Error](err); ok {
		return nil, &paramError{param, "The column " + path + " does not read: " + e.Msg + " at character " +
			strconv.Itoa(utf8.RuneCountInString(path[:e.Offset])+1) + "."}
	}
	return o, err
}
