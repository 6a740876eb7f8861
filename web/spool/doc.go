// Package spool keeps messages on disk, so that a message may be acknowledged to the broker without
// being lost.
//
// A [Spool] is a log in a folder of its own: files of bounded size that only grow, each a header
// and then one frame a message. [Spool.Append] writes many messages and returns when they are
// synced: after a crash of the process or the machine each of them is there, whole. [Spool.Load]
// puts the newest into an archive again.
//
// # Files
//
// All numbers are little-endian, all checksums CRC-32C. The file "lock" is locked while the spool
// is open, the file "spool" holds a header alone. A log file is named after the number of its first
// message: 20 digits and ".log". Numbers begin at 1 and go up by one a message, so what is missing
// can be counted.
//
//	header   "hglass\r\n", format uint32 1, 4 octets 0, number of the first message uint64,
//	         the spool's key 32 octets, 4 octets 0, checksum uint32
//	frame    number uint64, length uint64, kind uint32, checksum uint32, payload, checksum uint32
//
// A frame's checksums begin with the key and the number of the file's first message, and the second
// with the first, so nothing that a publisher writes into a message passes for a frame. Kind 1 is a
// message, see [Record]; 2 says that the spool was opened, 3 that it was closed in good order, both
// with the next message's number and nothing in them.
//
// # Damage
//
// What does not fit its checksum is never shown. The next frame that does is looked for; a [Damage]
// says in which file, where, and which messages are lost. What follows stays readable. What was cut
// off by the end of the process was never acknowledged and comes again.
//
// # Bounds
//
// The files grow to at most Config.MaxBytes together. At the bound Append takes no more
// ([ErrFull]), since whatever made room would be gone for good, or drops the oldest file where
// Config.DropOldest says so. The body of a message above a mebibyte goes to a file of its own as it
// arrives, and is copied into the log when it is whole.
//
// # What is kept
//
// Everything that arrived: the content header as delivered and the whole body, whatever an archive
// keeps of it, except what redaction removes before anything is written. The folder and the files
// are open to their owner only, and must be that. Nothing is encrypted.
package spool
