package listing

import "github.com/headerglass/headerglass/fieldtable/query"

// QueryBar is the filter, its time range and the live control.
type QueryBar struct {
	Query string // as typed
	// Error says what is wrong with Query; nil = nothing.
	Error *query.Error
	// Chips are the parts of the filter joined by AND, each with what is left when it is taken out.
	// Nil draws none.
	Chips []Chip
	// Explain is the line under the bar; nil = none.
	Explain *query.Explain
	// Live says that the page shows the newest messages, so that new ones may be put above them.
	// False on older pages and on a bounded time range.
	Live bool
	// Run tells this run of the explorer from another: numbers of messages mean nothing in another.
	Run string
	// Exports are the forms of file that the matches can be had in; nil: none. ExportLimit is how
	// many messages a file holds at most.
	Exports     []ExportForm
	ExportLimit int
}

// Chip is one part of a filter.
type Chip struct {
	Text    string
	Without string // the filter without it
}
