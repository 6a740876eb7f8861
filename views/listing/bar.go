package listing

import "time"

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
	// Exports are the forms of file that the matches can be had in; nil: none. ExportLimit is how many
	// messages a file holds at most.
	Exports     []ExportForm
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

// Total is how many messages match.
type Total struct {
	Matched uint64
	Damaged uint64 // could not be decided
	// Complete: everything was looked at. Else there are at least that many.
	Complete bool
}
