// Package views renders the explorer's pages: templ components and the view models they are drawn
// from.
//
// The models are shaped like the layout. A caller fills them with plain facts (bytes, numbers,
// times); the package decides how these look, and walks field tables itself when a message is
// opened: [BuildInspector] is the only function here that decodes one. Everything a publisher can
// choose (header names, values, exchange, routing key, properties, body) goes through [Visible]
// before it is written.
//
// The package knows neither HTTP nor the archive. A page is an HTML document that works without
// scripts; the scripts of package static add live rows, keyboard and pointer comforts to the same
// markup.
package views

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/static"
)

// Frame is what stands around every page.
type Frame struct {
	Title  string         // before " · headerglass"; "" = the queue's name
	Links  Links          // what every URL on the page is built from
	Assets *static.Assets // hashed URLs of the scripts and styles; nil draws the page without them
	Broker source.Status
	Now    time.Time // what relative times count from; zero leaves them out
	// Examples are the filters that the help panel shows; nil leaves them out.
	Examples []FilterExample
}

// ListPage is the list of messages with the panels around it.
type ListPage struct {
	Frame
	Bar   QueryBar
	Keys  KeyList
	Chart Histogram
	// Facet is the values of the header that the query names; nil when it names none.
	Facet *Facet
	List  List
}

// Page is a list with what is opened beside it.
// The zero value of each part is drawn as the part's empty state; see the part.
type Page struct {
	ListPage
	// Inspector is the opened message; nil when none is open.
	Inspector *Inspector
	// Problem stands where the opened message would: evicted, not there yet. Nil when there is none.
	Problem *Problem
}

// QueryBar is the filter, its time range and the live control.
type QueryBar struct {
	Query string // as typed
	// Error says what is wrong with Query; nil = nothing.
	Error *QueryError
	// Chips are the parts of the filter joined by AND, each with what is left when it is taken out.
	// Nil draws none.
	Chips []Chip
	// Explain is the line under the bar; nil = none.
	Explain *Explain
	// Suggestions complete the input: keys really seen, already written as the language wants them.
	Suggestions []string
	// Live says that the page shows the newest messages, so that new ones may be put above them.
	// False on older pages and on a bounded time range.
	Live bool
	// ExportLimit is how many messages a file of matches holds at most; 0: none can be had.
	ExportLimit int
}

// QueryError is a filter that does not compile.
type QueryError struct {
	Offset int // bytes into the filter, where it goes wrong
	End    int // one past the last byte at fault; <= Offset marks one character
	Msg    string
}

// Chip is one part of a filter.
type Chip struct {
	Text    string
	Without string // the filter without it
}

// Explain is what answering the filter cost.
type Explain struct {
	Keys []string // header names read
	// Shapes counts the distinct lists of header names and types kept, ShapesMatched those whose
	// messages can match. 0 shapes: they were of no use, since tables are read under another
	// dialect than the archive's.
	Shapes, ShapesMatched int
	Matched               uint64
	Scanned               uint64
	Skipped               uint64 // answered from shapes alone
	// could not be decided: the table is damaged before the header asked for
	Damaged   uint64
	BytesRead int64
	Decoded   uint64 // header tables decoded whole
	Elapsed   time.Duration
	// everything was searched: not stopped by a full page or the time budget
	Complete bool
}

// KeyList is the panel of header names seen. Nil Keys draws "no headers yet".
type KeyList struct {
	Keys     []Key
	Messages uint64 // what the counts are out of
	More     int    // names left out of Keys
}

// Key is one header name.
type Key struct {
	Name  []byte
	Count uint64 // messages that carry it
	Tags  []TagCount
	// Filter is the query that its link sets; "" makes one that asks for the name's presence.
	Filter string
	Active bool // part of the current filter
}

// TagCount is how often a header had one type.
type TagCount struct {
	Tag   byte
	Count uint64
}

// Histogram is arrivals over time. Nil Buckets hides it.
type Histogram struct {
	Buckets []Bucket
	Step    time.Duration // how long each bucket is
	// Series are the values that the buckets are split by, the lowest part of a bar first. Nil: not
	// split.
	Series []Series
	// Filtered: only what matches the filter is counted.
	Filtered bool
	// Partial: the time limit ended the count, so that bars are too low.
	Partial bool
	// From and To are the time range asked for, drawn as a band; zero = open.
	From, To time.Time
}

// Bucket counts the arrivals of one step.
type Bucket struct {
	Start time.Time
	Count uint64
	// Parts has the share of each of Series; what is left of Count has another value or none.
	Parts []uint64
}

// Series is a value that bars are split by.
type Series struct {
	Text  []byte
	Total uint64
}

