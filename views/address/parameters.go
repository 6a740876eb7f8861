package address

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Pages is a set of pages that take a parameter.
type Pages uint16

// The pages, as far as they take different parameters.
const (
	OnList        Pages = 1 << iota // the list, alone or beside a message
	OnMessage                       // a message, from the archive or pasted
	OnFeed                          // new rows as they arrive
	OnSummary                       // the counts over everything that a list shows
	OnExport                        // a file of it
	OnCompare                       // messages side by side
	OnPaste                         // bytes from elsewhere
	OnListJSON                      // the list as JSON
	OnMessageJSON                   // a message as JSON, or as a file
)

const (
	onLists = OnList | OnMessage | OnSummary // a message stays beside its list
	onFiles = OnExport | OnListJSON          // lists for programs
)

// Parameter is one parameter of the pages' addresses.
type Parameter struct {
	Name    string
	Meaning string // in a few words
	Pages   Pages  // that take it
	// Number: it is a number, not below 0. Values are the only ones; nil: there may be others.
	// Repeats: each one may stand in a parameter of its own.
	Number, Repeats bool
	Values          []string

	// read takes a value that is not empty into a state and reports whether it can be read. write
	// gives the value of a state, "" where it is at its zero value. Nil for a parameter that is no
	// part of a State; columns have several values, which values gives.
	read   func(*State, string) bool
	write  func(*State) string
	values func(*State) []string
}

// of returns the values of a state, none where it is at its zero value.
func (p *Parameter) of(s *State) []string {
	switch {
	case p.values != nil:
		return p.values(s)
	case p.write == nil:
		return nil
	}
	if v := p.write(s); v != "" {
		return []string{v}
	}
	return nil
}

// Parameters are all of them, in the order that they are read and that forms carry them in.
func Parameters() []Parameter { return slices.Clone(parameters[:]) }

