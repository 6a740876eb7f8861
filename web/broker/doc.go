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
//   - Drain acknowledges a message once it is stored: in the archive, or with a Spool on disk and
//     synced. If a message cannot be stored, drain gives back this one and all that came after it,
//     and acknowledges nothing until there is room again.
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
// message before its window opens, and stops at half of the limit. Drain begins with one message
// under way and widens with its acknowledgements.
//
// Some messages cannot be delivered by the broker itself: it ends the channel or the connection
// instead. After two losses without progress, peek and drain leave a queue that counts deliveries
// alone. On other queues they try again after minutes, and a stream is read on after that offset. A
// connection that ends after the first part of a message was lost to the network, and is opened
// again as after any loss; on a queue that counts deliveries at most five times without progress.
//
// # Once, and never lost
//
// When a drain's connection or broker breaks, the broker delivers again what was not acknowledged.
// Drain knows these messages by their octets and stores each once. If several stored messages have
// the same octets, drain cannot tell which of them came again. It then stores a copy too many
// rather than lose one. With a spool all this holds over a restart of the process, too. Redacted
// messages are the exception: those that were under way may be stored twice.
//
// In one case drain removes a message without storing it. A broker that crashes delivers again even
// what was acknowledged. So for one minute after a break or a restart, drain treats a redelivered
// message whose octets equal those of exactly one stored message as that message. It may be another
// one, which some other consumer gave back.
package broker
