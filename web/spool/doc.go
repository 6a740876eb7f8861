// Package spool keeps messages on disk, so that a message may be acknowledged to the broker without
// being lost.
//
// A [Spool] is one bbolt file in a folder of its own. [Spool.Append] writes many messages with one
// transaction and returns when they are synced: after a crash of the process or the machine each of
// them is there whole, or none of the transaction is. [Spool.Load] puts the newest into an archive
// again.
//
// # Bounds
//
// The file grows to at most Config.MaxBytes and never shrinks. At the bound Append takes no more
// ([ErrFull]), since whatever made room would be gone for good, or drops the oldest messages where
// Config.DropOldest says so.
//
// # What is kept
//
// Everything that arrived: the content header as delivered and the whole body, whatever an archive
// keeps of it, except what redaction removes before anything is written. The folder and the file
// are open to their owner only. Nothing is encrypted.
package spool
