package web

import (
	"context"
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
	// view is what the request is about: all sources, or the one of source.
	view   sources.View
	source string
	// under and over are the places of Before and After; nil: there is none.
	under, over sources.Position
	filter      *query.Filter // nil when filterErr is not
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
		value, most := strings.Join(values[bad[0]], ""), address.Most(bad[0])
		switch {
		case !utf8.ValidString(value):
			what = `is not UTF-8; other bytes are written \xNN in double quotes.`
		case most > 0 && len(value) > most:
			// Every link of the page would carry it.
			what = "has more than " + strconv.Itoa(most) + " bytes; the name of one header has at most 255."
		}
		return request{}, &paramError{bad[0], "The parameter " + bad[0] + " of this address " + what}
	}
	if q, err = s.wholeFilter(r, q); err != nil {
		return request{}, err
	}
	q = q.Keyed()
	req := request{State: q, limit: q.Limit}
	if req.view, req.source, err = s.view(r, q); err != nil {
		return request{}, err
	}
	if req.under, err = s.place(req, "before", q.Before); err != nil {
		return request{}, err
	}
	if req.over, err = s.place(req, "after", q.After); err != nil {
		return request{}, err
	}
	if q.Oldest {
		req.over = make(sources.Position, len(req.view.End()))
	}
	req.dialect = s.dialect(req.view)
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

// view is what a request is about, and the name of the source that its links lead to; "": that of
// all. A message opened beside the list of all sources is about all.
func (s *Server) view(r *http.Request, q address.State) (v sources.View, name string, err error) {
	name = chi.URLParam(r, "source")
	if name == "" || q.All {
		return s.sources.View(), "", nil
	}
	v, err = s.sources.Of(name)
	if !s.sources.Several() {
		name = ""
	}
	return v, name, err
}

// together reports whether the request is about all of several sources: then cursors are places
// among the messages of all.
func (s *Server) together(req *request) bool { return s.sources.Several() && req.source == "" }

// place is that of a cursor.
func (s *Server) place(req request, name string, c address.Cursor) (sources.Position, error) {
	if c == "" {
		return nil, nil
	}
	if !s.together(&req) {
		if seq := c.Seq(); seq != 0 && name == "before" {
			return sources.Position{seq - 1}, nil
		} else if seq != 0 {
			return sources.Position{seq}, nil
		}
	} else if p, ok := req.view.Position(string(c), name == "before"); ok {
		return p, nil
	}
	return nil, &paramError{name, "The parameter " + name + " of this address is no place in this list."}
}

// before and after are cursors for what is below and above a place.
func (s *Server) before(req *request, p sources.Position) address.Cursor {
	if s.together(req) {
		return address.Cursor(req.view.Text(p))
	}
	return address.At(p[0] + 1)
}

func (s *Server) after(req *request, p sources.Position) address.Cursor {
	if s.together(req) {
		return address.Cursor(req.view.Text(p))
	}
	return address.At(p[0])
}

// links are those of a page that shows what req asks for.
func (s *Server) links(req *request) address.Links {
	return address.Links{Base: s.base, Source: req.source, State: req.State}
}

func dialectParam(name string) (*fieldtable.Dialect, error) {
	d, err := fieldtable.DialectByName(name)
	if err != nil {
		return nil, &paramError{"dialect", "There is no dialect of this name: " + err.Error() + "."}
	}
	return d, nil
}

// ascending reports whether the messages wanted are those next to After, and not the newest.
func (r *request) ascending() bool { return r.Before == "" && (r.After != "" || r.Oldest) }

// find is the page that the request asks for: of all that match, in the order of a column, if it
// names one.
func (r *request) find(ctx context.Context) (sources.Page, error) {
	if r.by == nil {
		return r.view.Find(ctx, r.filter, r.within())
	}
	return r.view.Top(ctx, r.filter, r.within(), r.by, r.Sort.Desc)
}

// within is what the request asks for, as the sources are asked.
func (r *request) within() sources.Request {
	return sources.Request{
		PageRequest: query.PageRequest{
			Ascending:      r.ascending(),
			From:           r.From,
			To:             r.To,
			Dialect:        r.dialect,
			Limit:          r.limit,
			IncludeDamaged: r.Damaged,
		},
		Under: r.under,
		Over:  r.over,
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
	return v.Get(sources.Key{Source: chi.URLParam(r, "source"), Seq: seq})
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
