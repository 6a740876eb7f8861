package broker

import "time"

// recent remembers the last messages that drain has stored, so that one whose acknowledgement was
// lost with the connection is not stored twice: the broker delivers again what was unacknowledged,
// and after a crash also what it had not yet written down. The archive cannot tell, since it may
// keep less of a message than arrived.
//
// Messages with the same octets cannot be told apart. Those that were never acknowledged are sure
// to come again, and their number is known. A message that was acknowledged is expected again only
// if it is the only one with its octets, and only for a while. Any other may be a message that
// somebody else gave back, so it is stored: storing a message twice does less harm than losing one.
type recent struct {
	// unflagged says that after a crash the broker delivers messages again without a flag. It
	// delivers them before all others. replay says that no other has come on this connection yet.
	unflagged, replay bool

	ring  []stored
	next  int
	fresh int             // number of messages in ring that came on this connection: the newest
	owed  map[uint64]int  // by fingerprint, how many are sure to come again
	maybe map[uint64]bool // fingerprints of others that may come again
	// until is when maybe ends; zero: nothing has arrived since the connection ended.
	until time.Time
}

// soon bounds the time in which messages come again whose acknowledgements were lost. It begins
// with the first delivery of a connection. The broker puts what it takes back at the head of the
// queue, and it notices the end of the last connection after two heartbeats at the latest.
const soon = time.Minute

type stored struct{ print, tag uint64 }

func newRecent(size int) *recent { return &recent{ring: make([]stored, 0, size)} }

// stored remembers a message and the delivery tag that it had; 0: one of an earlier process.
func (r *recent) stored(print, tag uint64) {
	r.fresh = min(r.fresh+1, cap(r.ring))
	if len(r.ring) < cap(r.ring) {
		r.ring = append(r.ring, stored{print, tag})
		return
	}
	r.ring[r.next] = stored{print, tag}
	r.next = (r.next + 1) % len(r.ring)
}

// disconnected is called after a connection on which messages arrived. Those with delivery tags
// above settled were stored and not acknowledged.
func (r *recent) disconnected(settled uint64) {
	count := make(map[uint64]int, len(r.ring))
	for _, m := range r.ring {
		count[m.print]++
	}
	r.replay = r.unflagged
	r.owed, r.maybe, r.until = map[uint64]int{}, map[uint64]bool{}, time.Time{}
	for i := range r.fresh {
		if m := r.ring[(r.next+len(r.ring)-1-i)%len(r.ring)]; m.tag > settled {
			r.owed[m.print]++
		}
	}
	for print, n := range count {
		if n == 1 && r.owed[print] == 0 {
			r.maybe[print] = true
		}
	}
	r.fresh = 0
}

// claim reports whether a message that arrives now is one that was stored, and counts it off.
func (r *recent) claim(print uint64, redelivered bool, now time.Time) bool {
	if r.until.IsZero() {
		r.until = now.Add(soon)
	}
	switch {
	case !redelivered && !r.replay:
		return false
	case r.owed[print] > 0:
		r.owed[print]--
		return true
	}
	known := r.maybe[print] && now.Before(r.until)
	delete(r.maybe, print)
	if !known {
		r.replay = false
	}
	return known
}
