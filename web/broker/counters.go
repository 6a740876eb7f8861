package broker

import "sync/atomic"

// counters are shared between the reader and Status.
type counters struct {
	stored, known, givenBack, acknowledged atomic.Uint64
	// of the last stored message of a stream; -1: none
	offset atomic.Int64
}
