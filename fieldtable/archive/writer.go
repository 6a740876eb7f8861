package archive

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Writer appends messages: Begin, any number of Body, then Commit or Abort. Until Commit no reader
// sees anything of a message.
type Writer struct {
	a   *Archive
	st  *state   // the same as in a.state
	seg *segment // the last one in st
	at  uint32   // where in seg the next record begins

	shapes  interner
	counter shapeCounter
	blanker *blanker // nil: nothing is redacted
	spans   []byte   // scratch, what it removed from the message in progress

	// The message in progress. rec is the record so far: in seg from at on, or, when it will not
	// fit any ordinary segment, in memory of its own that grows with what arrives, and becomes a
	// segment if it need not grow.
	open     bool
	apart    bool
	rec      []byte
	header   int // where in rec the content header payload begins
	body     int // where in rec the body begins
	bodyRoom int // octets of the body that may still be kept
	received int64
	shape    shapeKey
}

// maxRecord keeps lengths and offsets well within 32 bits.
const maxRecord = 1 << 30

// bodyAhead bounds the memory taken for a body apart before it has arrived, in octets.
const bodyAhead = 64 << 10

func newWriter(a *Archive) Writer {
	b := newBlanker(a.cfg.Redact, a.cfg.Dialect, fieldtable.Dialects())
	w := Writer{a: a, shapes: newInterner(a.cfg), blanker: b}
	w.seg = newSegment(1, make([]byte, a.cfg.SegmentBytes), &a.cfg.Origin)
	w.publish([]*segment{w.seg}, &shapeTable{slots: make([]atomic.Pointer[Shape], 1)})
	return w
}

// publish replaces the state. What it brings must be published before a message that needs it is
// committed.
func (w *Writer) publish(segments []*segment, shapes *shapeTable) {
	w.st = &state{segments: segments, shapes: shapes, bytes: w.shapes.bytes}
	for _, s := range segments {
		w.st.bytes += int64(len(s.buf))
	}
	w.a.state.Store(w.st)
}

// Begin starts a message. One that was begun before and not committed is forgotten. d and its
// slices are not kept.
func (w *Writer) Begin(d *wire.Delivery, received time.Time) { w.BeginRedacted(d, received, nil) }

// BeginRedacted is Begin for a message that was redacted before: removed are the octets of its
// content header that are not those which arrived. What Config.Redact removes now is added to them.
func (w *Writer) BeginRedacted(d *wire.Delivery, received time.Time, removed []Span) {
	consumerTag, exchange, key, header := short(d.ConsumerTag), short(d.Exchange), short(d.RoutingKey), d.Header

	limit := int(min(w.a.cfg.segmentBudget()-slotBytes, maxRecord))
	fixed := recFixed + len(consumerTag) + len(exchange) + len(key)
	room := limit - fixed
	if w.blanker != nil || len(removed) > 0 {
		room = (room - 4) / 2 // spans take no more than the header
	}
	cut := len(header) > room
	if cut {
		fixed += 4
		header = header[:room-4]
	}
	redacted := w.redact(header, removed)
	if redacted {
		fixed += 4 + len(w.spans)
	}
	fixed += len(header)
	placed, table, tableSize := false, 0, 0
	if !redacted {
		table, tableSize = w.read(header)
		places := placesSize(w.shape.fields)
		if placed = w.shape.fields > 0 && !w.shape.large && fixed+places <= min(maxPlace, limit); placed {
			fixed += places
			table += fixed - len(header)
		}
	}
	w.bodyRoom = int(min(d.BodySize, uint64(w.a.cfg.BodyLimit), uint64(limit-fixed)))

	size := fixed + w.bodyRoom
	w.open, w.apart = true, size+slotBytes > w.a.cfg.SegmentBytes
	if w.apart {
		w.rec = make([]byte, recFixed, fixed+min(w.bodyRoom, bodyAhead)+slotBytes)
	} else {
		if size+slotBytes > w.room() {
			w.nextSegment(make([]byte, w.a.cfg.SegmentBytes))
		}
		at := int(w.at)
		w.rec = w.seg.buf[at : at+recFixed : at+size]
	}

	w.received = received.UnixNano()
	le := binary.LittleEndian
	le.PutUint64(w.rec[recReceived:], uint64(w.received))
	le.PutUint64(w.rec[recDeliveryTag:], d.DeliveryTag)
	le.PutUint64(w.rec[recBodySize:], d.BodySize)
	le.PutUint32(w.rec[recHeaderKept:], uint32(len(header)))
	w.rec[recFlags] = byte(d.Method) << recordMethodAt & recordMethod
	if d.Redelivered {
		w.rec[recFlags] |= recordRedelivered
	}
	w.rec[recNames], w.rec[recNames+1], w.rec[recNames+2] = byte(len(consumerTag)), byte(len(exchange)), byte(len(key))
	if placed {
		w.rec[recFlags] |= recordPlaced
		w.rec = appendPlaces(w.rec, table, tableSize, w.shape.tags)
	}
	if cut {
		w.rec[recFlags] |= recordHeaderCut
		w.rec = le.AppendUint32(w.rec, uint32(len(d.Header)))
	}
	if redacted {
		w.rec[recFlags] |= recordRedacted
		w.rec = le.AppendUint32(w.rec, uint32(len(w.spans)))
		w.rec = append(w.rec, w.spans...)
	}
	w.rec = append(w.rec, consumerTag...)
	w.rec = append(w.rec, exchange...)
	w.rec = append(w.rec, key...)
	w.header = len(w.rec)
	w.rec = append(w.rec, header...)
	w.body = len(w.rec)
	if redacted {
		if w.blanker != nil {
			w.blanker.apply(w.rec[w.header:w.body])
		}
		w.read(w.rec[w.header:w.body])
	}
}

