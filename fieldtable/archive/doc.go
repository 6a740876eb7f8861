// Package archive keeps deliveries as they came, encoded, in bounded memory: one writer appends,
// any number of readers look at snapshots without locks, and the oldest messages go first.
//
// # Terminology
//
// A message has a sequence number: the first is 1, none is used twice. A segment is one run of
// memory with the records of consecutive messages; segments are dropped whole, oldest first, when a
// new one would pass the bound. A shape is the ordered list of (name, tag) of a message's header
// table at its top level. Shapes are interned when a message is appended, so that questions about
// names and types are answered from shapes and counts, without touching the messages. With a record
// goes where the tag of each of its headers is, noted in the same pass, so that one value is found
// without passing over those before it: Message.Place.
//
// A column is what the messages of one sealed segment have under one name, remembered after the
// first question that had to read them: see Column. The records stay the only truth; a column can
// be dropped at any time, and is made again when it is asked for.
//
// # Bounds
//
// The segments, the shapes and the columns together stay within Config.MaxBytes; columns take an
// eighth of it at most. Memory that a snapshot, a Message or a slice from one still refers to is
// released by the garbage collector only after that reference is gone: Stats.Pinned says how much
// is waiting. Two things are cut to keep the bound, and a Message always says so: a body longer
// than Config.BodyLimit is kept as a prefix (Body, BodySize), and a content header larger than the
// whole bound likewise (HeaderSize). Nothing else is dropped from a message, and no message is
// refused.
//
// With Go's default settings the collector lets the heap grow to about twice what is in use before
// it frees evicted segments. A program that must stay near MaxBytes sets a limit with
// runtime/debug.SetMemoryLimit; segments hold no pointers, so that collecting more often costs
// little.
//
// # Concurrency
//
// The Writer belongs to one goroutine. Everything else may be called from any goroutine at any
// time. A Snapshot is a value that never changes: its First, Last, counts and messages stay the
// same while the writer goes on and evicts.
package archive
