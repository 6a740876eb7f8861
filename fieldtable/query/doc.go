// Package query is the filter language of headerglass: selectors in the manner of
// JMS over AMQP 0-9-1 deliveries, answered from the encoded bytes.
//
// # Grammar
//
//	filter    = [ or ]
//	or        = and { OR and }
//	and       = not { AND not }
//	not       = NOT not | "(" or ")" | condition
//	condition = operand [ comparison right | tests
//	          | [ NOT ] IN "(" right { "," right } ")"
//	          | [ NOT ] BETWEEN right AND right ]
//	          | sum ( comparison sum | tests | [ NOT ] BETWEEN sum AND sum | [ NOT ] IN "(" sum { "," sum } ")" )
//	          | "(" or ")" IS [ NOT ] NULL
//	          | EXISTS "(" operand ")"
//	          | anywhere "(" value ")"
//	          | contains "(" operand "," value ")"
//	          | type "(" path ")" ( ( "=" | "<>" ) value | [ NOT ] IN "(" value … ")" )
//	          | duplicate "(" [ name ] ")"
//	          | malformed "(" ")"
//	          | TRUE | FALSE
//	tests     = [ NOT ] LIKE value [ ESCAPE text ] | [ NOT ] CONTAINS value | [ NOT ] MATCHES text
//	          | IS [ NOT ] NULL
//	comparison = "=" | "<>" | "<" | "<=" | ">" | ">=" ; also == and !=, and a colon for =
//	right     = value | sum
//	sum       = product { ( "+" | "-" ) product }
//	product   = signed { ( "*" | "/" | "%" ) signed }
//	signed    = [ "+" | "-" ] ( number | text | TRUE | FALSE | operand | now "(" ")" | "(" sum ")" )
//	now       = NOW | UTC
//	operand   = path | property
//	path      = name { "." name | "[" index "]" | "[*]" }
//	value     = number | word | quoted | text
//	name      = word | quoted | "[" any characters, ]] for a ] "]"
//
// A word is a run of letters, digits and -_.:$#@/. A quoted word stands in double
// quotes and may hold anything; \" \\ and \xNN (one byte) are its escapes. Text
// stands in single quotes, with two of them for one. A property is a word that
// begins with $, so a header whose name does is quoted, as are names that are
// keywords or numbers. Keywords, function and property names may be in any case.
// White space may hold comments: from -- and a space to the end of the line, and /* … */.
//
// On the right of a header or property, a word alone is a value. Everywhere else in a sum a word is
// a header's name, as it is on the right in parentheses or brackets; with a - before it, it is the
// opposite of that header. Since names may hold - and /, these operators need a space before them.
// What has a value on the left and a header on the right is turned round; BETWEEN and IN with sums
// are written as comparisons, CONTAINS is written with LIKE.
//
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
//	5L, 1.5f, 2d, 0xFF   what the number equals, and what is           as the number
//	                     displayed as that word; 0x of octets
//
// A number of digits alone that begins with 0 is refused: it is octal in Java and C.
//
// Numbers are compared exactly, whatever their types, with one exception: a literal with a point or
// an exponent is first rounded to the width of the float that it is compared with, float32 for tag
// f and float64 for tag d. So a float equals the digits that are shown of it, as in price = 19.99.
// Digits alone are a whole number, which is exact against everything: 9007199254740993 (2^53+1)
// equals no float. NaN equals no number and has no order. A time is RFC 3339 text; without a zone
// it is UTC, and seconds or the time of day may be left out.
//
// # Arithmetic
//
// Whole numbers and decimals are calculated exactly: 17 / 4 is 4.25, as in Qpid and RabbitMQ; % has
// the sign of what is divided. With a float, both are floats of the wider of the two: a float32
// becomes the float64 that has the digits shown of it. Text counts if it reads as a number. Times
// are seconds, as NOW() is, the moment that the filter was read; UTC() is the same in milliseconds,
// as RabbitMQ's SQL filters have it, for JMSTimestamp and p.creation_time. What has no value, is no
// number, is divided by zero or goes beyond 1,000 digits is unknown.
//
// # Names of other worlds
//
// JMSType, JMSPriority, JMSCorrelationID, JMSMessageID, JMSReplyTo, JMSTimestamp (ms),
// JMSDeliveryMode ('PERSISTENT' or 'NON_PERSISTENT'), JMSExpiration, JMSRedelivered, JMSXUserID and
// JMSXAppID mean the header of that name, and the property where a message has none. So do
// Artemis's AMQUserID, AMQPriority, AMQExpiration, AMQTimestamp and AMQDurable, and the sections of
// RabbitMQ's SQL filters: p.x and properties.x, h.x and header.x; a.x and application_properties.x
// mean the header x. In double quotes each is only a header's name. What AMQP 0-9-1 does not have,
// such as p.subject, is refused.
//
// # Logic
//
// A header by itself is no where it is a boolean that is false, and yes where it is anything else.
//
// anywhere looks for a text in the names and values of headers at any depth, the exchange, the
// routing key and the properties that are text. A value is what is displayed of it; octets are text
// too. Letters may be of either case, which they may not anywhere else.
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
// Where a segment of the archive is sealed, what a filter, a facet or a histogram asks of one
// header or property is read once and kept as a column: see archive.Column. A condition is then
// decided once for each distinct value, or by the value's key where there are many, and a message
// is only looked at where its table is damaged, the value was removed, or is none that a column
// holds. There are no columns of $received, $seq and $delivery_tag, nor under [*]. Explain says
// what columns answered.
//
// # Bounds
//
// A filter has at most MaxSource bytes and MaxConditions conditions, nested at most MaxNesting
// deep; a list has at most 1,000 values, a path 32 steps, and a run of a LIKE pattern with _ in it
// 64 characters. It has at most 16 regular expressions of 256 bytes. LIKE takes one pass over the
// text. A Page stops at its time budget, a Count with its context, both between two messages.
package query
