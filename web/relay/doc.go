// Package relay stands between AMQP clients and their broker and shows what passes: what a
// publisher wrote, and beside it what consumers got. From RabbitMQ 3.13 on the broker writes every
// header table anew, so no consumer can see a published one.
//
// # What passes
//
// Bytes pass untouched in both directions, TLS on either side excepted. Each is written to its
// receiver without waiting for the reader, which has a queue of its own: where that is full, bytes
// pass unread and are counted. Half-closed connections stay half closed. Clients of AMQP 1.0, 0-10,
// 0-9 and 0-8 and of what is no AMQP pass unread, and the status says so.
//
// # What is shown
//
// Each basic.publish, basic.deliver, basic.get-ok and basic.return with its content becomes a
// message of the archive, in the order in which they passed. A ledger holds what the archive has no
// place for: the connection, the channel, and what came of the message, up to the size it is given;
// the oldest lines go first.
//
// # Secrets
//
// Of connection.start-ok the name of the user is kept and nothing else of the SASL response; what
// else a client answers to a challenge is not looked at. Buffers that held bytes of a connection's
// opening are overwritten before they are used again.
package relay
