package capture

import "github.com/headerglass/headerglass/fieldtable/wire"

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
