package opened

import (
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/viewtest"
)

func deathsOf(t testing.TB, table []byte, removed ...archive.Span) *Deaths {
	t.Helper()
	d, ok := buildDeaths(fieldtable.View(table, fieldtable.Lenient()), TreeOptions{
		Key:     address.Key{Seq: 1},
		Now:     viewtest.Now,
		Removed: removed,
	})
	if !ok {
		t.Fatal("no x-death")
	}
	return &d
}

func (v DeathValue) text() string {
	if !v.Set {
		return "-"
	}
	if v.Removed {
		return "removed"
	}
	var b strings.Builder
	for _, p := range v.Parts {
		b.WriteString(p.Text)
	}
	if v.Kind != "" {
		b.WriteString(" (" + v.Kind + ")")
	}
	return b.String()
}

func (d Death) line() string {
	if d.Odd != "" {
		return d.Odd
	}
	keys := make([]string, 0, len(d.Keys))
	for _, k := range d.Keys {
		keys = append(keys, k.text())
	}
	s := strings.Join(
		[]string{
			d.Queue.text(),
			d.Reason.text(),
			d.Count.text(),
			d.Time.text(),
			d.Exchange.text(),
			strings.Join(keys, "+"),
			d.Expiration.text(),
		},
		" | ",
	)
	if d.Damage != nil {
		s += " | damaged: " + d.Damage.Reason()
	}
	return s
}

func TestDeaths(t *testing.T) {
	d := deathsOf(t, viewtest.DeathsTable())
	want := []string{
		`orders.retry | expired | 3 | 1795960000 | "" | orders.retry+<b>cc</b> | 30000`,
		`orders | rejected | 1 (int32) | 1795950000 | amq.topic | acme.orders.created | -`,
		`not a table but of type longstr`,
		`audit | - | - | - | - |  | - | damaged: unknown_tag`,
	}
	if len(d.Rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(d.Rows), len(want))
	}
	for i, w := range want {
		if got := d.Rows[i].line(); got != w {
			t.Errorf("row %d: %s\nwant   %s", i, got, w)
		}
	}
	if d.Total != 4 || d.Counted != 2 || !d.First.Equal(time.Unix(1795950000, 0)) ||
		!d.Last.Equal(time.Unix(1795960000, 0)) {
		t.Errorf("%d deaths in %d entries, from %v to %v", d.Total, d.Counted, d.First, d.Last)
	}
	// 1795950000 = 2026-11-29 11:00:00 UTC, as date -u -d @1795950000 says.
	if got, want := deathsSentence(d), "Dead-lettered at least 4 times, in 4 entries, from 2026-11-29 11:00:00 UTC to 2026-11-29 13:46:40 UTC; 2 entries have no usable count."; !strings.HasPrefix(
		got,
		want,
	) {
		t.Errorf("says %q", got)
	}
}

func TestDeathsWithoutUsableCounts(t *testing.T) {
	entry := func(write func(e *encode.Encoder)) func(e *encode.Encoder) {
		return func(e *encode.Encoder) { e.Nested("", write) }
	}
	two := entry(func(e *encode.Encoder) { e.Int64("count", 2) })
	for _, c := range []struct {
		name  string
		other func(e *encode.Encoder)
		want  string
	}{
		{"all counted", entry(func(e *encode.Encoder) { e.Int64("count", 1) }), "Dead-lettered 3 times, in 2 entries."},
		{"void", entry(func(e *encode.Encoder) { e.Void("count") }), "Dead-lettered at least 2 times, in 2 entries; one entry has no usable count."},
		{"a fraction", entry(func(e *encode.Encoder) { e.Float64("count", 1.5) }), "Dead-lettered at least 2 times, in 2 entries; one entry has no usable count."},
		{"negative", entry(func(e *encode.Encoder) { e.Int64("count", -1) }), "Dead-lettered at least 2 times, in 2 entries; one entry has no usable count."},
		{"none", entry(func(e *encode.Encoder) {}), "Dead-lettered at least 2 times, in 2 entries; one entry has no usable count."},
		{"no table", func(e *encode.Encoder) { e.Int64("", 7) }, "Dead-lettered at least 2 times, in 2 entries; one entry has no usable count."},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := deathsOf(t, encode.Table(func(e *encode.Encoder) {
				e.Array("x-death", func(e *encode.Encoder) { two(e); c.other(e) })
			}))
			if got := deathsSentence(d); !strings.HasPrefix(got, c.want+" The latest") {
				t.Errorf("says %q", got)
			}
		})
	}
	none := deathsOf(t, encode.Table(func(e *encode.Encoder) {
		e.Array("x-death", entry(func(e *encode.Encoder) { e.Void("count") }))
	}))
	if got := deathsSentence(none); !strings.HasPrefix(
		got,
		"Dead-lettered, in 1 entry; one entry has no usable count.",
	) {
		t.Errorf("says %q", got)
	}
}

