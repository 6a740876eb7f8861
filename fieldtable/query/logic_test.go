package query

import (
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestPrecedence(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) { e.Void("yes") }))
	checkVerdicts(t, m, []verdictCase{
		{"yes OR no AND no", Yes},
		{"(yes OR no) AND no", No},
		{"NOT no AND no", No},
		{"NOT (no AND no)", Yes},
		{"NOT yes OR yes", Yes},
		{"NOT NOT yes", Yes},
		{"no OR no OR yes", Yes},
		{"yes AND yes AND no", No},
		{"no = 1 OR yes", Yes},
		{"no = 1 AND no", No},
		{"NOT (no = 1 AND yes)", Unknown},
	})
}

func TestFactsAreAskedBeforeTheTable(t *testing.T) {
	s := archived(archive.Config{}, testMessage{table: encode.Table(func(e *encode.Encoder) { e.Int32("a", 1) })})
	m, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	for filter, reads := range map[string]bool{
		"a = 1 AND $redelivered":                   false,
		"a = 1 OR NOT $redelivered":                false,
		"a = 1 AND (a > 5 OR $exchange = x)":       true,
		"duplicate(a) AND a = 2 AND $size = 1":     false,
		"(a = 1 OR $redelivered) AND $exchange=''": true,
	} {
		var scratch Scratch
		q := compile(t, filter)
		q.match(m, fieldtable.Lenient(), nil, &scratch)
		if got := scratch.bytesRead > 0; got != reads {
			t.Errorf("%s: the table is read: %v, want %v", filter, got, reads)
		}
	}
}
