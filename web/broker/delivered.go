package broker

import "github.com/headerglass/headerglass/fieldtable/source"

// delivered is what is remembered from one connection to the next: which messages were stored, and
// how far a stream was read. It belongs to one reader at a time.
type delivered struct {
	print  *fingerprint // peek and drain; with a spool the spooler's
	seen   *seen        // peek
	recent *recent      // drain; with a spool the spooler's
	next   int64        // stream: the lowest offset not stored yet
	// resumes says that a stream is read from next, and no longer from where the configuration
	// says.
	resumes bool
}

func newDelivered(cfg Config) *delivered {
	m := &delivered{}
	switch cfg.Mode {
	case source.Peek:
		m.print, m.seen = newFingerprint(), newSeen(4*MaxWindow)
		m.print.annotations = true
	case source.Drain:
		m.print, m.recent = newFingerprint(), newRecent(MaxWindow+1)
	}
	if m.recent != nil && cfg.Spool != nil {
		m.print = newLastingFingerprint(cfg.Spool.Key())
	}
	return m
}

// finish is called after a connection: s is the sink that it had.
func (m *delivered) finish(s *sink) {
	s.store.finish()
	if m.recent != nil && s.arrived.Load() > 0 {
		m.recent.disconnected(s.attempted.Load())
	}
}
