package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Record is one message on its way to the disk. As a frame's payload it is
//
//	format         uint8   1
//	flags          uint8   1: redelivered
//	length of consumer tag, exchange, routing key: 3 × uint8, then 3 unused octets
//	received       int64   Unix nanoseconds
//	delivery tag   uint64
//	print          uint64  what Seal was given; 0: none
//	header         uint32  length of the content header payload
//	removed        uint32  number of spans
//	consumer tag, exchange, routing key, content header payload
//	spans          from, to: 2 × uint32 each; octets of the payload that redaction has removed
//	body
type Record struct {
	head head
	// body is what has arrived of it, or nothing once it goes to apart.
	body  []byte
	apart *apart
	size  int64 // octets of the body that have arrived
	// most is how large the body may be to be kept. One that is larger is counted and not kept.
	most int64
	err  error // why apart could not be written

	spool *Spool
}

// head is a record without the body.
type head []byte

const (
	recordFormat = 1
	redelivered  = 1

	atFormat      = 0
	atFlags       = 1
	atNames       = 2
	atReceived    = 8
	atDeliveryTag = 16
	atPrint       = 24
	atHeader      = 32
	atRemoved     = 36
	fixedBytes    = 40
	spanBytes     = 8

	// bodyAhead bounds the memory taken for a body before it has arrived, bodyInMemory that for
	// what has.
	bodyAhead    = 64 << 10
	bodyInMemory = 1 << 20
)

// NewRecord starts a record. Its body is written as it arrives, then it is sealed. It needs no more
// than a mebibyte of memory for the body, however large that is.
func (s *Spool) NewRecord(d *wire.Delivery, received time.Time) *Record {
	names := [3][]byte{d.ConsumerTag, d.Exchange, d.RoutingKey}
	size := fixedBytes + len(d.Header)
	for i, name := range names {
		names[i] = name[:min(len(name), 255)]
		size += len(names[i])
	}
	h := make(head, fixedBytes, size)
	h[atFormat] = recordFormat
	if d.Redelivered {
		h[atFlags] = redelivered
	}
	le := binary.LittleEndian
	le.PutUint64(h[atReceived:], uint64(received.UnixNano()))
	le.PutUint64(h[atDeliveryTag:], d.DeliveryTag)
	le.PutUint32(h[atHeader:], uint32(len(d.Header)))
	for i, name := range names {
		h[atNames+i] = byte(len(name))
		h = append(h, name...)
	}
	r := &Record{head: append(h, d.Header...), most: s.largest() - frameBytes - int64(size), spool: s}
	if d.BodySize > uint64(max(r.most, 0)) {
		r.most = -1 // nothing of it needs to be kept
	} else {
		r.body = make([]byte, 0, min(d.BodySize, bodyAhead))
	}
	return r
}

// Write adds to the body. It never fails: what cannot be kept is told by Append.
func (r *Record) Write(chunk []byte) {
	r.size += int64(len(chunk))
	switch {
	case r.size > r.most:
		r.Discard()
		r.most = -1
	case r.err != nil:
	case r.apart == nil && r.size <= bodyInMemory:
		r.body = append(r.body, chunk...)
	default:
		if r.apart == nil {
			if r.apart, r.err = r.spool.setApart(r.body); r.err != nil {
				return
			}
			r.body = nil
		}
		r.err = r.apart.write(chunk)
	}
}

// TooLarge reports whether the message is larger than all of the spool.
func (r *Record) TooLarge() bool { return r.most < 0 }

// Discard gives up the body, and what of it is on disk outside of the log. It must be called in the
// end, and may be called again.
func (r *Record) Discard() {
	if r.apart != nil {
		r.apart.discard()
	}
	r.apart, r.body = nil, nil
}

// Memory is how many octets the record takes in memory, Size how many it will take on disk.
func (r *Record) Memory() int64 { return int64(len(r.head) + cap(r.body)) }

// Size is how many octets the record takes on disk.
func (r *Record) Size() int64 { return frameBytes + int64(len(r.head)) + r.size }

// Seal removes what is to be redacted and completes the record. print identifies the message for
// [Loaded.Prints]; where something was removed it is not kept, since with it a removed value could
// be guessed.
func (r *Record) Seal(redactor *archive.Redactor, print uint64) {
	spans := redactor.Redact(r.head.header())
	le := binary.LittleEndian
	le.PutUint32(r.head[atRemoved:], uint32(len(spans)))
	if len(spans) == 0 {
		le.PutUint64(r.head[atPrint:], print)
	}
	for _, s := range spans {
		r.head = le.AppendUint32(r.head, uint32(s.From))
		r.head = le.AppendUint32(r.head, uint32(s.To))
	}
}

