package capture

import (
	"encoding/binary"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// origin is the kind of method that a content came with.
type origin uint8

const (
	published origin = iota
	returned
	delivered
	fetched
	origins
)

// readContentMethod reads the arguments of a method of class basic. ok is false for one that
// carries no content, and where the arguments are cut short. Flags and texts that an archive has no
// place for are passed over.
func readContentMethod(method uint16, args []byte) (d wire.Delivery, from origin, ok bool) {
	a := arguments{rest: args, ok: true}
	switch method {
	case wire.MethodBasicPublish:
		from = published
		a.take(2) // reserved
	case wire.MethodBasicReturn:
		from = returned
		a.take(2) // reply code
		a.shortStr()
	case wire.MethodBasicDeliver:
		from = delivered
		d.ConsumerTag = a.shortStr()
		d.DeliveryTag, d.Redelivered = a.delivery()
	case wire.MethodBasicGetOk:
		from = fetched
		d.DeliveryTag, d.Redelivered = a.delivery()
	default:
		return d, 0, false
	}
	d.Exchange, d.RoutingKey = a.shortStr(), a.shortStr()
	return d, from, a.ok
}

// arguments reads a method's arguments one after the other. Once they are at their end, ok is false
// and what is read is empty.
type arguments struct {
	rest []byte
	ok   bool
}

func (a *arguments) take(n int) []byte {
	if n > len(a.rest) {
		a.rest, a.ok = nil, false
		return nil
	}
	b := a.rest[:n:n]
	a.rest = a.rest[n:]
	return b
}

func (a *arguments) shortStr() []byte {
	if n := a.take(1); n != nil {
		return a.take(int(n[0]))
	}
	return nil
}

func (a *arguments) delivery() (tag uint64, redelivered bool) {
	if b := a.take(9); b != nil {
		return binary.BigEndian.Uint64(b), b[8]&1 != 0
	}
	return 0, false
}
