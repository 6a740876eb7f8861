// Package query is the filter language of headerglass: selectors in the manner of
// JMS over AMQP 0-9-1 deliveries, answered from the encoded bytes.
//
// # Grammar
//
//	filter    = [ or ]
//	or        = and { OR and }
//	and       = not { AND not }
//	not       = NOT not | "(" or ")" | condition
//	condition = operand [ comparison value
//	          | [ NOT ] LIKE value [ ESCAPE text ]
//	          | [ NOT ] IN "(" value { "," value } ")"
//	          | [ NOT ] BETWEEN value AND value
//	          | IS [ NOT ] NULL ]
//	          | EXISTS "(" operand ")"
//	          | type "(" path ")" ( ( "=" | "<>" ) value | [ NOT ] IN "(" value … ")" )
//	          | duplicate "(" [ name ] ")"
//	          | malformed "(" ")"
//	comparison = "=" | "<>" | "<" | "<=" | ">" | ">=" ; also == and !=
//	operand   = path | property
//	path      = name { "." name | "[" index "]" | "[*]" }
//	value     = number | word | quoted | text
//	name      = word | quoted
//
// A word is a run of letters, digits and -_.:$#@/. A quoted word stands in double
// quotes and may hold anything; \" \\ and \xNN (one byte) are its escapes. Text
// stands in single quotes, with two of them for one. A property is a word that
// begins with $, so a header whose name does is quoted, as are names that are
// keywords or numbers. Keywords, function and property names may be in any case.
// In a path, the first name is bare or quoted, and a dot in a bare one belongs to
// it: "stamps".group is a field of the table stamps, stamps.group a header.
//
// # Values
//
//	value on the right   equals                                       is ordered against
//	number 5             any integer, float or decimal of that exact   the same, and timestamps in seconds
//	                     value, timestamps in seconds, and text that
//	                     reads as that number
//	word acme, "a b"     what is displayed as that word, of any type;  text, as bytes; timestamps, if it
//	                     timestamps, if it reads as a time             reads as a time
//	text 'acme'          text of these bytes; timestamps likewise      the same
//	true, false          booleans; text displayed so                   nothing
//
// Numbers are compared exactly, whatever their types, with one exception: a literal with a point or
// an exponent is first rounded to the width of the float that it is compared with, float32 for tag f
// and float64 for tag d. So a float equals the digits that are shown of it, as in price = 19.99.
// Digits alone are a whole number, which is exact against everything: 9007199254740993 (2^53+1)
// equals no float. NaN equals no number and has no order. A time is RFC 3339 text; without a
// zone it is UTC, and seconds or the time of day may be left out.
//
// # Logic
//
// Conditions are yes, no or unknown, as in SQL. A comparison is unknown where its
// value is absent or void, and < and > are unknown for values that have no order;
// = and <> of different types are no and yes. NOT of unknown is unknown. Of headers
// with the same name only the first counts (AMQP 0-9-1 specification, section
// 4.2.5.5). Under [*] a condition holds if it does for any element; IS NULL holds if
// no element is anything but void.
//
// Where a table is damaged before a header that is needed, conditions on it are
// open. If that leaves open whether the message matches, the verdict is Damaged: such
// messages are counted, not dropped.
//
// # Execution
//
// A compiled query knows the names it needs. It looks at delivery facts and
// properties first, then finds all names in one pass over the encoded table, which
// stops at the last of them. Nothing is decoded and nothing allocated per message.
// Where the reading is the archive's own, a Matcher first decides by the shape of a
// message, its list of names and types: once for each shape, without touching the
// message.
//
// # Bounds
//
// A filter has at most MaxSource bytes and MaxConditions conditions, nested at most
// MaxNesting deep; a list has at most 1,000 values, a path 32 steps, and a run of
// a LIKE pattern with _ in it 64 characters. LIKE takes one pass over the text. A
// Page stops at its time budget, a Count with its context, both between two
// messages.
package query
