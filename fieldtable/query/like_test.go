package query

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestLike(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Str("task", "shop.tasks.send_invoice")
		e.Str("name", "größe €5")
		e.Str("raw", "a\xffb")
		e.Str("empty", "")
		e.Str("percent", "100%_\\")
		e.Str("aba", "ababab")
		e.Int32("n", 123)
		e.Bytes("bin", []byte("ab"))
		e.Void("nil")
	}))
	checkVerdicts(t, m, []verdictCase{
		{"task LIKE 'shop.tasks.send_invoice'", Yes},
		{"task LIKE 'shop%'", Yes},
		{"task LIKE '%invoice'", Yes},
		{"task LIKE '%tasks%'", Yes},
		{"task LIKE '%shop%send%ice%'", Yes},
		{"task LIKE '%send%shop%'", No},
		{"task LIKE 'SHOP%'", No},
		{"task LIKE 'tasks'", No},
		{"task LIKE 'shop'", No},
		{"task LIKE 'shop_tasks_send_invoice'", Yes},
		{"task LIKE '%s_nd%'", Yes},
		{"task LIKE '%_'", Yes},
		{"task LIKE '%'", Yes},
		{"task LIKE '%%%%'", Yes},
		{"task LIKE ''", No},
		{"task LIKE '%invoice_'", No},
		{"task LIKE '_shop%'", No},
		{"task NOT LIKE 'shop%'", No},
		{"task NOT LIKE 'x%'", Yes},
		{"name LIKE 'gr__e €5'", Yes},
		{"name LIKE 'gr_e %'", No},
		{"name LIKE '%_5'", Yes},
		{"name LIKE '________'", Yes},
		{"name LIKE '%€_'", Yes},
		{"name LIKE '%\u00f6_e%'", Yes},
		{"raw LIKE 'a_b'", Yes},
		{`raw LIKE "a\xff_"`, Yes},
		{`raw LIKE "a\xfe_"`, No},
		{"raw LIKE '___'", Yes},
		{"empty LIKE ''", Yes},
		{"empty LIKE '%'", Yes},
		{"empty LIKE '_'", No},
		{"empty LIKE '%_%'", No},
		{`percent LIKE '100!%!_\' ESCAPE '!'`, Yes},
		{`percent LIKE '100\%\_\\' ESCAPE '\'`, Yes},
		{"percent LIKE '100!%%' ESCAPE '!'", Yes},
		{"percent LIKE '!%%' ESCAPE '!'", No},
		{"aba LIKE 'aba%bab'", Yes},
		{"aba LIKE 'ababa%babab'", No},
		{"aba LIKE 'ab%ab%ab'", Yes},
		{"aba LIKE 'ab%ab%ab%ab'", No},
		{"n LIKE '1%'", No},
		{"n NOT LIKE '1%'", Yes},
		{`n LIKE "1%"`, Yes},
		{"n LIKE 123", Yes},
		{`bin LIKE "61__"`, Yes},
		{"bin LIKE '%'", No},
		{"nil LIKE '%'", Unknown},
		{"missing LIKE '%'", Unknown},
		{"missing NOT LIKE '%'", Unknown},
		{"task LIKE '" + strings.Repeat("_", 23) + "'", Yes},
		{"task LIKE '" + strings.Repeat("_", 24) + "'", No},
		{"task LIKE '" + strings.Repeat("%", 5000) + "'", Yes},
	})
}

// TestLikeAgreesWithRegexp compares with regexp over short texts of a few letters.
func TestLikeAgreesWithRegexp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(alphabet string, most int) string {
		letters := []rune(alphabet)
		var b strings.Builder
		for range r.IntN(most + 1) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	for range 3000 {
		pattern := random("aaab%%_é", 9)
		l, problem := newLike(literal{text: []byte(pattern)}, "", false)
		if problem != "" {
			t.Fatalf("%q: %s", pattern, problem)
		}
		re := regexp.MustCompile("(?s)^" + strings.NewReplacer("%", ".*", "_", ".").Replace(pattern) + "$")
		for range 20 {
			text := random("aaabé", 12)
			if got, want := l.matches([]byte(text)), re.MatchString(text); got != want {
				t.Fatalf("%q LIKE %q: %v, want %v", text, pattern, got, want)
			}
		}
	}
}

func TestLikeIsLinear(t *testing.T) {
	text := []byte(strings.Repeat("a", 1<<20))
	for _, pattern := range []string{
		strings.Repeat("%a", 2000) + "%b",
		strings.Repeat("%a_a", 1000) + "%b",
		"%" + strings.Repeat("a_", 31) + "b%",
		"%" + strings.Repeat("a", 5000) + "b%",
	} {
		l, problem := newLike(literal{text: []byte(pattern)}, "", false)
		if problem != "" {
			t.Fatal(problem)
		}
		start := time.Now()
		if l.matches(text) {
			t.Errorf("%.20q… matches", pattern)
		}
		// A pass takes some milliseconds; backtracking would take years.
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%.20q…: %v", pattern, d)
		}
	}
}
