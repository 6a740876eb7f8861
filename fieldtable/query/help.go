package query

// HelpEntry explains one form of a filter by an example.
type HelpEntry struct {
	Example, Meaning string
}

// Help lists the language by examples, the everyday ones first.
func Help() []HelpEntry {
	return []HelpEntry{
		{`x-death`, `has that header; a boolean that is false does not count`},
		{`NOT x-death`, `does not have it`},
		{`tenant = acme`, `the header's displayed text is acme, whatever its type`},
		{`tenant = "acme corp"`, `the same, for a value with other characters than letters, digits and -_.:$#@/`},
		{`tenant = 'acme'`, `is text, and this text`},
		{`retries = 3`, `is any kind of number equal to 3, or text that reads as one`},
		{
			`retries > 2.5 AND tenant <> acme`,
			`numbers compare across all types, a float by the digits shown; AND binds tighter than OR`,
		},
		{`(a OR b) AND NOT c`, `parentheses group`},
		{`retries BETWEEN 1 AND 5`, `both ends included`},
		{`tenant IN (acme, 'beta', 7)`, `equal to any of them`},
		{
			`task LIKE 'shop.%.send_'`,
			`% is any run of characters, _ exactly one; for numbers and other types write the pattern in double quotes`,
		},
		{`task LIKE '100!%' ESCAPE '!'`, `after the escape character, which may be any, % and _ stand for themselves`},
		{`tenant CONTAINS acme`, `LIKE with % around the text; contains(tenant, acme) is the same`},
		{`tenant: acme`, `another way to write =; so is ==, and != for <>`},
		{
			`anywhere('acme')`,
			`the text stands in a name, in a value at any depth, or in a property; upper and lower case are the same`,
		},
		{`eta IS NULL`, `absent or void; IS NOT NULL is the opposite`},
		{`EXISTS(eta)`, `there, even if void, or a boolean that is false`},
		{`x-death[0].reason = rejected`, `inside arrays and tables`},
		{`x-death[*].reason = expired`, `any element of the array`},
		{`"stamps".group`, `a table's own name needs double quotes before a dot, since dots may be part of a name`},
		{
			`"and" = 5`,
			`names that are words of the language, numbers or begin with $ need double quotes, or brackets: [and] = 5`,
		},
		{`"caf\xe9" = x`, `\xNN is one byte of a name or value that is not UTF-8`},
		{`on = true`, `a boolean that is true, or the text true; TRUE and FALSE are conditions too`},
		{
			`tenant MATCHES '^acme-[0-9]+$'`,
			`a regular expression, found anywhere in the text; its syntax is that of Go and RE2`,
		},
		{
			`price * 2 >= total`,
			`arithmetic with + - * / % and headers on both sides; names may hold - and /, so these need spaces`,
		},
		{`retries > (limit)`, `a header on the right stands in parentheses or in brackets; a word alone is text`},
		{`5 < retries`, `a value may come first`},
		{
			`$received > NOW() - 3600`,
			`NOW() is when the filter was read, in seconds since 1970; UTC() the same in ms, for JMSTimestamp`,
		},
		{
			`n = 0xFF OR n = 5L OR n = 1.5f`,
			`numbers as Java writes them; 0xFF are octets too; a number must not begin with 0`,
		},
		{
			`JMSPriority > 4`,
			`JMS names mean the property, unless a header has the name; so do p.message_id, h.priority and a.tenant`,
		},
		{`tenant = acme /* the first */ -- of all`, `comments`},
		{
			`sent > '2026-01-31T18:00:00Z'`,
			`a timestamp against RFC 3339 text, or seconds since 1970; without a zone it is UTC`,
		},
		{`type(retries) = S`, `the tag on the wire`},
		{`type(retries) <> int32`, `the name of a type: ` + typeNames()},
		{`duplicate(tenant)`, `the header occurs more than once; comparisons use the first`},
		{`duplicate()`, `any header does`},
		{`malformed()`, `the header table, or another property, is damaged`},
		{`$routing_key LIKE 'acme.%'`, `properties and delivery facts begin with $: ` + propertyNames()},
		{`$received > '2026-01-31' AND $size > 1000`, `times and bytes`},
		{`$body LIKE '%acme%'`, `what is kept of the body`},
		{`$redelivered`, `the flag is set`},
		{`$message_id`, `the property is set`},
	}
}
