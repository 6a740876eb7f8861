package address

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

func Kept(q State, without []string) [][2]string {
	v := q.Values()
	for _, name := range without {
		v.Del(name)
	}
	var fields [][2]string
	for _, name := range []string{"q", "before", "after", "cols", "from", "to", "tz", "dialect", "order", "at", "skip", "hex", "b", "body", "tab", "view", "limit", "facet", "sort", "damaged"} {
		for _, s := range v[name] {
			fields = append(fields, [2]string{name, s})
		}
	}
	return fields
}

// The values of a Query's Tab, besides none for the fields.
const (
	TabReadings = "readings" // how clients read the table
	TabDeaths   = "x-death"
	TabCode     = "code"
)

// State is the state of a page that is kept in its URL. The zero value is the newest page of
// everything. [ParseQuery] reads it and [Query.Values] writes it; no other code knows the
// parameters' names.
type State struct {
	Q       string    // q: the filter
	Before  uint64    // before: show messages older than this sequence number
	After   uint64    // after: show messages newer than this one
	Oldest  bool      // after=0: show the oldest
	Columns []string  // cols: header paths as extra columns
	From    time.Time // from: received at or after
	To      time.Time // to: received before
	Zone    string    // tz: name of a time zone; "" = UTC
	Dialect string    // dialect: how tables are read; "" = the configured one
	Sorted  bool      // order=az: fields by name instead of wire order
	Packs   bool      // order=packs: fields by the software that sets them
	At      int       // at: offset of a value shown alone; 0 = the whole table
	Skip    int       // skip: elements, or bytes of a text, left out before the first one shown
	Hex     int       // hex: a byte in the first row of the hex page; 0 = where the tree begins
	Bytes   Range     // b: marked bytes of the table
	Body    int       // body: offset of the first byte of the body preview
	Tab     string    // tab: "" = the fields; "readings", "x-death", "code"
	Lang    string    // lang: which client the code is for
	Full    bool      // view=full: the message without the list
	Limit   int       // limit: rows a page; 0 = the default
	Facet   string    // facet: the header whose values are counted, as a filter names it
	Sort    Sort      // sort: the column that a page is put in order by
	Damaged bool      // damaged=1: messages that the filter cannot decide are listed too
}

// Sort is an order of the rows of one page. The zero value is newest first.
type Sort struct {
	Path string // the column
	Desc bool
}

// parseSort reads a column's path with ":desc", ":asc" or nothing behind it.
func parseSort(s string) Sort {
	if path, ok := strings.CutSuffix(s, ":desc"); ok {
		return Sort{path, true}
	}
	return Sort{strings.TrimSuffix(s, ":asc"), false}
}

func (s Sort) String() string {
	if s.Path == "" {
		return ""
	}
	if s.Desc {
		return s.Path + ":desc"
	}
	return s.Path + ":asc"
}

// Range is a run of bytes [Start, End). The zero value is no range.
type Range struct{ Start, End int }

// Empty says whether the range holds no byte.
func (r Range) Empty() bool { return r.End <= r.Start }

