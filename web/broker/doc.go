// Package broker reads an AMQP 0-9-1 broker into an archive and keeps reading: it dials, consumes,
// settles and reconnects.
//
// Deliveries never reach the AMQP client library. A [wire.Tap] takes them off the connection and a
// sink writes their bytes into the archive, so no header table is decoded and none can break the
// connection. The library does the rest of the protocol.
//
// # What each mode does to the queue
//
//   - Peek holds up to Window messages unacknowledged and gives them back with one
//     basic.nack(multiple, requeue), on exit and after Hold. Messages that come again are
//     recognised by their bytes and stored once. Classic queues keep their order. Quorum queues
//     count every return and may drop or dead-letter a message that returns too often, so peek
//     refuses them unless told otherwise.
//   - Drain acknowledges what is stored: in the archive, or with a Spool on disk and synced. Where
//     a message cannot be stored, it and all behind it are given back, and nothing is acknowledged
//     until it can.
//   - Copy declares a server-named, exclusive, auto-delete queue of bounded length and binds it to
//     an exchange.
//   - Stream consumes from an offset and acknowledges for credit only.
//
// Nothing but copy declares anything on the broker; the other modes declare passively, to learn
// whether the queue is there.
//
// # Queues that count deliveries
//
// A quorum queue drops or dead-letters a message that it has taken back more often than its
// delivery limit. Peek reads such a queue only where the limit is known and at least 10, judges one
// message before its window opens, and stops at half. Drain begins with one message under way and
// widens with its acknowledgements. Where the broker fails while it delivers a message, both stop
// after two losses without progress; on other queues minutes pass between attempts, and a stream is
// read on behind that offset.
//
// # Once, and never lost
//
// A drain whose connection or broker breaks gets messages again that it has stored. It knows them
// by their octets and stores them once. Messages whose octets are all the same cannot be told
// apart. After a break, where it has stored several such, drain stores those again that it is not
// sure of: rather more of them than there were than fewer. With a spool this holds over a restart
// of the process, too, but for messages that redaction has changed: of those, as many as were under
// way may be stored twice.
//
// One case is left in which drain removes a message without storing it. A broker that crashes
// delivers again even what was acknowledged to it, so in the first minute of reading after a break
// or a restart, a message marked as redelivered whose octets are those of exactly one that is
// stored is taken for that one. It could be another, which some other consumer has given back.
package broker
