package query

import (
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestComplete(t *testing.T) {
	table := encode.Table(func(e *encode.Encoder) {
		e.Int32("x-death", 1)
		e.Int32("X-Retry", 1)
		e.Int32("tenant", 1)
		e.Int32("tenant name", 1)
		e.Int32("tenant", 2)
		e.Int32("and", 1)
	})
	s := archived(archive.Config{}, testMessage{table: table}, testMessage{table: table},
		testMessage{table: encode.Table(func(e *encode.Encoder) { e.Int32("x-only", 1) })})
	for _, c := range []struct {
		src    string
		offset int
		want   string
		start  int
	}{
		{"x", 1, "X-Retry x-death x-only", 0},
		{"a = 1 AND ten", 13, `tenant "tenant name"`, 10},
		{"tenant = acme", 3, `tenant "tenant name"`, 0},
		{`NOT "tenant n`, 13, `"tenant name"`, 4},
		{"an", 2, `"and"`, 0},
		{"", 0, `X-Retry "and" tenant "tenant name" x-death x-only`, 0},
		{"a AND ", 6, `X-Retry "and" tenant "tenant name" x-death x-only`, 6},
		{"tenant = ", 9, "", 9},
		{"tenant = te", 11, "", 11},
		{"tenant LIKE te", 14, "", 14},
		{"tenant = 'te", 12, "", 12},
		{"$ro", 3, "$routing_key", 0},
		{"a OR $EX", 8, "$exchange $expiration", 5},
		{"nothing", 7, "", 0},
		{"x", 99, "X-Retry x-death x-only", 0},
	} {
		runCase(t, c.src, func(t *testing.T) {
			items, start := Complete(s, c.src, c.offset, 20)
			var got []string
			for _, i := range items {
				got = append(got, i.Insert)
			}
			if strings.Join(got, " ") != c.want || start != c.start {
				t.Errorf("Complete(%q, %d) = %q at %d, want %q at %d", c.src, c.offset, got, start, c.want, c.start)
			}
		})
	}
	items, _ := Complete(s, "tenant", 6, 1)
	if len(items) != 1 || items[0].Count != 2 || items[0].Name != "tenant" {
		t.Errorf("%+v", items)
	}
}
