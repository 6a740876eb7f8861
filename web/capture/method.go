package capture

import (
	"encoding/binary"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// readContentMethod reads the arguments of a method of class basic. ok is false for one that
// carries no content, and where the arguments are cut short. Flags and texts that an archive has no
// place for are passed over.
func readContentMethod(method uint16, args []byte) (d wire.Delivery, ok bool) {
	a := wire.ReadArguments(args)
	switch method {
	case wire.MethodBasicPublish:
		d.Method = wire.Publish
		a.Take(2) // reserved
	case wire.MethodBasicReturn:
		d.Method = wire.Return
		a.Take(2) // reply code
		a.ShortStr()
	case wire.MethodBasicDeliver:
		d.ConsumerTag = a.ShortStr()
		d.DeliveryTag, d.Redelivered = a.Uint64(), a.Uint8()&1 != 0
	case wire.MethodBasicGetOk:
		d.Method = wire.GetOk
		d.DeliveryTag, d.Redelivered = a.Uint64(), a.Uint8()&1 != 0
	default:
		return d, false
	}
	d.Exchange, d.RoutingKey = a.ShortStr(), a.ShortStr()
	return d, a.Ok()
}

// appendContentMethod appends the frame of the method that a message came with. What an archive
// does not keep of it is zero: flags of basic.publish, the reason of basic.return, and how many
// messages basic.get-ok left in the queue.
func appendContentMethod(dst []byte, d *wire.Delivery) []byte {
	short := func(b, s []byte) []byte {
		s = s[:min(len(s), 255)]
		return append(append(b, byte(len(s))), s...)
	}
	routed := func(b []byte) []byte { return short(short(b, d.Exchange), d.RoutingKey) }
	switch d.Method {
	case wire.Publish:
		args := append(routed([]byte{0, 0}), 0)
		return wire.AppendMethod(dst, d.Channel, wire.ClassBasic, wire.MethodBasicPublish, args)
	case wire.Return:
		return wire.AppendMethod(dst, d.Channel, wire.ClassBasic, wire.MethodBasicReturn, routed([]byte{0, 0, 0}))
	case wire.GetOk:
		args := binary.BigEndian.AppendUint64(nil, d.DeliveryTag)
		if d.Redelivered {
			args = append(args, 1)
		} else {
			args = append(args, 0)
		}
		args = append(routed(args), 0, 0, 0, 0)
		return wire.AppendMethod(dst, d.Channel, wire.ClassBasic, wire.MethodBasicGetOk, args)
	}
	return wire.AppendDeliver(dst, d)
}
