package query

import "testing"

// Forms that other languages have are read as what they mean, and written in headerglass's own.
func TestFormsOfOtherLanguages(t *testing.T) {
	for _, tt := range []struct{ filter, want string }{
		{"tenant contains acme", `tenant LIKE "%acme%"`},
		{"tenant CONTAINS 'acme'", "tenant LIKE '%acme%'"},
		{"tenant NOT CONTAINS 5", `tenant NOT LIKE "%5%"`},
		{"tenant CONTAINS '50%'", "tenant LIKE '%50!%%' ESCAPE '!'"},
		{"tenant CONTAINS '!_'", "tenant LIKE '%!!!_%' ESCAPE '!'"},
		{"tenant CONTAINS '!'", "tenant LIKE '%!%'"},
		{"contains(x-death[*].reason, 'eject')", "x-death[*].reason LIKE '%eject%'"},
		{"Contains($routing_key, acme) AND a", `$routing_key LIKE "%acme%" AND a`},
		{"a + 1 CONTAINS 2", `a + 1 LIKE "%2%"`},
		{"tenant: acme", "tenant = acme"},
		{"tenant:'acme corp' AND retries: 5", "tenant = 'acme corp' AND retries = 5"},
		{`"tenant": "acme"`, "tenant = acme"},
		{`tenant:"a b"`, `tenant = "a b"`},
		{"x-death[0].reason: rejected", "x-death[0].reason = rejected"},
		{"$message_id: x1", "$message_id = x1"},
		{"NOT tenant: acme OR on: true", "NOT tenant = acme OR on = true"},
		{"tenant == acme", "tenant = acme"},
		{"tenant != acme", "tenant <> acme"},
		{"tenant:acme", "tenant:acme"},
		{"tenant: AND a", "tenant: AND a"},
		{"tenant:", "tenant:"},
		{"urn: = 5", "urn: = 5"},
		{"a: - 5 = 1", "a: - 5 = 1"},
		{"contains = 5 AND anywhere", "contains = 5 AND anywhere"},
		{"-n > 5", "- n > 5"},
		{`"-n" > 5`, `"-n" > 5`},
		{"n = -m", "n = -m"},
		{"[a]]b] = 1", `"a]b" = 1`},
		{"[[[a]]] = 1", `"[a]" = 1`},
		{`"a""b" = ""`, `"a\"b" = ""`},
		{`a = """"`, `a = "\""`},
		{"n IN (m + 1, 5)", "n = m + 1 OR n = 5"},
		{"n NOT IN ((m), 'x')", "NOT (n = (m) OR n = 'x')"},
		{"((n = 1)) is null", "(n = 1) IS NULL"},
		{"(n) IS NULL", "n IS NULL"},
		{"'a' LIKE 'b%' ESCAPE '!'", "'a' LIKE 'b%' ESCAPE '!'"},
	} {
		runCase(t, tt.filter, func(t *testing.T) {
			q := compile(t, tt.filter)
			if q.String() != tt.want || compile(t, q.String()).String() != tt.want {
				t.Errorf("%s, want %s", q, tt.want)
			}
		})
	}
	for _, filter := range []string{"tenant CONTAINS", "contains(tenant)", "$size CONTAINS 5", "contains(, a)", "a CONTAINS AND b"} {
		if _, err := Compile(filter); err == nil {
			t.Errorf("%s compiles", filter)
		}
	}
}

func TestBody(t *testing.T) {
	body := func(kept string, size uint64) testMessage { return testMessage{body: []byte(kept), bodySize: size} }
	for _, tt := range []struct {
		filter            string
		whole, cut, empty Verdict
		none              Verdict
	}{
		{"$body LIKE '%order%'", Yes, Yes, No, Unknown},
		{"$body CONTAINS 'missing'", No, No, No, Unknown},
		{"$body = 'the order'", Yes, Yes, No, Unknown},
		{"$body MATCHES '^the'", Yes, Yes, No, Unknown},
		{"$body = ''", No, No, Yes, Unknown},
		{"$body IS NULL", No, No, No, Yes},
		{"anywhere('order')", No, No, No, No},
	} {
		for of, want := range map[*testMessage]Verdict{
			new(body("the order", 9)): tt.whole, new(body("the order", 90)): tt.cut,
			new(body("", 0)): tt.empty, new(body("", 90)): tt.none,
		} {
			checkVerdicts(t, archivedOne(t, *of), []verdictCase{{tt.filter, want}})
		}
	}
}
