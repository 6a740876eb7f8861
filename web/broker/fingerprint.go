package broker

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/maphash"
	"io"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// fingerprint tells whether two deliveries are the same message: it hashes exchange, routing key,
// content header and body. What a quorum queue changes when a message comes back is left out: the
// top-level headers x-delivery-count and x-acquired-count, the order of the fields, and whether
// there is a header table at all when nothing else is in it.
//
// The hash is keyed, so a publisher cannot aim at a collision.
type fingerprint struct {
	hash   hash64
	field  func([]byte) uint64
	digits [8]byte // for number, so that it does not allocate
	// annotations says that no x-opt-* header counts.
	annotations bool
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
	return &fingerprint{hash: h, field: func(b []byte) uint64 { return maphash.Bytes(seed, b) }}
}

// newLastingFingerprint returns one whose sums mean the same in every process that has the key.
func newLastingFingerprint(key [32]byte) *fingerprint {
	whole, part := &keyedSHA256{sha256.New(), key}, &keyedSHA256{sha256.New(), key}
	return &fingerprint{hash: whole, field: func(b []byte) uint64 {
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

// begin starts the next message.
func (f *fingerprint) begin(d *wire.Delivery) {
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
		field := table[at:s.Offset()]
		name := field[1 : 1+int(field[0])]
		if !f.stamped(name) {
			sum += f.field(field)
		}
	}
	return sum, s.Err() == nil
}

// stamped reports whether the broker may write this header anew each time it delivers the message.
//
// Peek leaves every annotation out: to take two messages for one costs it nothing, since it counts
// equal ones. Drain acknowledges what it takes for known, so it leaves out only what RabbitMQ
// itself stamps.
func (f *fingerprint) stamped(name []byte) bool {
	switch string(name) {
	case deliveryCountKey, acquiredCountKey, sentTimeKey:
		return true
	}
	return f.annotations && bytes.HasPrefix(name, []byte("x-opt-"))
}

func (f *fingerprint) body(b []byte) { _, _ = f.hash.Write(b) }

func (f *fingerprint) number(v uint64) {
	binary.BigEndian.PutUint64(f.digits[:], v)
	f.body(f.digits[:])
}

// sum is the fingerprint of the message begun last and its body so far.
func (f *fingerprint) sum() uint64 { return f.hash.Sum64() }
