package broker

import "sync/atomic"

// counters are shared between the reader and Status.
type counters struct {
	stored, known, givenBack, acknowledged atomic.Uint64
	// of the last stored message of a stream; -1: none
	offset atomic.Int64
	// Of a stream: offsets between those delivered that were not, and messages that were delivered
	// beside the filter.
	gaps, leftOut atomic.Uint64
}
