package broker

import (
	"bufio"
	"encoding/binary"
	"sync"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Methods of class basic and their arguments, as far as a publisher gets them (spec §1.8.3; nack is
// RabbitMQ's extension).
const (
	methodBasicAck  = 80
	methodBasicNack = 120
)

// liveness is how often the library is shown a frame while others are taken from it: it gives a
// connection up on which it sees none for a while.
const liveness = time.Second

// publishing is the connection below the AMQP library of a Publisher. The library opens connection
// and channel, and answers heartbeats. What is published is written here, as encoded, between the
// library's frames. Acknowledgements and returned messages are taken off what comes in, so that the
// library never decodes a header table.
type publishing struct {
	*watched
	writing sync.Mutex // held while whole frames are written

	// What follows belongs to the library's reader.
	in          *bufio.Reader
	frame       []byte // the last frame read
	pass        []byte // what the library reads next
	shown       time.Time
	transparent bool   // this is no AMQP that is known here: the library says what is wrong with it
	skip        uint64 // octets of the returned body that are still to come
	skipHeader  bool   // a returned message's content header comes next

	channel uint16
	// settled is called by the library's reader for basic.ack and basic.nack, returned for
	// basic.return with its arguments and the content header's payload.
	settled  func(tag uint64, multiple, accepted bool)
	returned func(r returned)
	pending  returned
}

// returned is a basic.return with its content header. Its octets are valid during the call.
type returned struct {
	code                       uint16
	text, exchange, routingKey []byte
	header                     []byte
}

// Write is called by the library with whole frames: it flushes after each, and none that it writes
// after connection.open-ok is larger than its buffer.
func (p *publishing) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.watched.Write(b)
}

// Read gives the library what is not about published messages.
func (p *publishing) Read(b []byte) (int, error) {
	for len(p.pass) == 0 {
		if p.transparent {
			return p.in.Read(b)
		}
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.pass)
	p.pass = p.pass[n:]
	return n, nil
}

// next reads one frame and puts it into pass, or takes it.
func (p *publishing) next() error {
	head, err := p.in.Peek(wire.FrameHead)
	if err != nil {
		if len(head) > 0 {
			p.transparent = true
			return nil
		}
		return err
	}
	size := binary.BigEndian.Uint32(head[3:])
	if _, _, err := wire.CutFrame(head); err == wire.ErrFrameType || size > wire.DefaultMaxHeaderBytes {
		p.transparent = true
		return nil
	}
	p.frame = p.frame[:0]
	for want := int(size) + wire.FrameOverhead; want > 0; {
		part, err := p.in.Peek(min(want, p.in.Size()))
		p.frame = append(p.frame, part...)
		_, _ = p.in.Discard(len(part))
		want -= len(part)
		if err != nil {
			p.pass, p.transparent = p.frame, true
			return nil
		}
	}
	f, _, err := wire.CutFrame(p.frame)
	if err != nil || !p.take(f) {
		p.pass, p.shown = p.frame, time.Now()
		return nil
	}
	if now := time.Now(); now.Sub(p.shown) >= liveness {
		p.pass, p.shown = wire.AppendHeartbeat(nil), now
	}
	return nil
}

// take deals with a frame about a published message, and reports whether it was one.
func (p *publishing) take(f wire.Frame) bool {
	if f.Channel != p.channel {
		return false
	}
	switch f.Type {
	case wire.FrameMethod:
		class, method, args, ok := f.Method()
		if !ok || class != wire.ClassBasic {
			return false
		}
		switch method {
		case methodBasicAck, methodBasicNack:
			if len(args) < 9 {
				return false
			}
			p.settled(binary.BigEndian.Uint64(args), args[8]&1 != 0, method == methodBasicAck)
			return true
		case wire.MethodBasicReturn:
			return p.takeReturn(args)
		}
		return false
	case wire.FrameHeader:
		if !p.skipHeader {
			return false
		}
		p.skipHeader = false
		p.pending.header = f.Payload
		p.skip = wire.ViewContentHeader(f.Payload).BodySize()
		p.returned(p.pending)
		return true
	case wire.FrameBody:
		if uint64(len(f.Payload)) > p.skip {
			return false
		}
		p.skip -= uint64(len(f.Payload))
		return true
	}
	return false
}

// takeReturn reads the arguments of basic.return: reply code, reply text, exchange, routing key.
func (p *publishing) takeReturn(args []byte) bool {
	if len(args) < 2 {
		return false
	}
	r := returned{code: binary.BigEndian.Uint16(args)}
	rest := args[2:]
	for _, text := range []*[]byte{&r.text, &r.exchange, &r.routingKey} {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return false
		}
		// The frame's octets are used again for the next one.
		*text = append([]byte(nil), rest[1:1+int(rest[0])]...)
		rest = rest[1+int(rest[0]):]
	}
	p.pending, p.skipHeader = r, true
	return true
}

// send writes whole frames, between those of the library.
func (p *publishing) send(frames []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.watched.Write(frames)
	return err
}
