package address

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// The values of a Query's Tab, besides none for the fields.
const (
	TabReadings = "readings" // how clients read the table
	TabDeaths   = "x-death"
	TabCode     = "code"
	TabLaidOpen = "open" // what another protocol's encoding says
)

// State is the state of a page that is kept in its URL. The zero value is the newest page of
// everything. [Parse] reads it and [State.Values] writes it, both by the table of [Parameters].
type State struct {
	Q       string       // q: the filter
	Key     string       // filter: the key of the filter, where that is too long; see FilterKey
	And     string       // and: a condition to add to the filter
	Before  Cursor       // before: show messages older than this place
	After   Cursor       // after: show messages newer than this place
	Oldest  bool         // after=0: show the oldest
	Columns []string     // cols: header paths as extra columns
	From    time.Time    // from: received at or after
	To      time.Time    // to: received before
	Zone    string       // tz: name of a time zone; "" = UTC
	Dialect string       // dialect: how tables are read; "" = the configured one
	Sorted  bool         // order=az: fields by name instead of wire order
	BySize  bool         // order=size: fields by their octets, largest first
	Each    bool         // each=1: every field of a name that is repeated many times
	Packs   bool         // order=packs: fields by the software that sets them
	At      int          // at: offset of a value shown alone; 0 = the whole table
	Skip    int          // skip: elements, or bytes of a text, left out before the first one shown
	Hex     int          // hex: a byte in the first row of the hex page; 0 = where the tree begins
	Bytes   archive.Span // b: marked bytes of the table
	Body    int          // body: offset of the first byte of the body preview
	Tab     string       // tab: "" = the fields; "readings", "x-death", "open", "code"
	Lang    string       // lang: which client the code is for
	Full    bool         // view=full: the message without the list
	All     bool         // all=1: the message beside the list of all sources
	Limit   int          // limit: rows a page; 0 = the default
	Facet   string       // facet: the header whose values are counted, as a filter names it
	Sort    Sort         // sort: the column that a page is put in order by
	Find    string       // find: what the names in the panel hold; "" = all are listed
	Damaged bool         // damaged=1: messages that the filter cannot decide are listed too

	known keyed // a filter whose key need not be made again for each link
}

// keyed is a filter with its key.
type keyed struct{ filter, key string }

// Keyed is s with the key of its filter at hand. A page that has a long filter writes hundreds of
// links.
func (s State) Keyed() State {
	if IsLong(s.Q) {
		s.known = keyed{s.Q, FilterKey(s.Q)}
	}
	return s
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

// String is the order as the address has it.
func (s Sort) String() string {
	if s.Path == "" {
		return ""
	}
	if s.Desc {
		return s.Path + ":desc"
	}
	return s.Path + ":asc"
}

// Parse reads the state of a page out of a URL's query. What cannot be read is left at its zero
// value and named in the second result, in the order of [Parameters].
func Parse(v url.Values) (State, []string) {
	var s State
	var bad []string
	for _, p := range parameters {
		if p.read == nil {
			continue
		}
		given := v[p.Name]
		if p.values == nil {
			given = given[:min(len(given), 1)]
		}
		for _, value := range given {
			if value != "" && (!utf8.ValidString(value) || !p.read(&s, value)) {
				bad = append(bad, p.Name)
			}
		}
	}
	return s, bad
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

// Encode writes the state as a URL's query, leaving out what is at its zero value, in the order of
// the names.
func (s State) Encode() string { return s.encodeOn(^Pages(0)) }

// encodeOn writes what these pages take.
func (s State) encodeOn(pages Pages) string { return encode(s.fields(pages)) }

// field is a parameter with its value.
type field struct{ name, value string }

// fields are what these pages take, in the order of the names.
func (s *State) fields(pages Pages) []field {
	var fields []field
	for i := range parameters {
		p := &parameters[i]
		switch {
		case p.Pages&pages == 0:
		case p.values != nil:
			for _, v := range p.values(s) {
				fields = append(fields, field{p.Name, v})
			}
		case p.write != nil:
			if v := p.write(s); v != "" {
				fields = append(fields, field{p.Name, v})
			}
		}
	}
	slices.SortStableFunc(fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return fields
}

// encode writes fields as a URL's query.
func encode(fields []field) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(f.name)
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(f.value))
	}
	return b.String()
}

// HiddenFields are the names and values that a form carries along: the state without what the form
// asks for itself.
func (s State) HiddenFields(without ...string) [][2]string {
	var fields [][2]string
	for i := range parameters {
		p := &parameters[i]
		if slices.Contains(without, p.Name) {
			continue
		}
		for _, value := range p.of(&s) {
			fields = append(fields, [2]string{p.Name, value})
		}
	}
	return fields
}

// Location is the time zone of the page.
func (s State) Location() *time.Location {
	if s.Zone != "" {
		if loc, err := time.LoadLocation(s.Zone); err == nil {
			return loc
		}
	}
	return time.UTC
}

// inList drops what belongs to an opened message.
func (s State) inList() State {
	s.At, s.Skip, s.Hex, s.Bytes, s.Body, s.Tab, s.Lang = 0, 0, 0, archive.Span{}, 0, "", ""
	s.Each, s.Full, s.All = false, false, false
	return s
}

// fromStart drops the cursors: another filter starts at the newest message.
func (s State) fromStart() State {
	s = s.inList()
	s.Before, s.After, s.Oldest = "", "", false
	return s
}
