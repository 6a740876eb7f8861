package broker

import (
	"math"
	"sync"
)

// growth is the factor by which flow widens at a time.
const growth = 4

// flow decides how many messages may be under way: delivered and not yet acknowledged. It outlives
// connections.
//
// When a reader dies, a queue that counts deliveries counts one for every message under way, and it
// drops a message that was delivered too often. So flow begins with one message on such a queue,
// and widens after each round of acknowledgements.
type flow struct {
	most int   // as configured
	room int64 // bytes that may be under way; 0: any

	mu    sync.Mutex
	width int // of the current subscription
	acked int // acknowledged since width changed
	slow  int // messages that are still to be read one at a time
	size  float64
}

// begin returns the width of a new subscription; careful: one message at first.
func (f *flow) begin(careful bool) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.width, f.acked = f.bounded(f.most), 0
	if careful || f.slow > 0 {
		f.width = 1
	}
	return f.width
}

// bounded is n, or as many messages of the recent size as there is room for. The caller holds mu.
func (f *flow) bounded(n int) int {
	if f.room > 0 && f.size > 0 {
		n = int(min(float64(n), max(float64(f.room)/f.size, 1)))
	}
	return n
}

// arrived is told the size of each delivery.
func (f *flow) arrived(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := float64(bytes); b > f.size {
		f.size = b // a few large ones are enough to fill the room
	} else {
		f.size += (b - f.size) / 16
	}
}

// caution has the next n messages read one at a time.
func (f *flow) caution(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow = max(f.slow, n)
}

// acknowledged is told of acknowledgements.
func (f *flow) acknowledged(n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acked += int(min(n, math.MaxInt32))
	f.slow = max(f.slow-int(min(n, math.MaxInt32)), 0)
}

// wants returns the width of the subscription, and the one that it should have from now on.
func (f *flow) wants() (now, next int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.width, f.next()
}

// resized is told that the subscription has this width.
func (f *flow) resized(width int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.width, f.acked = width, 0
}

// next is the width to change to. Each change costs a new subscription, so small changes are not
// made. The caller holds mu.
func (f *flow) next() int {
	fits := f.bounded(f.most)
	switch {
	case f.slow > 0:
		return 1
	case fits*2 <= f.width:
		return fits
	case f.acked >= f.width && (fits >= 2*f.width || fits == f.most):
		return max(min(f.width*growth, fits), f.width)
	}
	return f.width
}
