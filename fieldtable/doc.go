// Package fieldtable reads AMQP field tables where they lie: without copying, without decoding what
// nobody asks for, in every dialect that brokers and clients write, and with an exact account of
// whatever is broken.
//
// # Terms
//
// A field table is a length of 4 octets and, in as many octets, fields: a name (1 octet of length,
// 0 to 255 octets), a type tag (1 octet), a value. A value is its payload, with a length before it
// if its type has one. An array is a length in octets, not a count, and values without names. All
// integers are big-endian. Tables order their fields, and may repeat a name.
//
//	table  = length *( field )        length = 4 octets
//	field  = name value               name   = octet *OCTET
//	value  = tag [ length ] payload
//	array  = length *( value )
//
// Every offset in this package counts octets from the first octet of the outermost table's length,
// so that an offset in an error, a field or a value names one octet of the message.
//
// # Use
//
// [View] looks at octets as one table, [Cut] at the table with which octets begin. Neither reads
// anything. [Table.Lookup] finds one key and passes over the values before it; [Table.Project]
// finds several in one pass that ends with the last of them; [Table.All] and [Scanner] go through
// fields in order; [Table.At] follows a path like x-death[0].reason; [Table.Valid] reads everything
// once. [Memo] answers many lookups in one table from one pass. A [Value] knows its tag, its kind,
// its octets and where they are.
//
// Tables, arrays and values are views: small values that hold no state, free to copy and to use
// from many goroutines, as long as nobody changes the octets. None of the functions named here
// allocates memory, but for errors, paths and a Memo.
//
// # Dialects
//
// AMQP 0-9-1's grammar, its errata and what software really writes disagree about tags. A [Dialect]
// is one reading; it is chosen when looking at a table, so the same octets can be read again in
// another. The table of what each of them reads stands at [Dialect].
//
// The first dialect, [Lenient], reads all that can be read without contradicting RabbitMQ. No
// dialect is ever chosen by guessing: [ExactDialects] names those that read a table without damage,
// [Hints] the values that others read otherwise, and [Readings] what each broker and client library
// makes of every field.
//
// # Damage
//
// Nothing here fails as a whole. A [SyntaxError] says what is wrong, at which octet, and in which
// field:
//
//   - The fields before the damage stay readable; those after it, in the same table or array, have
//     no certain beginning.
//   - Damage in a nested table or array stays inside it, because its own length is known: what
//     follows it is readable.
//   - A length that goes beyond the parent is damage in the parent, at the length.
//   - An unknown tag has no width, so nothing after it can be found.
//   - Octets after the outermost table are reported last; its own length, if it is incomplete or
//     too great, instead of any field.
//   - Beyond [MaxDepth] levels a nested value is reported where it begins. Passing over a value
//     never descends into it.
//
// # Names
//
// The specification wants a letter, $ or # first, then also digits and _, and at most 128 octets.
// Nobody enforces it, so names here are any 0 to 255 octets. Of fields with the same name, AMQP
// 0-9-1 section 4.2.5.5 lets the first count, and so do Lookup, Get, Project, At and Memo; All and
// Scanner show every one.
//
// # Security considerations
//
// Tables come from whoever may publish. Reading one costs time in proportion to its octets and, a
// Memo, errors and the results of Hints and Readings apart, no memory; no length that a table
// claims is ever allocated, and recursion ends at MaxDepth. Memo hashes names with a random seed.
// Paths in errors are cut at about 1 KiB. Names and strings are octets as they were sent: markup,
// control characters, bidirectional overrides and invalid UTF-8 included, for the caller to escape;
// the package typedjson does so for JSON and for terminals. A caller that walks a whole tree should
// go down with [Scanner.Into], whose errors know their path, rather than with [Value.Table], whose
// errors search for it from the outermost table.
package fieldtable