// parameters never change. A page writes hundreds of links, which must not make the table anew
// each.
var parameters = [...]Parameter{
	{
		Name: "q", Meaning: "the filter", Pages: onLists | OnFeed | onFiles,
		read:  func(s *State, v string) bool { s.Q = v; return true },
		write: func(s *State) string { return short(s.Q) },
	},
	{
		Name: "filter", Meaning: "a filter that is too long to stand in every link, as links have it",
		Pages: onLists | OnFeed | onFiles,
		read:  func(s *State, v string) bool { s.Key = v; return true },
		write: func(s *State) string { return cmp.Or(s.keyOfFilter(), s.Key) },
	},
	{
		Name: "and", Meaning: "one more condition for that filter", Pages: onLists | OnFeed | onFiles,
		read:  func(s *State, v string) bool { s.And = v; return true },
		write: func(s *State) string { return s.And },
	},
	{
		Name: "before", Meaning: "messages older than this one", Pages: OnList | OnMessage | OnListJSON,
		read:  func(s *State, v string) bool { return readCursor(&s.Before, v) },
		write: func(s *State) string { return string(s.Before) },
	},
	{
		Name: "after", Meaning: "messages newer than this one; 0: the oldest", Pages: OnList | OnMessage | OnFeed | OnListJSON,
		read: func(s *State, v string) bool {
			s.Oldest = v == "0"
			return readCursor(&s.After, v)
		},
		write: func(s *State) string {
			if s.Oldest {
				return "0"
			}
			return string(s.After)
		},
	},
	{
		Name: "cols", Meaning: "headers as columns",
		Pages: onLists | OnFeed | onFiles, Repeats: true,
		read: func(s *State, v string) bool {
			s.Columns = append(s.Columns, splitPaths(v)...)
			return len(strings.Join(s.Columns, "")) <= maxColumns
		},
		values: func(s *State) []string { return s.Columns },
	},
	{
		Name: "tz", Meaning: "the time zone of the page", Pages: onLists | OnFeed | onFiles | OnPaste,
		read:  readZone,
		write: func(s *State) string { return s.Zone },
	},
	{
		Name: "from", Meaning: "received at or after", Pages: onLists | OnFeed | onFiles,
		read:  func(s *State, v string) bool { return readMoment(&s.From, v, s.Location()) },
		write: func(s *State) string { return moment(s.From) },
	},
	{
		Name: "to", Meaning: "received before", Pages: onLists | onFiles,
		read:  func(s *State, v string) bool { return readMoment(&s.To, v, s.Location()) },
		write: func(s *State) string { return moment(s.To) },
	},
	{
		Name: "dialect", Meaning: "how tables are read", Pages: onLists | OnFeed | onFiles | OnMessageJSON | OnCompare | OnPaste,
		read:  func(s *State, v string) bool { s.Dialect = v; return true },
		write: func(s *State) string { return s.Dialect },
	},
	{
		Name: "order", Meaning: "the order of the fields: az, size, packs",
		Pages: onLists | OnExport | OnPaste, Values: []string{"wire", "az", "size", "packs"},
		read: readOrder,
		write: func(s *State) string {
			switch {
			case s.Sorted:
				return "az"
			case s.BySize:
				return "size"
			case s.Packs:
				return "packs"
			}
			return ""
		},
	},
	{
		Name: "each", Meaning: "1: every field of a name that is repeated many times",
		Pages: OnMessage | OnPaste, Values: []string{"1"},
		read: func(s *State, v string) bool { s.Each = v == "1"; return s.Each },
		write: func(s *State) string {
			if s.Each {
				return "1"
			}
			return ""
		},
	},
	{
		Name: "at", Meaning: "the offset of a value shown alone",
		Pages: OnMessage | OnPaste, Number: true,
		read:  func(s *State, v string) bool { return readSmall(&s.At, v) },
		write: func(s *State) string { return small(s.At) },
	},
	{
		Name: "skip", Meaning: "elements left out before the first one shown",
		Pages: OnMessage | OnPaste, Number: true,
		read:  func(s *State, v string) bool { return readSmall(&s.Skip, v) },
		write: func(s *State) string { return small(s.Skip) },
	},
	{
		Name:    "hex",
		Meaning: "a byte in the first row of bytes, or the bytes to inspect",
		Pages:   OnMessage | OnPaste,
		read:    func(s *State, v string) bool { return readSmall(&s.Hex, v) },
		write:   func(s *State) string { return small(s.Hex) },
	},
	{
		Name: "b", Meaning: "marked bytes", Pages: OnMessage | OnPaste,
		read: func(s *State, v string) bool { return readRange(&s.Bytes, v) },
		write: func(s *State) string {
			if s.Bytes.From >= s.Bytes.To {
				return ""
			}
			return strconv.Itoa(s.Bytes.From) + "-" + strconv.Itoa(s.Bytes.To-1)
		},
	},
	{
		Name: "body", Meaning: "the first byte shown of the body",
		Pages: OnMessage | OnPaste, Number: true,
		read:  func(s *State, v string) bool { return readSmall(&s.Body, v) },
		write: func(s *State) string { return small(s.Body) },
	},
	{
		Name: "tab", Meaning: "a view of the headers: readings, x-death, open, code", Pages: OnMessage | OnPaste,
		read:  func(s *State, v string) bool { s.Tab = v; return true },
		write: func(s *State) string { return s.Tab },
	},
	{
		Name: "lang", Meaning: "the client that code is for", Pages: OnMessage | OnPaste,
		read:  func(s *State, v string) bool { s.Lang = v; return true },
		write: func(s *State) string { return s.Lang },
	},
	{
		Name: "view", Meaning: "full: the message without the list", Pages: OnMessage | OnPaste,
		read: func(s *State, v string) bool { s.Full = v == "full"; return true },
		write: func(s *State) string {
			if s.Full {
				return "full"
			}
			return ""
		},
	},
	{
		Name: "limit", Meaning: "rows a page",
		Pages: onLists | onFiles, Number: true,
		read: func(s *State, v string) bool {
			ok := readSmall(&s.Limit, v)
			s.Limit = min(s.Limit, maxLimit)
			return ok
		},
		write: func(s *State) string { return small(s.Limit) },
	},
	{
		Name: "facet", Meaning: "the header whose values are counted", Pages: onLists | OnFeed,
		read:  func(s *State, v string) bool { s.Facet = v; return len(v) <= maxFacet },
		write: func(s *State) string { return s.Facet },
	},
	{
		Name: "find", Meaning: "what the names listed beside the messages hold", Pages: onLists | OnFeed,
		read:  func(s *State, v string) bool { s.Find = v; return len(v) <= maxFind },
		write: func(s *State) string { return s.Find },
	},
	{
		Name: "sort", Meaning: "the column that a page is put in order by", Pages: onLists | OnListJSON,
		read:  func(s *State, v string) bool { s.Sort = parseSort(v); return len(s.Sort.Path) <= maxColumns },
		write: func(s *State) string { return s.Sort.String() },
	},
	{
		Name: "damaged", Meaning: "1: messages that cannot be decided are listed too",
		Pages: onLists | OnListJSON, Values: []string{"0", "1"},
		read: func(s *State, v string) bool {
			s.Damaged = v == "1"
			return v == "0" || v == "1"
		},
		write: func(s *State) string {
			if s.Damaged {
				return "1"
			}
			return ""
		},
	},
	{
		Name: "all", Meaning: "1: beside the list of all sources",
		Pages: OnMessage, Values: []string{"1"},
		read: func(s *State, v string) bool { s.All = v == "1"; return s.All },
		write: func(s *State) string {
			if s.All {
				return "1"
			}
			return ""
		},
	},
	{Name: "slow", Meaning: "1: fewer, larger batches", Pages: OnFeed, Values: []string{"1"}},
	{Name: "f", Meaning: "the print of the message that a link means", Pages: OnMessage},
	{Name: "run", Meaning: "the run of the explorer that the page is of", Pages: OnFeed},
	{Name: "m", Meaning: "a message to compare", Pages: OnCompare, Repeats: true},
	{
		Name: "with", Meaning: "older or newer: the nearest of the same routing key",
		Pages: OnCompare, Values: []string{"older", "newer"},
	},
	{Name: "base64", Meaning: "the bytes, as base64", Pages: OnPaste},
	{Name: "z", Meaning: "the bytes, deflated, as base64", Pages: OnPaste},
	{Name: "read", Meaning: "what the bytes were given as: hex, hexdump, base64, export", Pages: OnPaste},
	{Name: "as", Meaning: "what the bytes are: header, table", Pages: OnPaste, Values: []string{"header", "table"}},
}