// Parse reads the state of a page out of a URL's query. What cannot be read is left at its
// zero value and named in the second result, in the order of the parameters above.
func Parse(v url.Values) (State, []string) {
	var bad []string
	number := func(name string) uint64 {
		s := v.Get(name)
		if s == "" {
			return 0
		}
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			bad = append(bad, name)
		}
		return n
	}
	small := func(name string) int {
		n := number(name)
		if n > 1<<31-1 {
			bad = append(bad, name)
			return 0
		}
		return int(n)
	}
	q := State{
		Q:      v.Get("q"),
		Before: number("before"),
		After:  number("after"),
	}
	q.Oldest = q.After == 0 && v.Get("after") == "0"
	for _, c := range v["cols"] {
		q.Columns = append(q.Columns, splitPaths(c)...)
	}
	zone := time.UTC
	if name := v.Get("tz"); name != "" && name != "UTC" {
		if loc, err := time.LoadLocation(name); err == nil && name != "Local" {
			q.Zone, zone = name, loc
		} else {
			bad = append(bad, "tz")
		}
	}
	moment := func(name string) time.Time {
		s := v.Get(name)
		if s == "" {
			return time.Time{}
		}
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02"} {
			if t, err := time.ParseInLocation(layout, s, zone); err == nil {
				return t.UTC()
			}
		}
		bad = append(bad, name)
		return time.Time{}
	}
	q.From, q.To = moment("from"), moment("to")
	q.Dialect = v.Get("dialect")
	switch v.Get("order") {
	case "", "wire":
	case "az":
		q.Sorted = true
	case "packs":
		q.Packs = true
	default:
		bad = append(bad, "order")
	}
	q.At, q.Skip, q.Hex = small("at"), small("skip"), small("hex")
	if s := v.Get("b"); s != "" {
		from, to, found := strings.Cut(s, "-")
		a, err1 := strconv.ParseUint(from, 10, 31)
		z, err2 := a, error(nil)
		if found {
			z, err2 = strconv.ParseUint(to, 10, 31)
		}
		if err1 != nil || err2 != nil || z < a || z == 1<<31-1 {
			bad = append(bad, "b")
		} else {
			q.Bytes = Range{int(a), int(z) + 1}
		}
	}
	q.Body = small("body")
	q.Tab, q.Lang = v.Get("tab"), v.Get("lang")
	q.Full = v.Get("view") == "full"
	if q.Limit = small("limit"); q.Limit > 1000 {
		q.Limit = 1000
	}
	q.Facet = v.Get("facet")
	q.Sort = parseSort(v.Get("sort"))
	switch v.Get("damaged") {
	case "", "0":
	case "1":
		q.Damaged = true
	default:
		bad = append(bad, "damaged")
	}
	return q, bad
}

// splitPaths cuts at the commas that stand outside double quotes.
func splitPaths(s string) []string {
	var paths []string
	quoted, start := false, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s) || s[i] == ',' && !quoted:
			if p := strings.TrimSpace(s[start:i]); p != "" {
				paths = append(paths, p)
			}
			start = i + 1
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		}
	}
	return paths
}

// Values writes the state as URL parameters, leaving out what is at its zero value.
func (q State) Values() url.Values {
	v := url.Values{}
	set := func(name, s string) {
		if s != "" {
			v.Set(name, s)
		}
	}
	number := func(name string, n uint64) {
		if n != 0 {
			v.Set(name, strconv.FormatUint(n, 10))
		}
	}
	moment := func(name string, t time.Time) {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	set("q", q.Q)
	number("before", q.Before)
	if q.Oldest {
		v.Set("after", "0")
	} else {
		number("after", q.After)
	}
	if len(q.Columns) > 0 {
		v["cols"] = q.Columns
	}
	moment("from", q.From)
	moment("to", q.To)
	set("tz", q.Zone)
	set("dialect", q.Dialect)
	if q.Sorted {
		v.Set("order", "az")
	} else if q.Packs {
		v.Set("order", "packs")
	}
	number("at", uint64(max(q.At, 0)))
	number("skip", uint64(max(q.Skip, 0)))
	number("hex", uint64(max(q.Hex, 0)))
	if !q.Bytes.Empty() {
		v.Set("b", strconv.Itoa(q.Bytes.Start)+"-"+strconv.Itoa(q.Bytes.End-1))
	}
	number("body", uint64(max(q.Body, 0)))
	set("tab", q.Tab)
	set("lang", q.Lang)
	if q.Full {
		v.Set("view", "full")
	}
	number("limit", uint64(max(q.Limit, 0)))
	set("facet", q.Facet)
	set("sort", q.Sort.String())
	if q.Damaged {
		v.Set("damaged", "1")
	}
	return v
}

// Location is the time zone of the page.
func (q State) Location() *time.Location {
	if q.Zone != "" {
		if loc, err := time.LoadLocation(q.Zone); err == nil {
			return loc
		}
	}
	return time.UTC
}

// inList drops what belongs to an opened message.
func (q State) inList() State {
	q.At, q.Skip, q.Hex, q.Bytes, q.Body, q.Tab, q.Lang, q.Full = 0, 0, 0, Range{}, 0, "", "", false
	return q
}

// fromStart drops the cursors: another filter starts at the newest message.
func (q State) fromStart() State {
	q = q.inList()
	q.Before, q.After, q.Oldest = 0, 0, false
	return q
}
