// Package address is what a page shows, as its address: the state in a URL's query, and every link
// that a page has.
package address

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable/query"
)

// Links builds every URL of a page from where the explorer is mounted and what the page shows.
type Links struct {
	// Base is the path the explorer is mounted under: "" or "/explore", without a slash at the end.
	Base string
	// Source is the source whose list the page shows; "": the list of all, or of the only one.
	Source string
	State  State
	// Pasted are the parameters that hold the bytes of an opened message that is not in the
	// archive, as "base64=…"; "" = it is.
	Pasted string
	// Open is the opened message, which stays open when the list beside it gets other columns; the
	// zero Key: none.
	Open Key
}

// list is the path of one of the pages of the list that is shown.
func (l Links) list(path string) string { return sourcePath(l.Source) + path }

// sourcePath is what the paths of a source's own pages begin with.
func sourcePath(name string) string {
	if name == "" {
		return ""
	}
	return PathSource + name
}

func (l Links) url(path string, s State) string { return l.urlOn(path, s, ^Pages(0)) }

// urlOn is the address of a page with what these pages take of a state.
func (l Links) urlOn(path string, s State, pages Pages) string {
	return l.Base + path + question(s.encodeOn(pages))
}

// question is a query as it stands behind a path.
func question(query string) string {
	if query == "" {
		return ""
	}
	return "?" + query
}

// around is the address of a page as a function of one parameter, which s leaves out: the values
// that s has for it, where it takes several, stand before the one given. A page has hundreds of
// links that differ in no more, so that the rest of the state is written once for all of them.
func (l Links) around(path string, s State, name string) func(value string) string {
	fields := s.fields(^Pages(0))
	at := 0
	for at < len(fields) && fields[at].name <= name {
		at++
	}
	before, after := encode(fields[:at]), encode(fields[at:])
	without := l.Base + path + question(encode(fields))
	if before != "" {
		before += "&"
	}
	if after != "" {
		after = "&" + after
	}
	before = l.Base + path + "?" + before + name + "="
	return func(value string) string {
		if value == "" {
			return without
		}
		return before + url.QueryEscape(value) + after
	}
}

// Home is the newest page of everything, without any filter.
func (l Links) Home() string { return l.Base + PathList }

// OfSource is the newest page of one source under the current filter; "" is all of them.
func (l Links) OfSource(name string) string {
	l.Source = name
	return l.Latest()
}

// Listing is the path of the list that is shown, for a form that asks for its state.
func (l Links) Listing() string { return l.Base + l.list(PathList) }

// List is the page of the list that is shown now.
func (l Links) List() string { return l.url(l.list(PathList), l.State.inList()) }

// Latest is the newest page under the current filter.
func (l Links) Latest() string { return l.url(l.list(PathList), l.State.fromStart()) }

// Older is the page of messages before a place.
func (l Links) Older(than Cursor) string {
	q := l.State.fromStart()
	q.Before = than
	return l.url(l.list(PathList), q)
}

// Newer is the page of messages after a place.
func (l Links) Newer(than Cursor) string {
	q := l.State.fromStart()
	q.After = than
	return l.url(l.list(PathList), q)
}

// Filter is the newest page under another filter.
func (l Links) Filter(filter string) string {
	q := l.State.fromStart()
	q.Q, q.Damaged = filter, false
	return l.url(l.list(PathList), q)
}

// Undecided is the newest page with the messages that the filter cannot decide, or without them.
func (l Links) Undecided(show bool) string {
	q := l.State.fromStart()
	q.Damaged = show
	return l.url(l.list(PathList), q)
}

// Facet is the current page with the values of an operand counted; "" counts none.
func (l Links) Facet(operand string) string { return l.Facets()(operand) }

// Facets is Facet for many operands.
func (l Links) Facets() func(operand string) string {
	at, q := l.stay()
	q.Facet = ""
	return l.around(at, q, "facet")
}

// Sort is the list in another order, of everything that matches.
func (l Links) Sort(by Sort) string {
	at, q := l.stay()
	q.Sort = by
	q.Before, q.After, q.Oldest = "", "", false
	return l.url(at, q)
}

// GoLive is the newest page under the current filter, in the order that new messages can be added
// to.
func (l Links) GoLive() string {
	q := l.State.fromStart()
	q.To, q.Sort, q.Damaged = time.Time{}, Sort{}, false
	return l.url(l.list(PathList), q)
}

// And is the newest page under the current filter and one more condition.
func (l Links) And(condition string) string { return l.Ands()(condition) }

// Ands is And for many conditions.
func (l Links) Ands() func(condition string) string {
	if IsLong(l.State.Q) {
		q := l.State.fromStart()
		q.And, q.Damaged = "", false
		return l.around(l.list(PathList), q, "and")
	}
	conjoin := query.Conjoiner(l.State.Q)
	q := l.State.fromStart()
	q.Q, q.Damaged = "", false
	under := l.around(l.list(PathList), q, "q")
	return func(condition string) string {
		filter := conjoin(condition)
		if IsLong(filter) {
			return l.Filter(filter)
		}
		return under(filter)
	}
}

// Between is the newest page of messages received in [from, to).
func (l Links) Between(from, to time.Time) string {
	q := l.State.fromStart()
	q.From, q.To = from, to
	return l.url(l.list(PathList), q)
}

