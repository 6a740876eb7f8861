package source

import "time"

// Relay is what a relay has done since its start.
type Relay struct {
	Accepted  uint64 // connections of clients
	Open      uint64 // of these, now
	Forwarded uint64 // octets, both ways
	// Overlooked octets were forwarded and not read, since reading was behind; Gaps is how often.
	Overlooked, Gaps uint64
	// Foreign connections do not speak AMQP 0-9-1 and passed unread; ForeignAs is what the last one
	// speaks.
	Foreign   uint64
	ForeignAs string
	Broken    uint64 // connections that could not be read on, for what a peer sent or a fault here
}

// Method is the method of class basic that a message came with.
type Method string

// The methods that carry a message (AMQP 0-9-1 specification, class basic).
const (
	Publish Method = "publish"
	Deliver Method = "deliver"
	GetOk   Method = "get-ok"
	Return  Method = "return"
)

// Outcome is what came of a message that passed.
type Outcome string

// The outcomes. Those of a publish are the broker's, those of a delivery the consumer's.
const (
	Unasked      Outcome = ""             // nobody asked for one
	Awaited      Outcome = "awaited"      // not there yet
	Confirmed    Outcome = "confirmed"    // basic.ack of the broker
	Refused      Outcome = "refused"      // basic.nack of the broker
	Returned     Outcome = "returned"     // basic.return
	Acknowledged Outcome = "acknowledged" // basic.ack of the consumer
	Rejected     Outcome = "rejected"     // basic.reject or basic.nack, without requeue
	Requeued     Outcome = "requeued"     // the same with requeue, or basic.recover
	Closed       Outcome = "closed"       // the channel or the connection ended first
	Missed       Outcome = "missed"       // some of the connection passed unread, perhaps the answer
)

// Passage is how a message passed through a relay.
type Passage struct {
	Method     Method
	Connection Connection
	Channel    uint16
	// Queue is the one that a delivery comes from; empty: it is a publish, or not known.
	Queue                string
	Mandatory, Immediate bool // the flags of basic.publish
	Confirms             bool // the channel asked for publisher confirms
	NoAck                bool // a delivery that needs no acknowledgement
	Outcome              Outcome
	After                time.Duration // from the message to the outcome
	// Code and Text are the broker's reason for Returned and Closed; 0: it gave none.
	Code uint16
	Text string
	// Published, Delivered and Returned are the messages of this one's message id or print that
	// went the other ways, by sequence number, the likeliest first.
	Published, Delivered, Returned []uint64
}

// Connection is a client's connection through a relay.
type Connection struct {
	ID   uint64 // 1 for the first
	Peer string // the client's address
	// User is the name it logged in with, by Mechanism; empty: not known.
	User, Mechanism  string
	Product, Version string // of the client library, in its own words
	Name             string // connection_name of the client properties
	VHost            string
}