// The flat headers tell the first and the last death where x-death tells nothing.
func TestFlatDeaths(t *testing.T) {
	flat := func(e *encode.Encoder) {
		e.Str("x-first-death-queue", "orders")
		e.Str("x-first-death-reason", "expired")
		e.Str("x-first-death-exchange", "")
	}
	for _, c := range []struct {
		name  string
		death func(e *encode.Encoder)
		rows  int
	}{
		{"alone", func(e *encode.Encoder) {}, 0},
		{"beside a text", func(e *encode.Encoder) { e.Str("x-death", "x") }, 0},
		{"beside a table", func(e *encode.Encoder) { e.Nested("x-death", func(e *encode.Encoder) {}) }, 0},
		{"beside an empty array", func(e *encode.Encoder) { e.Array("x-death", func(e *encode.Encoder) {}) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := deathsOf(t, encode.Table(func(e *encode.Encoder) { c.death(e); flat(e) }))
			if len(d.Flat) != 1 || len(d.Rows) != c.rows {
				t.Fatalf("%+v", d)
			}
			f := d.Flat[0]
			if f.When != "first" || f.Queue.text() != "orders" || f.Reason.text() != "expired" || !f.Exchange.empty() ||
				f.Reading != "it outlived its time to live" || f.URL == "" || d.Missing != (c.name == "alone") {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestOddDeaths(t *testing.T) {
	if _, ok := buildDeaths(fieldtable.View(viewtest.RichTable()[:4], fieldtable.Lenient()), TreeOptions{}); ok {
		t.Error("an x-death where there is none")
	}
	text := encode.Table(func(e *encode.Encoder) { e.Str("x-death", "no") })
	if d := deathsOf(t, text); !strings.Contains(d.Odd, "longstr") || len(d.Rows) > 0 {
		t.Errorf("a text as x-death: %+v", d)
	}
	twice := encode.Table(func(e *encode.Encoder) {
		e.Array(
			"x-death",
			func(e *encode.Encoder) { e.Nested("", func(e *encode.Encoder) { e.Str("queue", "first") }) },
		)
		e.Str("x-death", "second")
	})
	if d := deathsOf(t, twice); d.Fields != 2 || len(d.Rows) != 1 || d.Rows[0].Queue.text() != "first" {
		t.Errorf("two headers: %+v", d)
	}
	cut := encode.Table(func(e *encode.Encoder) {
		e.Array("x-death", func(e *encode.Encoder) {
			e.Nested("", func(e *encode.Encoder) { e.Str("queue", "kept") })
			e.Raw('F', 0, 0, 1)
		})
	})
	if d := deathsOf(t, cut); d.Damage == nil || d.Damage.Reason() != "length_truncated" || len(d.Rows) != 1 {
		t.Errorf("a cut array: %+v", d)
	}
	many := encode.Table(func(e *encode.Encoder) {
		e.Array("x-death", func(e *encode.Encoder) {
			for range maxDeaths + 5 {
				e.Nested("", func(e *encode.Encoder) { e.Int64("count", 1<<62) })
			}
		})
	})
	if d := deathsOf(t, many); len(d.Rows) != maxDeaths || d.More != 5 || !d.Overflow {
		t.Errorf("%d rows, %d more, overflow %v", len(d.Rows), d.More, d.Overflow)
	}
	table := viewtest.DeathsTable()
	at := strings.Index(string(table), "orders.retry")
	if d := deathsOf(t, table, archive.Span{
		From: at,
		To:   at + len("orders.retry"),
	}); d.Rows[0].Queue.text() != "removed" ||
		d.Rows[0].Reason.text() != "expired" {
		t.Errorf("with a value removed: %s", d.Rows[0].line())
	}
}
