package broker

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/maphash"
	"io"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// fingerprint tells whether two deliveries are the same message: it hashes exchange, routing key,
// content header and body. What the broker changes when a message comes back is left out: the
// top-level headers that it stamps, the order of the fields, and whether there is a header table at
// all when nothing else is in it. Where it does not stamp a header, a publisher has written it, and
// it tells messages apart.
//
// The hash is keyed, so a publisher cannot aim at a collision.
type fingerprint struct {
	hash   hash64
	field  func([]byte) uint64
	digits [8]byte // for number, so that it does not allocate
	// annotations says that no x-opt-* header counts.
	annotations bool
	// The headers that the broker stamps when it delivers a message: x-delivery-count and
	// x-acquired-count, and x-opt-rabbitmq-sent-time.
	counts, times bool
	arrived       time.Time // of the message begun last
}

type hash64 interface {
	io.Writer
	Reset()
	Sum64() uint64
}

// newFingerprint returns one with a key of this process.
func newFingerprint() *fingerprint {
	seed := maphash.MakeSeed()
	h := new(maphash.Hash)
	h.SetSeed(seed)
	return &fingerprint{counts: true, hash: h, field: func(b []byte) uint64 { return maphash.Bytes(seed, b) }}
}

// newLastingFingerprint returns one whose sums mean the same in every process that has the key.
func newLastingFingerprint(key [32]byte) *fingerprint {
	whole, part := &keyedSHA256{sha256.New(), key}, &keyedSHA256{sha256.New(), key}
	return &fingerprint{counts: true, hash: whole, field: func(b []byte) uint64 {
		part.Reset()
		_, _ = part.Write(b)
		return part.Sum64()
	}}
}

// keyedSHA256 puts the key before what is hashed. Its sums are never shown to publishers.
type keyedSHA256 struct {
	hash.Hash
	key [32]byte
}

func (k *keyedSHA256) Reset() {
	k.Hash.Reset()
	_, _ = k.Write(k.key[:])
}

func (k *keyedSHA256) Sum64() uint64 {
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(k.Sum(sum[:0]))
}

// stampedBy notes which headers this broker stamps in a queue of this type; "": an unknown type.
func (f *fingerprint) stampedBy(b source.Broker, queueType string) {
	f.counts = b.Product != source.RabbitMQ || queueType != "classic"
	f.times = b.Product == source.RabbitMQ && b.AtLeast(4, 2)
}

// begin starts the next message.
func (f *fingerprint) begin(d *wire.Delivery, arrived time.Time) {
	f.arrived = arrived
	f.hash.Reset()
	f.number(uint64(len(d.Exchange))<<32 | uint64(len(d.RoutingKey)))
	f.body(d.Exchange)
	f.body(d.RoutingKey)
	h := wire.ViewContentHeader(d.Header)
	table, ok := h.HeaderTable()
	if !ok {
		f.number(0)
		f.body(d.Header)
		return
	}
	sum, sound := f.fields(table)
	if !sound {
		f.number(1)
		f.body(d.Header)
		return
	}
	// Class, weight and body size; the flags with the headers bit only when fields are left; the
	// properties around the table.
	const fixed = wire.ContentHeaderFixed
	flags := h.Flags()
	if sum == 0 {
		flags &^= wire.FlagHeaders
	}
	f.number(sum)
	f.body(d.Header[:fixed-2])
	f.body(binary.BigEndian.AppendUint16(f.digits[:0], flags))
	f.body(d.Header[fixed:h.HeaderTableOffset()])
	f.body(d.Header[h.HeaderTableOffset()+len(table):])
}

// fields is the sum of the fields' hashes, which does not depend on their order; sound is false
// when the table cannot be read to its end.
func (f *fingerprint) fields(table []byte) (sum uint64, sound bool) {
	s := fieldtable.View(table, fieldtable.Lenient()).Scan()
	for at := s.Offset(); s.Skip(); at = s.Offset() {
		if field := table[at:s.Offset()]; !f.stamped(field) {
			sum += f.field(field)
		}
	}
	return sum, s.Err() == nil
}

// stamped reports whether the broker may write this header anew each time it delivers the message.
//
// Peek leaves every annotation out: to take two messages for one costs it nothing, since it counts
// equal ones. Drain acknowledges what it takes for known, so it leaves out only what this broker
// stamps.
func (f *fingerprint) stamped(field []byte) bool {
	end := 1 + int(field[0])
	name := field[1:end]
	switch string(name) {
	case deliveryCountKey, acquiredCountKey:
		return f.counts
	case sentTimeKey:
		if f.times && f.justNow(field[end:]) {
			return true
		}
	}
	return f.annotations && bytes.HasPrefix(name, []byte("x-opt-"))
}

// clockSkew is how far the broker's clock may be from that of this machine.
const clockSkew = 5 * time.Minute

// justNow reports whether a value, its tag first, is the time of this delivery in milliseconds. Any
// other time has come with the message.
func (f *fingerprint) justNow(value []byte) bool {
	if len(value) != 9 || value[0] != 'l' {
		return false
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(value[1:]))) // #nosec G115 -- as it was written
	return f.arrived.Sub(at).Abs() <= clockSkew
}

func (f *fingerprint) body(b []byte) { _, _ = f.hash.Write(b) }

func (f *fingerprint) number(v uint64) {
	binary.BigEndian.PutUint64(f.digits[:], v)
	f.body(f.digits[:])
}

// sum is the fingerprint of the message begun last and its body so far.
func (f *fingerprint) sum() uint64 { return f.hash.Sum64() }
