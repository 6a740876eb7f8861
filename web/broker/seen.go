package broker

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
func (s *seen) meet(h uint64) bool {
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
