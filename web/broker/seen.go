package broker

import "time"

// seen tells the messages of a look that an earlier look has shown from those that are new. It
// counts: of k messages with the same bytes, k are shown.
//
// A look that is cut off says nothing about what it did not reach, so only looks that ran their
// course age what is remembered: a message that two of them in a row have not met is forgotten, and
// would be shown again. The number of entries is bounded.
type seen struct {
	limit   int
	look    uint32 // number of the current look
	ended   uint32 // looks that ran their course
	entries map[uint64]seenEntry
}

type seenEntry struct {
	shown  uint32 // most in any look
	inLook uint32 // in look
	look   uint32
	ended  uint32 // of seen when met last
}

func newSeen(limit int) *seen { return &seen{limit: limit, entries: map[uint64]seenEntry{}} }

// begin starts a look.
func (s *seen) begin() { s.look++ }

// end ends a look that ran its course and forgets what was not met for long.
func (s *seen) end() {
	s.ended++
	for h, e := range s.entries {
		if s.ended-e.ended > 2 {
			delete(s.entries, h)
		}
	}
}

// known counts a message and reports whether it was shown before.
func (s *seen) known(h uint64) bool {
	e, ok := s.entries[h]
	if e.look != s.look {
		e.look, e.inLook = s.look, 0
	}
	e.inLook++
	e.ended = s.ended
	known := e.inLook <= e.shown
	e.shown = max(e.shown, e.inLook)
	if !ok && len(s.entries) >= s.limit {
		s.makeRoom()
	}
	s.entries[h] = e
	return known
}

// makeRoom forgets what the current look has not met, or else anything: showing a message twice is
// the lesser harm.
func (s *seen) makeRoom() {
	for h, e := range s.entries {
		if e.look != s.look {
			delete(s.entries, h)
		}
	}
	if len(s.entries) >= s.limit {
		clear(s.entries)
	}
}

// recent remembers the last messages that drain has stored, so that one whose acknowledgement was
// lost with the connection is not stored twice: the broker delivers again what was unacknowledged,
// and after a crash also what it had not yet written down. The archive cannot tell, since it may
// keep less of a message than arrived.
//
// Messages with the same octets cannot be told apart. As many of them as were never acknowledged
// are sure to come again. One that was acknowledged may come again if it is the only one of its
// kind, and soon. All others may be messages that somebody else gave back, and storing a message
// twice is a lesser harm than losing one.
type recent struct {
	ring  []stored
	next  int
	fresh int             // the newest so many in ring are of this connection
	owed  map[uint64]int  // how many of each come again for sure
	maybe map[uint64]bool // which others may come again
	// when none of maybe will come again; zero: nothing has arrived since the connection ended
	until time.Time
}

// soon bounds how long after the first delivery of a connection those come again whose
// acknowledgements were lost: what a broker has taken back stands at the head of the queue, and one
// that has not noticed the end of the last connection does so after two heartbeats.
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

// disconnected is called after a connection that messages came over. What it stored behind the
// delivery tag settled was not acknowledged.
func (r *recent) disconnected(settled uint64) {
	count := make(map[uint64]int, len(r.ring))
	for _, m := range r.ring {
		count[m.print]++
	}
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

// known reports whether a message that arrives now is one that was stored, and counts it off.
func (r *recent) known(print uint64, redelivered bool, now time.Time) bool {
	if r.until.IsZero() {
		r.until = now.Add(soon)
	}
	switch {
	case !redelivered:
		return false
	case r.owed[print] > 0:
		r.owed[print]--
		return true
	}
	known := r.maybe[print] && now.Before(r.until)
	delete(r.maybe, print)
	return known
}
