package broker

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// memoryStore keeps deliveries in the archive alone.
type memoryStore struct {
	sink   *sink
	mode   source.Mode
	before *delivered
	writer *archive.Writer
	// noStream is what to say when a message of a stream has no offset.
	noStream *Error
	filter   *streamFilter // nil: none
	aged     uint32        // looks that before.seen knows to have ended

	// The delivery in progress.
	skip   bool // of a stream, below the offset asked for or left out
	left   bool // left out by the filter
	offset int64
}

func newMemoryStore(c *Consumer, s *sink) *memoryStore {
	return &memoryStore{
		sink: s, mode: c.cfg.Mode, before: c.delivered, writer: c.cfg.Archive.Writer(), noStream: c.refuseNoStream(),
		filter: newStreamFilter(&c.cfg),
	}
}

func (m *memoryStore) begin(d *wire.Delivery, now time.Time) {
	m.skip = false
	if m.mode == source.Stream {
		offset, ok := headerInt(d, streamOffsetKey)
		if !ok {
			m.sink.refuse(m.noStream)
		}
		m.offset, m.skip = offset, offset < m.before.next
		if m.left = !m.skip && !m.filter.admits(d); m.left {
			m.skip = true
		}
	}
	if m.before.print != nil {
		m.before.print.begin(d, now)
	}
	if !m.skip {
		m.writer.Begin(d, now)
	}
}

func (m *memoryStore) body(chunk []byte) {
	if m.before.print != nil {
		m.before.print.body(chunk)
	}
	if !m.skip {
		m.writer.Body(chunk)
	}
}

func (m *memoryStore) end(tag uint64, redelivered bool) {
	counts := m.sink.counts
	switch {
	case m.left:
		counts.leftOut.Add(1)
		m.passed()
	case m.skip:
		counts.known.Add(1)
	case m.known(tag, redelivered):
		m.writer.Abort()
		counts.known.Add(1)
	default:
		m.writer.Commit()
		counts.stored.Add(1)
		if m.mode == source.Stream {
			counts.offset.Store(m.offset)
			m.passed()
		}
	}
	m.sink.dealt(tag)
}

// passed notes that a stream has been read up to the message that has just arrived.
func (m *memoryStore) passed() {
	if m.before.resumes && m.offset > m.before.next {
		m.sink.counts.gaps.Add(uint64(m.offset - m.before.next)) // #nosec G115 -- positive
	}
	m.before.next, m.before.resumes = m.offset+1, true
}

// known reports whether the message that has just arrived was stored before, and remembers it.
func (m *memoryStore) known(tag uint64, redelivered bool) bool {
	switch m.mode {
	case source.Peek:
		for ; m.aged != m.sink.looks.Load(); m.aged++ {
			m.before.seen.end()
			m.before.seen.begin()
		}
		return m.before.seen.meet(m.before.print.sum())
	case source.Drain:
		print := m.before.print.sum()
		if m.before.recent.claim(print, redelivered, m.sink.now()) {
			return true
		}
		m.before.recent.stored(print, tag)
	}
	return false
}

func (m *memoryStore) abort() {
	if !m.skip {
		m.writer.Abort()
	}
}

func (m *memoryStore) finish() {}