// stay is the path and the state of the current page, the opened message included. It is not a page
// without a list.
func (l Links) stay() (string, State) {
	if l.Open == (Key{}) {
		return l.list(PathList), l.State.inList()
	}
	q := l.State
	q.Full = false
	return l.message(&q, l.Open), q
}

// AddColumn is the current page with one more column, unless it has that one.
func (l Links) AddColumn(path string) string { return l.AddColumns()(path) }

// AddColumns is AddColumn for many columns.
func (l Links) AddColumns() func(path string) string {
	at, q := l.stay()
	with := l.around(at, q, "cols")
	return func(path string) string {
		if slices.Contains(q.Columns, path) {
			return with("")
		}
		return with(path)
	}
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

// message is the path of a message. Beside the list of all sources it says so in q.
func (l Links) message(q *State, k Key) string {
	q.All = k.Source != "" && l.Source == ""
	return messagePath(k)
}

// Message is a message beside the current list.
func (l Links) Message(k Key) string { return l.Messages()(k) }

// Printed is a message by itself, to be passed on: it is this one or none, also when the explorer
// has been started again and the number means another message.
func (l Links) Printed(k Key, print string) string {
	return l.Base + messagePath(k) + "?f=" + print
}

// Messages is Message for many messages.
func (l Links) Messages() func(k Key) string {
	full := l.State.Full
	q := l.State.inList()
	q.Full = full
	// A message of a source stands beside the list of that source, or of all.
	var states [2]string
	for i, source := range []string{"", "any"} {
		l.message(&q, Key{Source: source})
		states[i] = question(q.Encode())
	}
	return func(k Key) string {
		state := states[0]
		if k.Source != "" {
			state = states[1]
		}
		return l.Base + messagePath(k) + state
	}
}

// Opened is a message in another state of the inspector.
func (l Links) Opened(k Key, change func(*State)) string {
	q := l.State
	change(&q)
	if l.Pasted != "" {
		u := l.Base + PathPaste + "?" + l.Pasted
		if v := q.Encode(); v != "" {
			u += "&" + v
		}
		return u
	}
	return l.url(l.message(&q, k), q)
}

// Form is the action of a form that opens a message, or pasted bytes, in another state.
func (l Links) Form(k Key) string {
	if l.Pasted != "" {
		return l.Paste()
	}
	return l.Base + messagePath(k)
}

// HiddenFields are the fields that such a form carries along: the bytes, if they are pasted, and
// the page's state without what the form asks for.
func (l Links) HiddenFields(without ...string) [][2]string {
	l.State.All = l.Open.Source != "" && l.Source == ""
	fields := l.State.HiddenFields(without...)
	pasted, err := url.ParseQuery(l.Pasted)
	if err != nil {
		return fields
	}
	for _, name := range slices.Sorted(maps.Keys(pasted)) {
		for _, value := range pasted[name] {
			fields = append(fields, [2]string{name, value})
		}
	}
	return fields
}

// FilterFields are those that the filter's form carries along. It asks for the filter and the time
// range, and leads to the newest page.
func (l Links) FilterFields() [][2]string {
	return l.State.fromStart().HiddenFields("q", "filter", "and", "from", "to", "damaged")
}

// FindFields are those that the form which looks for a name carries along.
func (l Links) FindFields() [][2]string { return l.State.inList().HiddenFields("find") }

// Paste is the page that reads bytes from elsewhere.
func (l Links) Paste() string { return l.Base + PathPaste }

// Diff compares messages, in this order.
func (l Links) Diff(keys ...Key) string {
	v := url.Values{}
	for _, k := range keys {
		v.Add("m", k.String())
	}
	if l.State.Dialect != "" {
		v.Set("dialect", l.State.Dialect)
	}
	u := l.Base + PathCompare
	if len(v) > 0 {
		u += "?" + v.Encode()
	}
	return u
}

// CompareForm is the action of a form that names the messages to compare.
func (l Links) CompareForm() string { return l.Base + PathCompare }

// DiffNext compares a message with the nearest older or newer one that has its exchange and routing
// key.
func (l Links) DiffNext(k Key, older bool) string {
	with := "newer"
	if older {
		with = "older"
	}
	return l.Base + PathCompare + "?m=" + url.QueryEscape(k.String()) + "&with=" + with
}

// Download is the address of headers.bin, content-header.bin or body.bin.
func (l Links) Download(k Key, name string) string {
	return l.Base + messagePath(k) + "/" + name
}

// JSON is the message as typed JSON.
func (l Links) JSON(k Key) string {
	return l.Base + sourcePath(k.Source) + messagesJSON + strconv.FormatUint(k.Seq, 10)
}

// Live is the address of the websocket under the current filter, without the cursor.
func (l Links) Live() string {
	return l.urlOn(l.list(PathFeed), l.State.fromStart(), OnFeed)
}

// Summary is where the total, the histogram and the values are counted over everything that the
// page lists.
func (l Links) Summary() string {
	return l.url(l.list(PathSummary), l.State.fromStart())
}

// Export is a file of everything that the page lists, in the form of this extension, whatever page
// of it is shown.
func (l Links) Export(extension string) string {
	s := l.State.fromStart()
	s.Limit = 0
	return l.urlOn(l.list(PathExport)+extension, s, OnExport)
}

// Complete is where the filter's input asks for names; the text before the cursor is added as q.
func (l Links) Complete() string { return l.Base + l.list(PathComplete) }

// Static is the address of an asset, given its hashed name.
func (l Links) Static(hashed string) string { return l.Base + PathStatic + hashed }
