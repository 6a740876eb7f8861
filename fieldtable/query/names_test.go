package query

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestNames(t *testing.T) {
	text := encode.Table(func(e *encode.Encoder) { e.Str("tenant", "acme"); e.Str("retries", "5") })
	number := encode.Table(func(e *encode.Encoder) { e.Str("tenant", "acme"); e.Int32("retries", 5) })
	damaged := slices.Clone(number)
	damaged[28] = '?' // the tag of retries
	twice := encode.Table(func(e *encode.Encoder) { e.Int32("retries", 1); e.Int32("retries", 2) })
	s := archived(archive.Config{},
		testMessage{table: text}, testMessage{table: number}, testMessage{table: twice}, testMessage{table: damaged},
		testMessage{},
	)
	for _, c := range []struct {
		filter           string
		matched, damaged uint64
		keys             string
	}{
		{"", 5, 1, "retries 3 2 map[73:2 83:1], tenant 3 1 map[83:3], "},
		{"retries", 3, 0, "retries 3 2 map[73:2 83:1], tenant 2 1 map[83:2], "},
		{"retries = 2", 0, 0, ""},
		{"retries[0] IS NULL AND tenant = acme", 2, 0, "retries 2 1 map[73:1 83:1], tenant 2 1 map[83:2], "},
		{"malformed()", 1, 1, "tenant 1 1 map[83:1], "},
	} {
		runCase(t, c.filter, func(t *testing.T) {
			n, err := compile(t, c.filter).Names(t.Context(), s, PageRequest{})
			got := ""
			for _, k := range n.Keys {
				got += fmt.Sprint(k.Key, " ", k.Count, " ", k.Most, " ", k.Tags, ", ")
			}
			if err != nil || !n.Complete || n.Matched != c.matched || n.Damaged != c.damaged || got != c.keys {
				t.Errorf("%d matched, %d damaged: %s (%v)", n.Matched, n.Damaged, got, err)
			}
		})
	}
}

// The names of everything are those of the archive, and those of a filter are the ones of an
// archive of nothing but its matches: also where messages have no shape.
func TestNamesOfMatches(t *testing.T) {
	for seed := range int64(20) {
		r := rand.New(rand.NewSource(seed))
		cfg := archive.Config{MaxShapes: 1 + r.Intn(8)}
		var all, some []testMessage
		var found []archive.Message
		q := compile(t, randomFilter(r, 1))
		for range 200 {
			all = append(all, testMessage{table: randomTable(r)})
		}
		s := archived(cfg, all...)
		for m := range s.Forward(0) {
			if q.Match(m, nil, &Scratch{}) == Yes {
				some, found = append(some, all[m.Seq()-1]), append(found, m)
			}
		}
		for _, c := range []struct {
			filter string
			want   archive.Snapshot
		}{{"", s}, {q.String(), archived(archive.Config{}, some...)}} {
			got, err := compile(t, c.filter).Names(t.Context(), s, PageRequest{})
			if want := c.want.Keys(); err != nil || len(got.Keys)+len(want) > 0 && !reflect.DeepEqual(got.Keys, want) {
				t.Fatalf("seed %d, %s: %+v, want %+v (%v)", seed, c.filter, got.Keys, want, err)
			}
			if got.Explain = (Explain{}); c.filter != "" && !reflect.DeepEqual(NamesOf(s, found), got) {
				t.Fatalf("seed %d, %s: %+v, counted one by one %+v", seed, c.filter, got, NamesOf(s, found))
			}
		}
	}
}
