// Package source says what a source of messages is doing and what reading has done to it: one type
// that the reader fills, the pages draw and the probes ask.
//
// A source is one place that messages come from: a queue, a copy of what an exchange routes, a
// stream, or files. The package knows no broker and no page.
package source

import "time"

// Status is what a source is doing, and has done to what it reads. The zero value is a source that
// is not there.
type Status struct {
	State State
	Since time.Time // when State was entered; zero: unknown
	// Error is one plain sentence about the last failure, without secrets; empty when all is well.
	// Kind classifies it.
	Error string
	Kind  ErrorKind
	// NextAttempt is when the next connection or look is due; zero when none is.
	NextAttempt time.Time
	Attempts    int    // failed in a row
	Reconnects  uint64 // connections that read, after the first
	Blocked     string // why, in the broker's words, while State is Blocked

	Mode Mode
	// Name is what is read: the queue or stream, the exchange in Copy, the files in Replay.
	Name string
	// Queue is the queue read from; in Copy the name that the broker chose, empty in Replay.
	Queue string
	URL   string // of the broker, without the password
	VHost string
	// Product and Version are the broker's own, from connection.start; empty: not known yet.
	Product, Version string
	// FrameMax is the largest frame that was agreed upon with the broker, in octets; 0: not known.
	FrameMax int
	// QueueType is "classic", "quorum" or "stream"; empty: not known.
	QueueType string
	// Policy and DeliveryLimit are from the management API. DeliveryLimit is after how many
	// deliveries a queue drops or dead-letters a message; 0: never, or not known.
	Policy        string
	DeliveryLimit uint64
	// DeliveryCount is how often a message delivered here had been given back before, at most.
	DeliveryCount uint64
	// Notes are plain sentences about what reading does to this queue, beyond what it does to any,
	// and about what was left out or lost although reading goes on; without secrets.
	Notes []string
	// Management is what went wrong when the management API was asked; empty when nothing did.
	Management string

	// Ready and Consumers are the broker's figures at ObservedAt: messages waiting, and consumers
	// other than this one. A zero ObservedAt says that it was not asked.
	Ready, Consumers uint64
	ObservedAt       time.Time

	// Browsing says that Peek takes nothing: the broker shows messages without delivering them.
	Browsing bool
	// Undrained says that what Drain acknowledges stays in the queue, which removes nothing.
	Undrained bool

	Window     uint64    // most messages that Peek holds
	Prefetch   uint64    // most messages that may be under way now
	Held       uint64    // messages delivered and neither acknowledged nor given back
	HeldSince  time.Time // when the first of them arrived; zero when nothing is held
	GiveBackAt time.Time // when Peek gives back; zero when nothing is held

	// Since the start: Stored messages were kept, Known were delivered again and not kept again.
	Stored, Known, GivenBack, Acknowledged uint64
	// StreamOffset is that of the last message stored from a stream; negative: none yet.
	StreamOffset int64
	// StreamFilters are the values that a stream's messages are chosen by; none: all are read.
	// OffsetGaps is how many offsets between those delivered were not delivered, LeftOut how many
	// messages the broker delivered although the filter does not want them.
	StreamFilters       []string
	OffsetGaps, LeftOut uint64

	// Undeliverable counts the messages of a stream that the broker could not deliver, so that
	// reading went on behind them; UndeliverableAt is the offset of the last of them.
	Undeliverable   uint64
	UndeliverableAt int64

	// Gaps are when Copy was not connected, oldest first: what the exchange routed then was not
	// copied.
	Gaps []Gap

	Relay *Relay // what has passed; nil: it is no relay

	Spool *Spool // what is on disk; nil: nothing is kept there
	Kept  Kept   // what is in memory
	// PublishCommand is an exact command that publishes one test message here; empty: none is
	// known.
	PublishCommand string
}

// ErrorKind classifies a failure.
type ErrorKind string

// Gap is a time in which nothing could arrive.
type Gap struct{ From, To time.Time }

// Spool is what is kept on disk.
type Spool struct {
	Messages        uint64
	Dropped         uint64 // given up for newer ones since the start
	Bytes, MaxBytes int64
	// Damage says in a sentence each, without a full stop, what cannot be read and where. Lost is
	// how many messages are known to be lost by it, those of places that are not in the list
	// included.
	Damage []string
	Lost   uint64
}

// Kept is what is kept in memory.
type Kept struct {
	Messages        uint64
	Evicted         uint64 // messages that gave way to newer ones
	Oldest          time.Time
	Bytes, MaxBytes int64
	Rate            float64 // arrivals a second
}