const (
	maxLimit = 1000 // rows a page
	// Every link of a page has them, so these bound it, in bytes. A name has 255 at most.
	maxFacet   = 520
	maxFind    = 255
	maxColumns = 1024 // together
)

// Most is how many bytes the values of a parameter may have together; 0: no bound of its own.
func Most(name string) int {
	return map[string]int{"facet": maxFacet, "find": maxFind, "cols": maxColumns}[name]
}

func number(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func readSmall(n *int, v string) bool {
	read, err := strconv.ParseUint(v, 10, 31)
	if err == nil {
		*n = int(read)
	}
	return err == nil
}

func small(n int) string { return number(uint64(max(n, 0))) }

func readZone(s *State, v string) bool {
	if v == "UTC" {
		return true
	}
	// "Local" would be the zone of the machine that the explorer runs on.
	if _, err := time.LoadLocation(v); err != nil || v == "Local" {
		return false
	}
	s.Zone = v
	return true
}

func readMoment(t *time.Time, v string, zone *time.Location) bool {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02",
	} {
		if read, err := time.ParseInLocation(layout, v, zone); err == nil {
			*t = read.UTC()
			return true
		}
	}
	return false
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func readOrder(s *State, v string) bool {
	switch v {
	case "wire":
	case "az":
		s.Sorted = true
	case "size":
		s.BySize = true
	case "packs":
		s.Packs = true
	default:
		return false
	}
	return true
}

// readRange reads the first and the last byte of a range, or one byte.
func readRange(r *archive.Span, v string) bool {
	first, last, found := strings.Cut(v, "-")
	if !found {
		last = first
	}
	from, err1 := strconv.ParseUint(first, 10, 31)
	to, err2 := strconv.ParseUint(last, 10, 31)
	if err1 != nil || err2 != nil || to < from || to == 1<<31-1 {
		return false
	}
	*r = archive.Span{From: int(from), To: int(to) + 1}
	return true
}