// Delivery is how the message arrived. Its slices are the record's.
func (r *Record) Delivery() wire.Delivery { return r.head.delivery() }

// Received is when the message arrived.
func (r *Record) Received() time.Time { return r.head.received() }

// Body calls each with the body, piece by piece.
func (r *Record) Body(each func([]byte)) error {
	if r.err != nil {
		return r.err
	}
	if r.apart == nil {
		each(r.body)
		return nil
	}
	return r.apart.read(r.size, func(p []byte) error {
		each(p)
		return nil
	})
}

// Store puts the message into an archive.
func (r *Record) Store(w *archive.Writer) error {
	d := r.Delivery()
	w.BeginRedacted(&d, r.Received(), r.head.removed())
	if err := r.Body(w.Body); err != nil {
		w.Abort()
		return err
	}
	w.Commit()
	return nil
}

// sound reports whether the lengths in h fit a payload of so many octets.
func (h head) sound(payload uint64) bool {
	return len(h) >= fixedBytes && h[atFormat] == recordFormat && uint64(h.length()) <= payload
}

// length is that of the record without the body.
func (h head) length() int64 {
	return int64(h.headerAt()) + int64(h.uint32(atHeader)) + int64(h.uint32(atRemoved))*spanBytes
}

func (h head) uint32(at int) uint32 { return binary.LittleEndian.Uint32(h[at:]) }

func (h head) headerAt() int {
	return fixedBytes + int(h[atNames]) + int(h[atNames+1]) + int(h[atNames+2])
}

func (h head) header() []byte {
	at := h.headerAt()
	return h[at : at+int(h.uint32(atHeader))]
}

func (h head) delivery() wire.Delivery {
	exchange := fixedBytes + int(h[atNames])
	key := exchange + int(h[atNames+1])
	header := h.header()
	return wire.Delivery{
		DeliveryTag: binary.LittleEndian.Uint64(h[atDeliveryTag:]),
		Redelivered: h[atFlags]&redelivered != 0,
		ConsumerTag: h[fixedBytes:exchange],
		Exchange:    h[exchange:key],
		RoutingKey:  h[key:h.headerAt()],
		Header:      header,
		BodySize:    wire.ViewContentHeader(header).BodySize(),
	}
}

func (h head) received() time.Time {
	return time.Unix(0, int64(binary.LittleEndian.Uint64(h[atReceived:])))
}

func (h head) removed() []archive.Span {
	n := int(h.uint32(atRemoved))
	if n == 0 {
		return nil
	}
	spans := make([]archive.Span, n)
	at := h.headerAt() + int(h.uint32(atHeader))
	for i := range spans {
		spans[i] = archive.Span{From: int(h.uint32(at)), To: int(h.uint32(at + 4))}
		at += spanBytes
	}
	return spans
}

// apart is a body in a file of its own, until it is whole.
type apart struct {
	disk disk
	name string
	f    file
	at   int64
}

// apartPrefix begins the names of bodies that arrive. What an earlier process has left is removed.
const apartPrefix = "arriving-"

// setApart starts a file with what has arrived of a body.
func (s *Spool) setApart(body []byte) (*apart, error) {
	a := &apart{disk: s.disk, name: fmt.Sprint(apartPrefix, s.arrivals.Add(1))}
	var err error
	if a.f, err = s.disk.create(a.name); err != nil {
		return nil, err
	}
	if err = a.write(body); err != nil {
		a.discard()
		return nil, err
	}
	return a, nil
}

func (a *apart) write(p []byte) error {
	n, err := a.f.WriteAt(p, a.at)
	a.at += int64(n)
	return err
}

func (a *apart) read(size int64, each func([]byte) error) error {
	buf := make([]byte, min(size, 256<<10))
	for at := int64(0); at < size; {
		p := buf[:min(int64(len(buf)), size-at)]
		if _, err := a.f.ReadAt(p, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		} else if err != nil && at+int64(len(p)) < size {
			return io.ErrUnexpectedEOF
		}
		if err := each(p); err != nil {
			return err
		}
		at += int64(len(p))
	}
	return nil
}

func (a *apart) discard() {
	_ = a.f.Close()
	_ = a.disk.remove(a.name)
}