// Facet is how the values of a header are spread over the messages that match.
type Facet struct {
	Operand string // as a filter names it
	// Error says what is wrong with Operand; nil = nothing, and the rest is set.
	Error  *QueryError
	Values []FacetValue // the most frequent first
	Types  []TagCount   // of all values, the most frequent first: several are a drift
	// Matched counts the messages that match the filter, With those that have a value.
	Matched, With uint64
	Other         uint64 // values that are not among Values
	// Bounded: there are more distinct values than are told apart, so that a rare one may be
	// missing.
	Bounded bool
	// Partial: the time limit ended the count after Looked messages of Kept.
	Partial      bool
	Looked, Kept uint64
}

// FacetValue is one value, as displayed, of one type.
type FacetValue struct {
	Text   []byte
	Cut    bool // Text is only the beginning
	Tag    byte // 0: of a property
	Count  uint64
	Filter string // the condition that a message has it; "" = it cannot be written
}

// List is one page of messages, newest first.
type List struct {
	Rows    []Row
	Columns []Column // extra columns, in order; each Row has as many Cells
	// Newer and Older are cursors for the links of that name; 0 = there is nothing there. Newer is
	// a sequence number to show what came after, Older one to show what came before. NewerIsLatest
	// leads the Newer link to the newest page instead.
	Newer, Older  uint64
	NewerIsLatest bool
	Total         uint64 // messages kept, filter or not
	// Count is how many match; nil where nothing filters.
	Count      *Total
	Selected   uint64 // sequence number of the opened message; 0 = none
	Incomplete bool   // the time budget ended before the page was full; Older goes on from there
	// Empty says why there are no rows; ignored while there are some.
	Empty EmptyReason
	// Nearest are filters like one that matched nothing, with names that were seen.
	Nearest []string
	Last    uint64 // the newest sequence number this page has taken into account: where live begins
}

// Total is how many messages match.
type Total struct {
	Matched uint64
	Damaged uint64 // could not be decided
	// Complete: everything was looked at. Else there are at least that many.
	Complete bool
}

// Column is an extra column: the value at a path, with the links that take the column out and sort
// by it.
type Column struct {
	Path string
	Tags []byte // the types of its values on this page
}

// EmptyReason tells the empty states of a list apart.
type EmptyReason uint8

const (
	EmptyNoMessages EmptyReason = iota // nothing has arrived yet
	EmptyNoMatch                       // the filter matches nothing that is kept
	EmptyEndOfList                     // the cursor stands past the oldest message kept
)

// Row is one message in the list. Nothing of it needs a decoded table.
type Row struct {
	Seq         uint64
	Received    time.Time
	Exchange    []byte
	RoutingKey  []byte
	Redelivered bool
	NoHeaders   bool     // the headers property is not set
	HeaderCount int      // top-level fields before any damage
	HeaderBytes int      // the table with its length octets
	BodyBytes   uint64   // as declared by the content header
	BodyKept    int      // how many of them are kept
	Damaged     bool     // somewhere in the table or in the other properties
	Duplicates  bool     // a name more than once at top level
	Redacted    bool     // stored without some of its values
	Undecided   bool     // listed although the filter cannot decide it
	Keys        []string // the first few names, a preview; nil leaves it out
	Cells       []Cell   // one for each column
	New         bool     // arrived while the page was open: fades in
}

// Cell is a value in an extra column. The zero value is drawn as absent.
type Cell struct {
	Tag  byte
	Text []byte // as fieldtable's Value.AppendText writes it
	Set  bool
	// Property: the value is not a header's, so it has no tag.
	Property bool
	// Removed: the message was stored without the value. Damaged: the table cannot be read as far
	// as the value.
	Removed, Damaged bool
}

// Problem is a designed page or panel for what cannot be shown.
type Problem struct {
	Status int    // HTTP status code; 0 leaves it out
	Title  string // a few words
	Msg    string // one plain sentence: what happened
	Hint   string // one plain sentence: what to do; "" = none
	Action string // text of the link; "" = none
	URL    string // where it leads
	Code   string // a command to copy; "" = none
}

// Message is what an inspector is built from: the facts and bytes of one message, as delivered.
type Message struct {
	Seq         uint64
	Received    time.Time
	DeliveryTag uint64
	Redelivered bool
	Exchange    []byte
	RoutingKey  []byte
	ConsumerTag []byte
	// Headers is the headers property: an encoded field table with its length octets. HasHeaders is
	// false when the property is not set.
	Headers       []byte
	HasHeaders    bool
	HeadersOffset int    // where Headers begins in ContentHeader, bytes
	ContentHeader []byte // the whole payload
	// Removed are the bytes of ContentHeader that --redact took out before the message was stored,
	// in order.
	Removed       []Range
	Properties    []wire.Property
	PropertiesErr string // why the properties end early; "" = they do not
	Body          []byte // what is kept of it
	BodySize      uint64 // bytes, as declared
}