// redact finds what must be removed from a content header payload, adds what was removed before,
// and reports whether there is anything.
func (w *Writer) redact(header []byte, before []Span) bool {
	if w.blanker == nil && len(before) == 0 {
		return false
	}
	var removed []Span
	if w.blanker != nil {
		w.blanker.find(header)
		removed = w.blanker.removed
	}
	if len(before) > 0 {
		removed = unite(removed, before, len(header))
	}
	if cap(w.spans) > keepScratch {
		w.spans = nil
	}
	w.spans = appendSpans(w.spans[:0], removed)
	if len(w.spans) > len(header) { // nothing that redacting removes looks like this
		w.spans = appendSpans(w.spans[:0], []Span{{removed[0].From, removed[len(removed)-1].To}})
	}
	return len(w.spans) > 0
}

// Body adds the next octets of the body. What goes past Config.BodyLimit, or past the size that the
// content header declared, is left out.
func (w *Writer) Body(chunk []byte) {
	if !w.open || w.bodyRoom == 0 {
		return
	}
	chunk = chunk[:min(len(chunk), w.bodyRoom)]
	w.bodyRoom -= len(chunk)
	w.rec = append(w.rec, chunk...)
}

// Commit makes the message visible and returns its number; 0 when none was begun.
func (w *Writer) Commit() (seq uint64) {
	if !w.open {
		return 0
	}
	if w.apart {
		buf, size := w.rec, len(w.rec)+slotBytes
		if cap(buf) != size { // else what is behind the record has never been written
			buf = make([]byte, size)
			copy(buf, w.rec)
		}
		w.nextSegment(buf[:size])
		w.rec = w.rec[:len(w.rec):len(w.rec)]
	}
	shape, duplicates := w.intern(&w.shape, w.rec[w.header:w.body])
	w.shapes.use(shape)

	seg, n := w.seg, w.seg.n.Load()
	w.at += uint32(len(w.rec))
	slot := seg.slot(n)
	binary.LittleEndian.PutUint32(slot[slotEnd:], w.at)
	binary.LittleEndian.PutUint32(slot[slotMarks:], uint32(packMarks(w.shape.fields, w.shape.damaged, duplicates)))
	binary.LittleEndian.PutUint16(slot[slotShape:], shape)
	if w.received < seg.oldest.Load() {
		seg.oldest.Store(w.received)
	}
	if w.received > seg.newest.Load() {
		seg.newest.Store(w.received)
	}
	seg.n.Store(n + 1)

	w.Abort()
	w.a.arrivals.add(w.received)
	w.a.bell.ring()
	return seg.base + uint64(n)
}

// read works out what the header table in a content header payload says about itself. It returns
// where the table begins and how many octets it has.
func (w *Writer) read(payload []byte) (at, size int) {
	header := wire.ViewContentHeader(payload)
	k := &w.shape
	table, at, sound := header.Survey()
	if at >= 0 {
		k.read(table, w.a.cfg.Dialect, w.a.cfg.shapeBudget())
		size = len(table)
	} else {
		at = 0
		k.reset()
		k.key = append(k.key, 0)
		if header.Flags()&wire.FlagHeaders != 0 {
			k.key[0] = keyDamaged
		}
	}
	if !sound {
		k.damaged = true
		k.key[len(k.key)-1] |= keyHeaderDamaged
	}
	return at, size
}

// Abort forgets the message begun.
func (w *Writer) Abort() { w.open, w.rec = false, nil }

// room is how many octets are free between the records and the slots.
func (w *Writer) room() int {
	return len(w.seg.buf) - int(w.seg.n.Load())*slotBytes - int(w.at)
}

// nextSegment seals the last segment, evicts as many of the oldest as a new one in buf needs, and
// begins it. A last segment without messages is replaced.
func (w *Writer) nextSegment(buf []byte) {
	segments, n := w.st.segments, w.seg.n.Load()
	if n > 0 {
		w.seg.counts = w.counter.count(w.seg, n)
	} else {
		segments = segments[:len(segments)-1]
	}
	free := w.a.cfg.segmentBudget() - int64(len(buf))
	for _, s := range segments {
		free -= int64(len(s.buf))
	}
	for free < 0 && len(segments) > 0 {
		free += int64(len(segments[0].buf))
		w.evict(segments[0])
		segments = segments[1:]
	}
	next := newSegment(w.seg.base+uint64(n), buf, &w.a.cfg.Origin)
	list := make([]*segment, 0, len(segments)+1)
	list = append(append(list, segments...), next)
	w.seg, w.at = next, 0
	w.publish(list, w.st.shapes)
}

// evict accounts for a segment that leaves. Its memory is free when no reader refers to it any
// more.
func (w *Writer) evict(s *segment) {
	w.shapes.release(s.counts)
	w.a.columns.drop(s, s.n.Load())
	w.a.evicted.Add(int64(len(s.buf)))
	pinned := w.a.pinned
	pinned.Add(int64(len(s.buf)))
	runtime.AddCleanup(&s.buf[0], func(n int64) { pinned.Add(-n) }, int64(len(s.buf)))
}

// short cuts b at what a short string can hold.
func short(b []byte) []byte { return b[:min(len(b), 255)] }
