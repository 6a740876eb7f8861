package source

// Mode is what reading does to what is read.
type Mode string

// The modes of a source.
const (
	Peek   Mode = "peek"   // reads without acknowledging and gives everything back
	Drain  Mode = "drain"  // acknowledges what is stored, which removes it from the queue
	Copy   Mode = "copy"   // reads a queue of its own, bound to an exchange beside the others
	Stream Mode = "stream" // reads a stream from an offset; streams keep what was read
	Replay Mode = "replay" // reads files; no broker is connected
	Demo   Mode = "demo"   // drains an endpoint that the process has built in
	// Relayed stands between clients and their broker; nothing is read that they do not send.
	Relayed Mode = "relay"
)

// Modes returns all of them.
func Modes() []Mode { return []Mode{Peek, Drain, Copy, Stream, Replay, Demo, Relayed} }

// AtBroker reports whether a broker is read that belongs to somebody.
func (m Mode) AtBroker() bool {
	switch m {
	case Peek, Drain, Copy, Stream:
		return true
	}
	return false
}

// Shared reports whether other consumers want the messages that are read: what is held here they do
// not get meanwhile.
func (m Mode) Shared() bool { return m == Peek || m == Drain }
