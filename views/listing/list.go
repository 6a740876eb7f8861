package listing

import (
	"context"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
)

// List is one page of messages, newest first.
type List struct {
	Rows    []Row
	Columns []Column // extra columns, in order; each Row has as many Cells
	// Newer and Older are cursors for the links of that name; "" = there is nothing there. Newer is
	// a place to show what came after, Older one to show what came before. NewerIsLatest leads the
	// Newer link to the newest page instead.
	Newer, Older  address.Cursor
	NewerIsLatest bool
	Total         uint64 // messages kept, filter or not
	// Count is how many match; nil where nothing filters.
	Count      *query.Count
	Selected   address.Key // the opened message; the zero Key = none
	Incomplete bool        // the time budget ended before the page was full; Older goes on from there
	Cut        bool        // more rows were asked for than a page has room for; Older goes on from there
	// Empty says why there are no rows; ignored while there are some.
	Empty EmptyReason
	// Text is what the filter looks for everywhere, and Where is where it was found: nil where that
	// took too long.
	Text  string
	Where []query.Whereabouts
	// Notes say what a filter that matched nothing may have been meant to be.
	Notes []query.Note
	// Last is the place of the newest message that this page has taken into account: there live
	// begins. "": nothing has arrived yet.
	Last address.Cursor
	// Sourced: the rows say which source they come from.
	Sourced bool
}

// Column is an extra column: the value at a path.
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
	Source      string // the name of where it comes from; "": the only one
	Seq         uint64
	Received    time.Time
	Exchange    []byte
	RoutingKey  []byte
	Method      wire.Method // drawn where it is not basic.deliver
	Redelivered bool
	NoHeaders   bool         // the headers property is not set
	HeaderCount int          // top-level fields before any damage
	HeaderBytes int          // the table with its length octets
	BodyBytes   uint64       // as declared by the content header
	BodyKept    int          // how many of them are kept
	Damaged     bool         // somewhere in the table or in the other properties
	Duplicates  bool         // a name more than once at top level
	Redacted    bool         // stored without some of its values
	Undecided   bool         // listed although the filter cannot decide it
	Keys        []string     // the first few names, a preview; nil leaves it out
	Cells       []query.Cell // one for each column
	New         bool         // arrived while the page was open: fades in
	Gaps        []source.Gap // between this message and the one below it, newest first
	drawn       string       // the row and its gaps as they are drawn, from Fit; "": not yet
}

// Key names the message.
func (r *Row) Key() address.Key { return address.Key{Source: r.Source, Seq: r.Seq} }

// rowBytes is what a row takes as it is drawn, as a rule.
const rowBytes = 1 << 10

// Fit draws the rows of l and leaves out the last ones, so that those drawn take size bytes at
// most; one stays, however large.
func (l *List) Fit(ctx context.Context, links address.Links, size int) error {
	ctx = templ.InitializeContext(ctx) // once for all of them
	message, zone := links.Messages(), links.State.Location()
	var drawn strings.Builder
	drawn.Grow(min(size, len(l.Rows)*rowBytes))
	ends := make([]int, 0, len(l.Rows))
	for i, r := range l.Rows {
		if err := rowAndGaps(r, l, zone, message).Render(ctx, &drawn); err != nil {
			return err
		}
		if drawn.Len() > size && i > 0 {
			break
		}
		ends = append(ends, drawn.Len())
	}
	l.Rows = l.Rows[:len(ends)]
	all, start := drawn.String(), 0
	for i, end := range ends {
		l.Rows[i].drawn = all[start:end]
		start = end
	}
	return nil
}

// selects reports whether r is the opened message.
func (l *List) selects(r Row) bool { return r.Key() == l.Selected && r.Seq != 0 }
