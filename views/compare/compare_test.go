package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/viewtest"
)

func diffLines(d Comparison) []string {
	var lines []string
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			var cells []string
			for _, c := range r.Cells {
				s := "-"
				if c.Set {
					s = ""
					for _, p := range c.Parts {
						s += p.Text
					}
					if c.Removed {
						s = "removed"
					}
					if c.Tag != 0 {
						s = string(c.Tag) + ":" + s
					}
					if c.Same {
						s += " ="
					}
				}
				cells = append(cells, s)
			}
			name := ""
			for _, p := range r.Name {
				name += p.Text
			}
			lines = append(lines, fmt.Sprintf("%d %s: %s", g.Verdict, name, strings.Join(cells, " | ")))
		}
	}
	return lines
}

func TestDiff(t *testing.T) {
	d := Build(viewtest.DiffMessages(), nil, address.Links{})
	got := diffLines(d)
	for _, want := range []string{
		"0 retries: I:5 = | S:5",
		`0 "ctx".user: S:u-1 = | S:u-2`,
		"0 path[1]: l:1 = | l:2",
		// The SHA-256 of "one" and of "two", as sha256sum says.
		"0 body: 3 B, SHA-256 7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed = | 3 B, SHA-256 3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3",
		"1 dup (field 2 of this name): S:b = | -",
		"1 app_id: shop = | -",
		`1 "<script>": - | S:\u202e =`,
		"3 dup: S:a = | S:a =",
		"3 ctx: F:table = | F:table =",
		`3 "ctx".admin: t:false = | t:false =`,
		"3 none: V:void = | V:void =",
		"3 body size: 3 B = | 3 B =",
		"3 content_encoding: \"\" = | \"\" =",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "another order") {
		t.Errorf("notes %q", d.Notes)
	}
	if t.Failed() {
		t.Log(strings.Join(got, "\n"))
	}
}

func TestDiffOfTypesDuplicatesAndDamage(t *testing.T) {
	message := func(seq uint64, write func(*encode.Encoder)) facts.Message {
		return facts.Message{Seq: seq, HasHeaders: true, Headers: encode.Table(write)}
	}
	d := Build([]facts.Message{
		message(1, func(e *encode.Encoder) {
			e.Int32("n", 7)
			e.Nested("t", func(e *encode.Encoder) { e.Str("a#1", "x") })
			e.Str("long", strings.Repeat("x", 300)+"1")
			e.Float64("nan", 0)
		}),
		message(2, func(e *encode.Encoder) {
			e.Int64("n", 7)
			e.Str("t", "table")
			e.Str("long", strings.Repeat("x", 300)+"2")
			e.Float64("nan", 0)
			e.Value("bad", 'Z', nil)
		}),
		message(3, func(e *encode.Encoder) { e.Int32("n", 7) }),
	}, nil, address.Links{})
	got := diffLines(d)
	for _, want := range []string{
		"0 n: I:7 = | l:7 | I:7 =",
		"1 t: F:table = | S:table | -",
		`1 "t"."a#1": S:x = | - | -`,
		"1 nan: d:0 = | d:0 = | -",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("missing: %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			if r.Name[0].Text == "n" && !r.Types {
				t.Error("another type with the same text is no difference in type")
			}
			if r.Name[0].Text == "long" && r.Cells[1].Same {
				t.Error("values that differ past what is shown are the same")
			}
		}
	}
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "message 2 are damaged") {
		t.Errorf("notes %q", d.Notes)
	}
	if d.Messages[1].Without != "/diff?m=1&m=3" {
		t.Errorf("without the second: %s", d.Messages[1].Without)
	}
}

func TestDiffOfRemovedValues(t *testing.T) {
	m := func(seq uint64, value string) facts.Message {
		table := encode.Table(func(e *encode.Encoder) { e.Str("token", value) })
		at := strings.Index(string(table), value)
		return facts.Message{
			Seq:        seq,
			HasHeaders: true,
			Headers:    table,
			Removed:    []archive.Span{{From: at, To: at + len(value)}},
		}
	}
	got := diffLines(Build([]facts.Message{m(1, "***"), m(2, "***")}, nil, address.Links{}))
	if want := "2 token: S:removed | S:removed"; !slices.Contains(got, want) {
		t.Errorf("missing %s in %q", want, got)
	}
}

// A table that is wide and deep stays within bounds.
func TestDiffIsBounded(t *testing.T) {
	big := facts.Message{Seq: 1, HasHeaders: true, Headers: viewtest.BigArray(120_000)}
	other := big
	other.Seq = 2
	d := Build([]facts.Message{big, other}, nil, address.Links{})
	rows := 0
	for _, g := range d.Groups {
		rows += len(g.Rows)
	}
	if rows > diffValues+20 || len(d.Notes) != 2 {
		t.Errorf("%d rows, notes %q", rows, d.Notes)
	}
}

func TestGolden(t *testing.T) {
	d := Build(viewtest.DiffMessages(), nil, address.Links{})
	viewtest.GoldenHTML(t, "table.html", viewtest.Render(t, diffTable(d)))
}
