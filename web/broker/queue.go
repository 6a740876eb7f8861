package broker

import "github.com/headerglass/headerglass/fieldtable/source"

// queueFacts is what is known about a queue.
type queueFacts struct {
	Type    string // "classic", "quorum" or "stream"; "": not known
	Policy  string
	Managed bool // the management API has told
	// DeliveryLimit is how often the queue takes a message back; once more, and it drops or
	// dead-letters it.
	DeliveryLimit int64
	// Limited says that an argument or a policy sets DeliveryLimit, if only to none.
	Limited      bool
	SingleActive bool // it serves one consumer at a time
}

// Values of DeliveryLimit that are no limit.
const (
	noLimit      = -1
	unknownLimit = -2
)

// defaultLimit is the limit of a quorum queue that nothing else is set for, from RabbitMQ 4.0 on.
const defaultLimit = 20

func unknownQueue() queueFacts { return queueFacts{DeliveryLimit: unknownLimit} }

// complete adds what follows from the broker's product and version.
func (f *queueFacts) complete(rabbitMQ4 bool) {
	switch {
	case f.Type == "classic" && !f.Limited, f.Type == "stream":
		f.DeliveryLimit = noLimit
	case f.Type == "quorum" && f.Managed && !f.Limited && rabbitMQ4:
		f.DeliveryLimit = defaultLimit
	}
}

// counts reports whether the queue counts deliveries, so that reading without acknowledging uses
// messages up.
func (f *queueFacts) counts() bool { return f.Type == "quorum" || f.DeliveryLimit > noLimit }

// near reports whether a message that was delivered count times before must be read with care.
// Where the limit is not known, a small one is assumed.
func (f *queueFacts) near(count int64) bool {
	switch f.DeliveryLimit {
	case noLimit:
		return false
	case unknownLimit:
		return count >= 2
	}
	return count >= f.DeliveryLimit/2
}

// refusal says why a mode must not read the queue; nil: it may.
func (c *Consumer) refusal(f queueFacts) *Error {
	switch {
	case c.cfg.Mode == source.Stream:
		if f.Type != "stream" && f.Type != "" {
			return c.refuseNoStream()
		}
	case f.Type == "stream" && c.cfg.Mode != source.Copy:
		return c.refuseStream()
	case c.cfg.Mode == source.Peek && f.counts():
		return c.refuseCounted(f)
	}
	return nil
}
