// Package wire reads AMQP 0-9-1 at the level of frames: frames and content headers as views over
// encoded bytes, helpers that append frames, and the Tap, which takes deliveries off a connection
// before a client library decodes them.
//
// # Terminology
//
// A frame is a type octet, a channel number, a payload size, the payload and the frame-end octet
// 0xCE (spec §2.3.5). A delivery is a basic.deliver method frame followed, on the same channel, by
// one content header frame and as many body frames as its body size needs (spec §2.3.5.2, §4.2.6).
// A content header carries the class, the body size, the property flags and the property list; the
// headers property in that list is a field table, which this package finds but does not read: see
// package fieldtable.
//
// # Damage
//
// Views never fail: [ContentHeader] gives what stands before the damage and then a [PropertyError]
// with the place. The Tap separates two cases. Bytes that a client library will see anyway (unknown
// frame types, a protocol header, a wrong frame-end, a malformed method) are passed on untouched
// from there on, so that the library reports the error it is made to report. Damage inside a
// content that the Tap has already begun to take away is a [FrameError] from Read.
//
// # Security considerations
//
// Every size on the wire is a claim by the peer. A size is compared with its limit before any
// memory is taken, and buffers grow with the bytes that have arrived, never to the size that was
// claimed.
package wire
