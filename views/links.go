package views

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/query"
)

// Links builds every URL of a page from where the explorer is mounted and what the page shows.
type Links struct {
	// Base is the path the explorer is mounted under: "" or "/explore", without a slash at the end.
	Base  string
	Query Query
	// Pasted are the parameters that hold the bytes of an opened message that is not in the
	// archive, as "base64=…"; "" = it is.
	Pasted string
	// Open is the opened message, which stays open when the list beside it gets other columns; 0 =
	// none.
	Open uint64
}

// Query is the state of a page that is kept in its URL. The zero value is the newest page of
// everything. [ParseQuery] reads it and [Query.Values] writes it; no other code knows the
// parameters' names.
type Query struct {
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

// ParseQuery reads the state of a page out of a URL's query. What cannot be read is left at its
// zero value and named in the second result, in the order of the parameters above.
func ParseQuery(v url.Values) (Query, []string) {
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
	q := Query{
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
func (q Query) Values() url.Values {
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
func (q Query) Location() *time.Location {
	if q.Zone != "" {
		if loc, err := time.LoadLocation(q.Zone); err == nil {
			return loc
		}
	}
	return time.UTC
}

// inList drops what belongs to an opened message.
func (q Query) inList() Query {
	q.At, q.Skip, q.Hex, q.Bytes, q.Body, q.Tab, q.Lang, q.Full = 0, 0, 0, Range{}, 0, "", "", false
	return q
}

// fromStart drops the cursors: another filter starts at the newest message.
func (q Query) fromStart() Query {
	q = q.inList()
	q.Before, q.After, q.Oldest = 0, 0, false
	return q
}

func (l Links) url(path string, q Query) string {
	u := l.Base + path
	if v := q.Values(); len(v) > 0 {
		u += "?" + v.Encode()
	}
	return u
}

// Home is the newest page without any filter.
func (l Links) Home() string { return l.Base + "/" }

// List is the page of the list that is shown now.
func (l Links) List() string { return l.url("/", l.Query.inList()) }

// Latest is the newest page under the current filter.
func (l Links) Latest() string { return l.url("/", l.Query.fromStart()) }

// Older is the page of messages before seq.
func (l Links) Older(seq uint64) string {
	q := l.Query.fromStart()
	q.Before = seq
	return l.url("/", q)
}

// Newer is the page of messages after seq.
func (l Links) Newer(seq uint64) string {
	q := l.Query.fromStart()
	q.After = seq
	return l.url("/", q)
}

// Filter is the newest page under another filter.
func (l Links) Filter(filter string) string {
	q := l.Query.fromStart()
	q.Q, q.Damaged = filter, false
	return l.url("/", q)
}

// Undecided is the newest page with the messages that the filter cannot decide, or without them.
func (l Links) Undecided(show bool) string {
	q := l.Query.fromStart()
	q.Damaged = show
	return l.url("/", q)
}

// Facet is the current page with the values of an operand counted; "" counts none.
func (l Links) Facet(operand string) string {
	at, q := l.stay()
	q.Facet = operand
	return l.url(at, q)
}

// Sort is the current page in another order.
func (l Links) Sort(by Sort) string {
	at, q := l.stay()
	q.Sort = by
	return l.url(at, q)
}

// GoLive is the newest page under the current filter, in the order that new messages can be added
// to.
func (l Links) GoLive() string {
	q := l.Query.fromStart()
	q.To, q.Sort, q.Damaged = time.Time{}, Sort{}, false
	return l.url("/", q)
}

// And is the newest page under the current filter and one more condition.
func (l Links) And(condition string) string {
	return l.Filter(query.Conjoin(l.Query.Q, condition))
}

// Between is the newest page of messages received in [from, to).
func (l Links) Between(from, to time.Time) string {
	q := l.Query.fromStart()
	q.From, q.To = from, to
	return l.url("/", q)
}

// stay is the path and the state of the current page, the opened message included. It is not a page
// without a list.
func (l Links) stay() (string, Query) {
	if l.Open == 0 {
		return "/", l.Query.inList()
	}
	q := l.Query
	q.Full = false
	return messagePath(l.Open), q
}

// AddColumn is the current page with one more column, unless it has that one.
func (l Links) AddColumn(path string) string {
	at, q := l.stay()
	if !slices.Contains(q.Columns, path) {
		q.Columns = append(q.Columns[:len(q.Columns):len(q.Columns)], path)
	}
	return l.url(at, q)
}

// DropColumn is the current page without a column.
func (l Links) DropColumn(path string) string {
	at, q := l.stay()
	var rest []string
	for _, c := range q.Columns {
		if c != path {
			rest = append(rest, c)
		}
	}
	q.Columns = rest
	if q.Sort.Path == path {
		q.Sort = Sort{}
	}
	return l.url(at, q)
}

// Message is a message beside the current list.
func (l Links) Message(seq uint64) string {
	full := l.Query.Full
	q := l.Query.inList()
	q.Full = full
	return l.url(messagePath(seq), q)
}

// Inspect is a message in another state of the inspector.
func (l Links) Inspect(seq uint64, change func(*Query)) string {
	q := l.Query
	change(&q)
	if l.Pasted != "" {
		u := l.Base + "/inspect?" + l.Pasted
		if v := q.Values(); len(v) > 0 {
			u += "&" + v.Encode()
		}
		return u
	}
	return l.url(messagePath(seq), q)
}

// form is the action of a form that opens a message, or pasted bytes, in another state.
func (l Links) form(seq uint64) string {
	if l.Pasted != "" {
		return l.Paste()
	}
	return l.Base + messagePath(seq)
}

// hidden are the fields that such a form carries along: the page's state without what the form asks
// for.
func (l Links) hidden(without ...string) [][2]string {
	v := l.Query.Values()
	if l.Pasted != "" {
		pasted, err := url.ParseQuery(l.Pasted)
		if err == nil {
			maps.Copy(v, pasted)
		}
	}
	var fields [][2]string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(without, name) {
			for _, s := range v[name] {
				fields = append(fields, [2]string{name, s})
			}
		}
	}
	return fields
}

// Paste is the page that reads bytes from elsewhere.
func (l Links) Paste() string { return l.Base + "/inspect" }

// Diff compares messages, in this order.
func (l Links) Diff(seqs ...uint64) string {
	v := url.Values{}
	for _, seq := range seqs {
		v.Add("m", strconv.FormatUint(seq, 10))
	}
	if l.Query.Dialect != "" {
		v.Set("dialect", l.Query.Dialect)
	}
	u := l.Base + "/diff"
	if len(v) > 0 {
		u += "?" + v.Encode()
	}
	return u
}

// CompareForm is the action of a form that names the messages to compare.
func (l Links) CompareForm() string { return l.Base + "/diff" }

// DiffNext compares a message with the nearest older or newer one that has its exchange and routing
// key.
func (l Links) DiffNext(seq uint64, older bool) string {
	with := "newer"
	if older {
		with = "older"
	}
	return l.Base + "/diff?m=" + strconv.FormatUint(seq, 10) + "&with=" + with
}

// Download is the address of headers.bin, content-header.bin or body.bin.
func (l Links) Download(seq uint64, name string) string {
	return l.Base + messagePath(seq) + "/" + name
}

// JSON is the message as typed JSON.
func (l Links) JSON(seq uint64) string {
	return l.Base + "/api/messages/" + strconv.FormatUint(seq, 10)
}

// Live is the address of the websocket under the current filter, without the cursor.
func (l Links) Live() string {
	q := Query{
		Q:       l.Query.Q,
		Columns: l.Query.Columns,
		From:    l.Query.From,
		Zone:    l.Query.Zone,
		Dialect: l.Query.Dialect,
		Facet:   l.Query.Facet,
	}
	return l.url("/live", q)
}

// Summary is where the total, the histogram and the values are counted over everything that the
// page lists.
func (l Links) Summary() string {
	return l.url("/summary", l.Query.fromStart())
}

// Export is a file of everything that the page lists, in the form of this extension, whatever page
// of it is shown.
func (l Links) Export(extension string) string {
	q := l.Query.fromStart()
	q.Limit, q.Facet, q.Sort, q.Damaged = 0, "", Sort{}, false
	return l.url("/export."+extension, q)
}

// Complete is where the filter's input asks for names; the text before the cursor is added as q.
func (l Links) Complete() string { return l.Base + "/api/complete" }

// Static is the address of an asset, given its hashed name.
func (l Links) Static(hashed string) string { return l.Base + "/static/" + hashed }

func messagePath(seq uint64) string { return "/m/" + strconv.FormatUint(seq, 10) }
