package query

import (
	"errors"
	"strings"
	"testing"
)

func TestCompilePrintsCanonicalForm(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", ""},
		{"  \t\n", ""},
		{"x-death", "x-death"},
		{`"x-death"`, "x-death"},
		{"NServiceBus.MessageId", "NServiceBus.MessageId"},
		{"größe", "größe"},
		{"tenant=acme", "tenant = acme"},
		{"tenant==acme", "tenant = acme"},
		{"tenant!=acme", "tenant <> acme"},
		{`tenant="acme corp"`, `tenant = "acme corp"`},
		{"tenant='it''s'", "tenant = 'it''s'"},
		{"retries>=3", "retries >= 3"},
		{"retries=-3.50", "retries = -3.50"},
		{`retries="3"`, `retries = "3"`},
		{"a and b OR not c", "a AND b OR NOT c"},
		{"a AND (b AND (c))", "a AND b AND c"},
		{"a AND (b OR c)", "a AND (b OR c)"},
		{"a OR (b AND c)", "a OR b AND c"},
		{"NOT (a OR b)", "NOT (a OR b)"},
		{"NOT NOT a", "NOT NOT a"},
		{"not (not (a))", "NOT NOT a"},
		{`"and" and "x y"`, `"and" AND "x y"`},
		{`"5"`, `"5"`},
		{`""`, `""`},
		{`"$weird"`, `"$weird"`},
		{`k = $weird`, "k = $weird"},
		{`"a\"b\\c\xff\x0a"`, `"a\"b\\c\xff\x0a"`},
		{"\"a\u202eb\u009b\"", `"a\xe2\x80\xaeb\xc2\x9b"`},
		{`"x-death"[0].reason='rejected'`, "x-death[0].reason = 'rejected'"},
		{`x-death[*].reason`, "x-death[*].reason"},
		{`"stamps".a.b`, `"stamps".a.b`},
		{`"stamps"."a.b".c[1]`, `"stamps"."a.b".c[1]`},
		{`"stamps".""`, `"stamps".""`},
		{`stamps.a`, `stamps.a`},
		{"a LIKE 'x%'", "a LIKE 'x%'"},
		{`a not like 'x!%' escape '!'`, `a NOT LIKE 'x!%' ESCAPE '!'`},
		{"a IN (b,'c' ,3)", "a IN (b, 'c', 3)"},
		{"a not in (b)", "a NOT IN (b)"},
		{"a BETWEEN 1 AND 5 AND b", "a BETWEEN 1 AND 5 AND b"},
		{"a NOT BETWEEN x AND 'y'", "a NOT BETWEEN x AND 'y'"},
		{"a is null or b IS NOT NULL", "a IS NULL OR b IS NOT NULL"},
		{"exists(a)", "EXISTS(a)"},
		{"EXISTS($message_id)", "$message_id"},
		{"$redelivered", "$redelivered = true"},
		{"EXISTS($redelivered)", "EXISTS($redelivered)"},
		{"$Routing-Key = a.b", "$routing_key = a.b"},
		{"type(k)=S", "type(k) = 'S'"},
		{`type("k") <> INT32`, "type(k) <> 'int32'"},
		{"type(k[0]) in (S, 'x', longstr)", "type(k[0]) IN ('S', 'x', 'longstr')"},
		{"type(k) NOT IN ('S')", "type(k) NOT IN ('S')"},
		{"a = +5", "a = +5"}, {"a > 1e+300", "a > 1e+300"}, {"a IN (-1.5E+2, +0)", "a IN (-1.5E+2, +0)"},
		{`type(k) IN ("\xff", "\x00", "'", S)`, `type(k) IN ("\xff", "\x00", '''', 'S')`},
		{"type = foo", "type = foo"},
		{"duplicate()", "duplicate()"},
		{"DUPLICATE(k)", "duplicate(k)"},
		{"malformed() and malformed", "malformed() AND malformed"},
		{"a=TRUE", "a = TRUE"},
		{"$received > 2026-11-29T10:00:00Z", "$received > 2026-11-29T10:00:00Z"},
		{"a=1e3", "a = 1e3"},
		{`a="1e3"`, `a = "1e3"`},
		{"a=b.c:d/e@f#g", "a = b.c:d/e@f#g"},
		{"5 < n", "n > 5"},
		{"'acme' = tenant", "tenant = 'acme'"},
		{"TRUE = on", "on = TRUE"},
		{"5 BETWEEN a AND b", "a <= 5 AND b >= 5"},
		{"n = (m)", "n = (m)"},
		{"n > [m]", "n > (m)"},
		{"[m n] = 5", `"m n" = 5`},
		{"(n) = m", "n = m"},
		{"price*2>=total", "price * 2 >= (total)"},
		{"weight - 1 = 4", "weight - 1 = 4"},
		{"weight -1 = 4", "weight - 1 = 4"},
		{"weight-1 = 4", "weight-1 = 4"},
		{"a = b + 1", "a = b + 1"},
		{"a = b", "a = b"},
		{"a = -", `a = "-"`},
		{"(a + b) * c = 1", "(a + b) * c = 1"},
		{"a - (b - c) = 1", "a - (b - c) = 1"},
		{"a - b - c = 1", "a - b - c = 1"},
		{"- (a + b) < 5", "- (a + b) < 5"},
		{"n % 2 = 0", "n % 2 = 0"},
		{"a / b = 2", "a / b = 2"},
		{"a + 1 BETWEEN 2 AND 5", "a + 1 >= 2 AND a + 1 <= 5"},
		{"a + 1 NOT IN (2, 5)", "NOT (a + 1 = 2 OR a + 1 = 5)"},
		{"true and not FALSE", "TRUE AND NOT FALSE"},
		{"n = 5L OR n = 0xFF OR n = 1.5f OR n > 2d", "n = 5L OR n = 0xFF OR n = 1.5f OR n > 2d"},
		{`n = "5L"`, `n = "5L"`},
		{"n = 5E2 OR n = .5", "n = 5E2 OR n = .5"},
		{"$received > NOW() - 3600", "$received > NOW() - 3600"},
		{"$timestamp > utc()", "$timestamp > UTC()"},
		{"a matches '^x'", "a MATCHES '^x'"},
		{"a NOT REGEXP '^x'", "a NOT MATCHES '^x'"},
		{"matches = 5", "matches = 5"},
		{"a LIKE 'x%%' ESCAPE '%'", "a LIKE 'x%%' ESCAPE '%'"},
		{"a -- b\n AND c", "a AND c"},
		{"a /* x */ AND\fc", "a AND c"},
		{"a-- = 5", "a-- = 5"},
		{"JMSType = 'car'", "JMSType = 'car'"},
		{`"JMSType" = 'car'`, `"JMSType" = 'car'`},
		{"h.priority > 4 AND p.message-id = x", "h.priority > 4 AND p.message-id = x"},
	} {
		runCase(t, c.src, func(t *testing.T) {
			q, err := Compile(c.src)
			if err != nil {
				t.Errorf("Compile(%q): %v", c.src, err)
				return
			}
			if q.String() != c.want {
				t.Errorf("Compile(%q) prints %q, want %q", c.src, q, c.want)
			}
			again, err := Compile(q.String())
			if err != nil || again.String() != q.String() {
				t.Errorf("Compile(%q) prints %v, %v", q, again, err)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		src         string
		offset, end int
		msg         string
	}{
		{"tenant=acme corp", 12, 16, "Write AND or OR before corp"},
		{"a b", 2, 3, "Write AND or OR before b"},
		{"(a b)", 3, 4, "Write AND or OR before b"},
		{"a 'x'", 2, 5, "Write AND or OR"},
		{"a >", 3, 3, "Expected a value after >"},
		{"a = )", 4, 5, "Expected a value after =: a word, a number or text in single quotes, not )."},
		{"a = b = c", 6, 7, "one operator"},
		{"a AND", 5, 5, "Expected a condition"},
		{"a AND AND b", 6, 9, "AND is part of the language"},
		{"(a", 2, 2, "to close the parenthesis at byte 0"},
		{"a)", 1, 2, "no opening"},
		{"a = 'x", 4, 6, "no closing single quote"},
		{`a = "x`, 4, 6, "no closing double quote"},
		{`"a\n"`, 2, 4, "After a backslash"},
		{`"a\`, 2, 3, "After a backslash"},
		{"a & b", 2, 3, "Write AND"},
		{"a | b", 2, 3, "Write OR"},
		{"!a", 0, 1, "Write NOT"},
		{"a = 5%", 6, 6, "LIKE"},
		{"a + 1", 5, 5, "Expected a comparison after a value"},
		{"a\xff", 1, 2, "not UTF-8"},
		{"a\x00", 1, 2, "U+0000"},
		{"$foo", 0, 4, "There is no $foo"},
		{"$foo = 1", 0, 4, "$app_id"},
		{"$size = big", 8, 11, "$size is a number"},
		{"$received > yesterday", 12, 21, "$received is a time"},
		{"$redelivered = 1", 15, 16, "true or false"},
		{"$redelivered > true", 15, 19, "true or false"},
		{"$headers = x", 11, 12, "can only be there or not"},
		{"$size LIKE '1%'", 6, 10, "no text"},
		{"foo(a)", 0, 3, "There is no function foo"},
		{"a = 1e+", 7, 7, "Expected a value"},
		{"type(k)", 7, 7, "Expected = <> or IN after type"},
		{"type(k) > S", 8, 9, "Expected = <> or IN"},
		{"type(k) = string", 10, 16, "neither a tag letter nor a type"},
		{"type($size) = S", 5, 10, "Expected a header's name"},
		{"duplicate(k[0])", 11, 12, "only headers at top level"},
		{"malformed(k)", 10, 11, "Expected )"},
		{"EXISTS a", 7, 8, "Expected ( after EXISTS"},
		{"a IS b", 5, 6, "Expected NULL or NOT NULL"},
		{"a = null", 4, 8, "IS NULL"},
		{"a = and", 4, 7, "double quotes"},
		{"a NOT b", 6, 7, "Expected LIKE, IN, BETWEEN, CONTAINS or MATCHES after NOT"},
		{"a IN b", 5, 6, "Expected ( after IN"},
		{"a IN ()", 6, 7, "Expected a value in the list"},
		{"a IN (b c)", 8, 9, "a comma"},
		{"a BETWEEN 1 OR 2", 12, 14, "Expected AND and the upper bound"},
		{"a LIKE 'x' ESCAPE '!!'", 18, 22, "one character"},
		{"a LIKE 'x!' ESCAPE '!'", 7, 11, "ends with its escape"},
		{"a LIKE '" + strings.Repeat("_", 65) + "'", 7, 74, "at most 64"},
		{"'x'", 3, 3, "Expected a comparison after a value"},
		{"5", 1, 1, "Expected a comparison after a value"},
		{"a = 0777", 4, 8, "write 777 for the number, '0777' for the text"},
		{"a IN (1, 007)", 9, 12, "write 7 for the number"},
		{"a[*] + 1 = 2", 11, 12, "[*] stands for several values"},
		{"$headers = (a)", 13, 14, "can only be there or not"},
		{"5 < $routing_key + ", 19, 19, "Expected a value"},
		{"$size = (big + )", 15, 16, "Expected a value"},
		{"1e9999 = n + 1", 0, 6, "at most 1000 digits"},
		{"a /* b", 2, 6, "no closing */"},
		{"[a = 5", 0, 6, "no closing ]"},
		{"a MATCHES b", 10, 11, "a regular expression in quotes"},
		{"a MATCHES '('", 10, 13, "missing closing )"},
		{"a MATCHES '(a{1000}){1000}'", 10, 27, "regular expression"},
		{"a MATCHES '(abcdefgh){300}'", 10, 27, "repeats too much"},
		{"$size MATCHES '1'", 6, 13, "no text"},
		{"p.subject = 'x'", 0, 9, "AMQP 0-9-1 has no subject"},
		{"properties.group-sequence > 1", 0, 25, "AMQP 0-9-1 has no group sequence"},
		{"XPATH('//a')", 0, 5, "not into the body"},
		{"REGEX('a', b)", 0, 5, "MATCHES"},
		{"UPPER(a) = 'X'", 0, 5, "(?i)"},
		{"n = LOWER(a) + 1", 4, 9, "(?i)"},
		{"(a = 1) = 2", 3, 4, "Expected )"},
		{"a[", 2, 2, "Expected an index"},
		{"a[x]", 2, 3, "Expected an index"},
		{"a[-1]", 2, 4, "Expected an index"},
		{"a[99999999999]", 2, 13, "Expected an index"},
		{"a[0", 3, 3, "Expected ] after the index"},
		{`"a".`, 3, 4, "missing"},
		{`"a".b..c`, 3, 8, "missing"},
		{`"a"..b`, 3, 6, "missing"},
		{"a" + strings.Repeat("[0]", 33), 0, 100, "at most 32 levels"},
		{strings.Repeat("(", 101) + "a" + strings.Repeat(")", 101), 100, 101, "nested at most 100"},
		{strings.Repeat("NOT ", 101) + "a", 400, 403, "nested at most 100"},
		{"a = " + strings.Repeat("x", MaxSource), MaxSource, MaxSource + 4, "at most 10240 bytes"},
		{strings.Repeat("a OR ", 256) + "a", 1280, 1281, "at most 256 conditions"},
		{"a IN (" + strings.Repeat("1,", 1000) + "1)", 2006, 2007, "at most 1000"},
	} {
		runCase(t, c.src, func(t *testing.T) {
			q, err := Compile(c.src)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Errorf("Compile(%.60q) = %v, %v; want an *Error", c.src, q, err)
				return
			}
			if e.Offset != c.offset || e.End != c.end {
				t.Errorf("Compile(%.60q): error at %d-%d, want %d-%d: %s", c.src, e.Offset, e.End, c.offset, c.end, e.Msg)
			}
			if !strings.Contains(e.Msg, c.msg) || !strings.HasSuffix(e.Msg, ".") || strings.Contains(e.Msg, "\n") {
				t.Errorf("Compile(%.60q): %q, want one sentence with %q", c.src, e.Msg, c.msg)
			}
		})
	}
}

func TestNestingAtTheLimit(t *testing.T) {
	for _, src := range []string{
		strings.Repeat("(", 100) + "a" + strings.Repeat(")", 100),
		strings.Repeat("NOT ", 100) + "a",
		strings.Repeat("NOT (", 50) + "a" + strings.Repeat(")", 50),
		strings.Repeat("(a) AND ", 255) + "a",
		"a IN (" + strings.Repeat("1,", 999) + "1)",
	} {
		if _, err := Compile(src); err != nil {
			t.Errorf("Compile(%.40q…): %v", src, err)
		}
	}
}

func TestKeysAreNamedOnce(t *testing.T) {
	q, err := Compile(`a = 1 OR b[0].c > 2 AND "a" IS NULL OR $size > 3 OR duplicate(d)`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(q.Keys(), " "); got != "a b" {
		t.Errorf("keys %q, want a b", got)
	}
}
