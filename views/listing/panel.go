package listing

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
