// Package capture turns files into messages and messages into files: it reads what the explorer
// exports, and captures of AMQP 0-9-1 traffic that tcpdump, Wireshark and the like have written,
// into an archive; and it writes messages as a capture that Wireshark opens.
//
// # Captures
//
// A capture is read packet by packet. TCP streams are put together in each direction by itself,
// whatever is missing at their beginning, in between or at their end, and searched for frames: on
// any port, since a stream that has none is just not AMQP. Taken are the contents of basic.deliver,
// basic.get-ok, basic.return and basic.publish, so a capture beside a publisher serves as well as
// one beside a consumer; in one beside the broker a message appears once for each way that it goes.
// A message whose body is not all there is kept with what there is of it.
//
// # Bounds
//
// A file may hold anything. It is streamed, nothing is allocated because a length in it says so,
// and what must be kept while reading (octets out of order, frames and contents that are not
// complete) is bounded for the whole file; where the bound is reached, the streams concerned lose
// what they held and go on at their next method.
package capture
