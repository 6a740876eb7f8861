package opened

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/viewtest"
)

func build(encoded []byte, q address.State) Tree {
	t := fieldtable.View(encoded, fieldtable.Lenient())
	return BuildTree(encoded, t, nil, TreeOptions{
		Links: address.Links{State: q}, Key: address.Key{Seq: 1}, Now: viewtest.Now,
	})
}

func joined(parts []kit.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// shownText is what a node's row says of its value.
func shownText(n Node) string {
	if n.Value.Dump != nil {
		var rows []string
		for _, r := range n.Value.Dump {
			rows = append(rows, r.Hex+" |"+r.ASCII+"|")
		}
		return strings.Join(rows, "\n")
	}
	return joined(n.Value.Parts)
}

func TestTreeValuesAreExact(t *testing.T) {
	tree := build(viewtest.RichTable(), address.State{})
	got := map[string]Node{}
	for _, n := range tree.Nodes {
		if _, ok := got[n.Path]; !ok {
			got[n.Path] = n
		}
	}
	for _, tt := range []struct {
		path string
		tag  byte
		text string
	}{
		{"tenant", 'S', "acme"},
		{"retries", 'I', "5"},
		{"max", 'l', "9223372036854775807"},
		{`min`, 'l', "-9223372036854775808"},
		{"i8", 'b', "-128"},
		{"u8", 'B', "255"},
		{"i16", 's', "-32768"},
		{"u32", 'i', "4294967295"},
		{"ratio", 'd', "0.1"},
		{"f32", 'f', "3.4e+38"},
		{"price", 'D', "314.15"},
		{"dry_run", 't', "false"},
		{"published", 'T', "1795960942"},
		{"nothing", 'V', "void"},
		{"empty", 'S', `""`},
		{"digest", 'x', "de ad be ef 00 01 02 03 |········|\n68 65 6c 6c 6f |hello|"},
		{"latin1", 'S', "47 72 fc df 65 |Gr··e|"},
		{"x-death[0].reason", 'S', "expired"},
		{"x-death[0].routing-keys[0]", 'S', "acme.orders.created"},
		{"x-death[1].count", 'l', "1"},
	} {
		n, ok := got[tt.path]
		if !ok {
			t.Errorf("no node at %s", tt.path)
			continue
		}
		if n.Value.Tag != tt.tag || shownText(n) != tt.text {
			t.Errorf("%s is shown as %c %q, want %c %q", tt.path, n.Value.Tag, shownText(n), tt.tag, tt.text)
		}
	}
	if tree.Fields != 22 {
		t.Errorf("%d fields, want 22", tree.Fields)
	}
	for path, level := range map[string]int{
		"x-death":                    1,
		"x-death[0]":                 2,
		"x-death[0].routing-keys":    3,
		"x-death[0].routing-keys[0]": 4,
	} {
		if got[path].Level != level {
			t.Errorf("%s stands at level %d, want %d", path, got[path].Level, level)
		}
	}
	for path, children := range map[string]int{"x-death": 2, "x-death[0]": 6, "nothing-in-it": 0} {
		if n := got[path]; n.Children != children || !n.Container || n.Open != (children > 0) {
			t.Errorf("%s: %d children, container %v, open %v; want %d", path, n.Children, n.Container, n.Open, children)
		}
	}
}

func TestTreeMarksDuplicates(t *testing.T) {
	tree := build(encode.Table(func(e *encode.Encoder) {
		e.Str("a", "1")
		e.Str("b", "1")
		e.Str("a", "2")
		e.Str("a", "3")
		e.Nested("a2", func(e *encode.Encoder) { e.Str("b", "x") })
	}), address.State{})
	var got []string
	for _, n := range tree.Nodes {
		got = append(got, n.Path+":"+n.Duplicate)
	}
	want := "a:first of 3 b: a:2 of 3 a:last of 3 a2: " + `"a2".b:`
	if s := strings.Join(got, " "); s != want {
		t.Errorf("marks are %s, want %s", s, want)
	}
}

func TestTreeShowsDamageWhereItIs(t *testing.T) {
	encoded := viewtest.DamagedTable()
	odd := bytes.IndexByte(encoded, 'Z')
	cut := bytes.Index(encoded, []byte("\x03cut"))
	after := bytes.Index(encoded, []byte("\x05after"))
	tree := build(encoded, address.State{})
	var kinds []string
	var damage []Node
	for _, n := range tree.Nodes {
		switch n.Kind {
		case NodeDamage:
			damage = append(damage, n)
			kinds = append(kinds, joined(n.Name)+"!")
		default:
			kinds = append(kinds, joined(n.Name))
		}
	}
	if got, want := strings.Join(kinds, " "), "tenant context user odd! after cut!"; got != want {
		t.Fatalf("rows are %s, want %s", got, want)
	}
	for i, want := range []struct {
		offset int
		code   string
		level  int
		rest   archive.Span
	}{
		{odd, "unknown_tag", 2, archive.Span{From: odd, To: after}},
		{cut + 5, "length_overrun", 1, archive.Span{From: cut + 5, To: len(encoded)}},
	} {
		d := damage[i]
		if d.Damage.Offset != want.offset || d.Damage.Reason() != want.code || d.Level != want.level ||
			d.Damage.Rest != want.rest {
			t.Errorf(
				"damage %d is %d %s at level %d, rest %v; want %+v",
				i,
				d.Damage.Offset,
				d.Damage.Reason(),
				d.Level,
				d.Damage.Rest,
				want,
			)
		}
	}
	if !tree.Nodes[1].Damaged || tree.Nodes[0].Damaged || tree.Nodes[4].Damaged {
		t.Error("only the table around the damage is marked")
	}
}

func TestTreePages(t *testing.T) {
	const size = 120_000
	encoded := viewtest.BigArray(size)
	tree := build(encoded, address.State{})
	// The array, its first elements, what stands for the others, and the field after it.
	if len(tree.Nodes) != 1+nestedNodes+1+1 {
		t.Fatalf("%d rows", len(tree.Nodes))
	}
	more, last := tree.Nodes[len(tree.Nodes)-2], tree.Nodes[len(tree.Nodes)-1]
	if more.Kind != NodeMore || more.Hidden != size-nestedNodes || !strings.Contains(more.URL, "at=4") ||
		!strings.Contains(more.URL, "skip=100") {
		t.Errorf("the rest of the array is %+v", more)
	}
	if joined(last.Name) != "after" {
		t.Errorf("the last row is %q", joined(last.Name))
	}
	for _, tt := range []struct {
		skip, from, to int
		prev, next     string
	}{
		{0, 0, 500, "", "skip=500"},
		{100, 100, 600, "at=4", "skip=600"},
		{119_800, 119_800, size, "skip=119300", ""},
		{size + 7, size, size, "skip=119500", ""},
	} {
		tree := build(encoded, address.State{At: 4, Skip: tt.skip})
		if tree.From != tt.from || tree.To != tt.to || tree.Count != size || len(tree.Nodes) != tt.to-tt.from {
			t.Errorf("skip %d: %d to %d of %d in %d rows", tt.skip, tree.From, tree.To, tree.Count, len(tree.Nodes))
		}
		if (tree.PrevURL == "") != (tt.prev == "") || !strings.Contains(tree.PrevURL, tt.prev) {
			t.Errorf("skip %d: previous is %q", tt.skip, tree.PrevURL)
		}
		if (tree.NextURL == "") != (tt.next == "") || !strings.Contains(tree.NextURL, tt.next) {
			t.Errorf("skip %d: next is %q", tt.skip, tree.NextURL)
		}
		if len(tree.Nodes) > 0 {
			n := tree.Nodes[0]
			if want := kit.Itoa(tt.from); joined(n.Name) != "["+want+"]" || shownText(n) != want {
				t.Errorf("skip %d: the first row is %s %s", tt.skip, joined(n.Name), shownText(n))
			}
		}
	}
}

func TestTreeShowsOneValueAlone(t *testing.T) {
	long := strings.Repeat("0123456789abcdé", 10_000)
	encoded := encode.Table(func(e *encode.Encoder) {
		e.Int32("n", 7)
		e.Array("list", func(e *encode.Encoder) { e.Str("", long) })
	})
	whole := build(encoded, address.State{})
	n := whole.Nodes[2]
	if !n.Value.Clipped || n.Value.MoreURL == "" || n.Value.All != nil {
		t.Fatalf("a text of %d bytes is shown whole in its row", len(long))
	}
	var got strings.Builder
	for skip := 0; ; {
		tree := build(encoded, address.State{At: n.Offset, Skip: skip})
		if len(tree.Nodes) != 1 || len(tree.Crumbs) != 3 {
			t.Fatalf("%d rows, %d crumbs", len(tree.Nodes), len(tree.Crumbs))
		}
		v := tree.Nodes[0].Value
		got.WriteString(joined(v.Parts))
		if v.NextURL == "" {
			break
		}
		if v.To <= skip {
			t.Fatalf("page %d ends at %d", skip, v.To)
		}
		skip = v.To
	}
	if got.String() != long {
		t.Error("the pages do not make up the text")
	}
	if tree := build(encoded, address.State{At: n.Offset + 1}); !tree.Lost || len(tree.Nodes) != len(whole.Nodes) {
		t.Error("an offset inside a value does not show the whole table")
	}
	// Any offset whatever is answered.
	for at := range len(encoded) + 2 {
		if at < 40 || at > len(encoded)-4 {
			build(encoded, address.State{At: at})
		}
	}
}

func TestTreeIsBounded(t *testing.T) {
	t.Run("rows", func(t *testing.T) {
		encoded := encode.Table(func(e *encode.Encoder) {
			for range 400 {
				e.Array("a", func(e *encode.Encoder) {
					for range 90 {
						e.Void("")
					}
				})
			}
		})
		tree := build(encoded, address.State{Each: true})
		if n := len(tree.Nodes); n > maxNodes+nestedNodes {
			t.Errorf("%d rows", n)
		}
		if tree.NextURL == "" || tree.To >= tree.Count {
			t.Errorf("shows %d of %d and no way on", tree.To, tree.Count)
		}
	})
	t.Run("texts", func(t *testing.T) {
		encoded := encode.Table(func(e *encode.Encoder) {
			for range 100 {
				e.Str("s", strings.Repeat("x", 60_000))
			}
		})
		sum := 0
		for _, n := range build(encoded, address.State{Each: true}).Nodes {
			sum += len(joined(n.Value.All))
			if n.Value.Clipped && n.Value.All == nil && n.Value.MoreURL == "" {
				t.Fatal("a clipped value has no way to the rest")
			}
		}
		if sum > valuesBytes {
			t.Errorf("%d bytes of text", sum)
		}
	})
	t.Run("duplicates", func(t *testing.T) {
		encoded := encode.Table(func(e *encode.Encoder) {
			for range 100_000 {
				e.Void("k")
			}
		})
		tree := build(encoded, address.State{Each: true, Skip: 99_500})
		if n := tree.Nodes[len(tree.Nodes)-1]; n.Duplicate != "last of 100000" {
			t.Errorf("the last is %q", n.Duplicate)
		}
	})
}

func TestTreeSorts(t *testing.T) {
	tree := build(encode.Table(func(e *encode.Encoder) {
		e.Str("b", "1")
		e.Str("a", "2")
		e.Str("b", "3")
		e.Array("A", func(e *encode.Encoder) {
			e.Int32("", 2)
			e.Int32("", 1)
		})
	}), address.State{Sorted: true})
	var got []string
	for _, n := range tree.Nodes {
		got = append(got, joined(n.Name)+shownText(n))
	}
	if s := strings.Join(got, " "); s != "A [0]2 [1]1 a2 b1 b3" {
		t.Errorf("order is %s", s)
	}
}

func TestNameNotes(t *testing.T) {
	for _, tt := range []struct {
		name, note string
		common     bool
	}{
		{"tenant", "", false},
		{"$a#_9", "", false},
		{"x-death", "name holds -", true},
		{"NServiceBus.MessageId", "name holds .", true},
		{"__TypeId__", "name does not begin with a letter, $ or #", true},
		{"9lives", "name does not begin with a letter, $ or #", false},
		{"a b", "name holds  ", false},
		{"a\u202eb", `name holds \u202e`, false},
		{"a-b c", "name holds  ", false},
		{"", "empty name", false},
		{"k\xff", "name is not UTF-8", false},
		{strings.Repeat("n", 128), "", false},
		{strings.Repeat("n", 129), "name longer than 128 characters", false},
	} {
		if note, common := nameNote([]byte(tt.name)); note != tt.note || common != tt.common {
			t.Errorf("nameNote(%q) = %q, %v; want %q, %v", tt.name, note, common, tt.note, tt.common)
		}
	}
}

func TestTimestampNotes(t *testing.T) {
	now := time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		n      int64
		millis bool
		want   string
	}{
		{1700000000, false, "2023-11-14 22:13:20 UTC|3 years ago"},
		{0, false, "1970-01-01 00:00:00 UTC|56 years ago"},
		{-1, false, "1969-12-31 23:59:59 UTC|56 years ago"},
		{1795960742, false, "2026-11-29 13:59:02 UTC|58 s ago"},
		{1795960860, false, "2026-11-29 14:01:00 UTC|in 60 s"},
		{1795960801, false, "2026-11-29 14:00:01 UTC|now"},
		{1795960799, false, "2026-11-29 13:59:59 UTC|just now"},
		{100_000_000_000, false, "5138-11-16 09:46:40 UTC|in 3111 years"},
		{1700000000123, false, "outside the years 1 to 9999|?milliseconds? 2023-11-14 22:13:20.123 UTC"},
		{1700000000123, true, "2023-11-14 22:13:20.123 UTC|3 years ago"},
		{253402300799, false, "9999-12-31 23:59:59 UTC|in 7972 years|?milliseconds? 1978-01-11 21:31:40.799 UTC"},
		{253402300800, false, "outside the years 1 to 9999|?milliseconds? 1978-01-11 21:31:40.8 UTC"},
		{9223372036854775807, false, "outside the years 1 to 9999|?nanoseconds? 2262-04-11 23:47:16.854775807 UTC"},
		{1700000000123456, false, "outside the years 1 to 9999|?microseconds? 2023-11-14 22:13:20.123456 UTC"},
		{1700000000123456, true, "outside the years 1 to 9999|?microseconds? 2023-11-14 22:13:20.123456 UTC"},
		{1700000000, true, "1970-01-20 16:13:20 UTC|56 years ago|?seconds? 2023-11-14 22:13:20 UTC"},
		{-62135596800, false, "0001-01-01 00:00:00 UTC|2025 years ago|?.NET's DateTime.MinValue: never set?"},
		{-62135596800000, true, "0001-01-01 00:00:00 UTC|2025 years ago|?.NET's DateTime.MinValue: never set?"},
		{-9223372036854775808, false, "outside the years 1 to 9999"},
		{-9223372036854775808, true, "outside the years 1 to 9999"},
	} {
		var got []string
		ts := fieldtable.Timestamp{Value: tt.n}
		if tt.millis {
			ts.Unit = fieldtable.Milliseconds
		}
		for _, n := range timestampNotes(ts, now) {
			if n.Guess {
				n.Text = "?" + n.Text
			}
			got = append(got, n.Text)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("timestampNotes(%d, %v) = %s, want %s", tt.n, tt.millis, s, tt.want)
		}
	}
}

// The verbs of a row write filters that the language reads, and that name the header they stand
// beside.
func TestConditionsAreFilters(t *testing.T) {
	names := []string{
		"and",
		"Null",
		"type",
		"a.b",
		"a b",
		`a"b\c`,
		"$size",
		"5",
		"",
		"k\xff",
		"ключ",
		"x\n",
		"true",
		"it's",
		"a'b",
		"-x",
		"[0]",
	}
	tables := [][]byte{viewtest.RichTable()}
	for _, write := range []func(e *encode.Encoder, name string){
		func(e *encode.Encoder, name string) { e.Str(name, "it's") },
		func(e *encode.Encoder, name string) { e.Int32(name, -5) },
		func(e *encode.Encoder, name string) {
			e.Nested(name, func(e *encode.Encoder) {
				e.Str("in.ner", "x\ny")
				e.Str("plain", "\xff")
			})
		},
	} {
		tables = append(tables, encode.Table(func(e *encode.Encoder) {
			for _, name := range names {
				write(e, name)
			}
		}))
	}
	for _, s := range specimens.Specimens() {
		tables = append(tables, s.Encoded)
	}
	checked := 0
	for _, encoded := range tables {
		view := fieldtable.View(encoded, fieldtable.Lenient())
		for _, n := range build(encoded, address.State{}).Nodes {
			for _, filter := range []string{n.Filter, n.Is, n.Not, query.Conjoin("a = 1 OR b", n.Is)} {
				if filter == "" || strings.HasSuffix(filter, "AND ") {
					continue
				}
				q, err := query.Compile(filter)
				if err != nil {
					t.Errorf("%s does not compile: %v", filter, err)
					continue
				}
				checked++
				top := false
				for _, key := range q.Keys() {
					if _, ok := view.Get(key); ok {
						top = true
					}
				}
				if !top && !strings.Contains(filter, "a = 1") {
					t.Errorf("%s asks for %q, which the table does not have", filter, q.Keys())
				}
			}
			if n.Path != "" {
				if v, err := view.At(n.Path); err != nil || v.IsZero() {
					t.Errorf("At(%s) finds nothing: %v", n.Path, err)
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d filters checked", checked)
	}
}

// Whatever the bytes, the tree and the hex pane are drawn, every byte is in exactly one run, and
// every run belongs to the deepest thing around it.
func TestEveryTruncation(t *testing.T) {
	check := func(t *testing.T, encoded []byte, d *fieldtable.Dialect) {
		t.Helper()
		view := fieldtable.View(encoded, d)
		tree := BuildTree(encoded, view, fieldtable.Hints(view), TreeOptions{Key: address.Key{Seq: 1}})
		if err := view.Valid(); err != nil {
			found := false
			for _, n := range tree.Nodes {
				found = found || n.Kind == NodeDamage
			}
			if !found && tree.NextURL == "" && len(tree.Nodes) < nestedNodes {
				t.Fatalf("% x (%s) is damaged (%v), and no row says so", encoded, d.Name(), err)
			}
		}
		owners := map[int]bool{0: true}
		for _, n := range tree.Nodes {
			owners[n.Offset] = true
		}
		for from := 0; from < max(len(encoded), 1); from += hexPage {
			hex := BuildHex(encoded, view, from, address.Links{}, address.Key{Seq: 1})
			at := from
			for _, row := range hex.Rows {
				for _, r := range row.Runs {
					if r.Offset != at || r.End <= at || !bytes.Equal(r.bytes, encoded[r.Offset:r.End]) {
						t.Fatalf("% x (%s): a run of [%d, %d) at %d", encoded, d.Name(), r.Offset, r.End, at)
					}
					if !owners[r.Owner] && len(tree.Nodes) < nestedNodes {
						t.Fatalf(
							"% x (%s): bytes [%d, %d) belong to %d, which is no row",
							encoded,
							d.Name(),
							r.Offset,
							r.End,
							r.Owner,
						)
					}
					at = r.End
				}
			}
			if want := min(from+hexPage, len(encoded)); at != want {
				t.Fatalf("% x (%s): the page ends at %d, want %d", encoded, d.Name(), at, want)
			}
		}
	}
	for _, s := range specimens.Specimens() {
		for _, d := range fieldtable.Dialects() {
			check(t, s.Encoded, d)
		}
		step := 1
		if len(s.Encoded) > 400 {
			step = len(s.Encoded) / 97
		}
		for n := 0; n < len(s.Encoded); n += step {
			check(t, s.Encoded[:n], fieldtable.Lenient())
			// The same with a length that says so.
			if n >= 4 {
				whole := bytes.Clone(s.Encoded[:n])
				binary.BigEndian.PutUint32(whole, uint32(n-4))
				check(t, whole, fieldtable.Lenient())
			}
		}
	}
}

func TestHexRoles(t *testing.T) {
	encoded := encode.Table(func(e *encode.Encoder) {
		e.Str("ab", "xyz")
		e.Array("l", func(e *encode.Encoder) { e.Int8("", 7) })
	})
	//         0       4  5    7  8       12   15 16 17 18      22 23
	want := "L0:0-4 L4:4-5 N4:5-7 T4:7-8 L4:8-12 V4:12-15 L15:15-16 N15:16-17 T15:17-18 L15:18-22 T22:22-23 V22:23-24"
	hex := BuildHex(encoded, fieldtable.View(encoded, nil), 0, address.Links{}, address.Key{Seq: 1})
	var got []string
	for _, row := range hex.Rows {
		for _, r := range row.Runs {
			s := string("LNTVR"[r.Role]) + kit.Itoa(r.Owner) + ":"
			if n := len(got); n > 0 && strings.HasPrefix(got[n-1], s) && r.Offset%kit.DumpRowBytes == 0 {
				first, _, _ := strings.Cut(got[n-1], "-")
				got[n-1] = first + "-" + kit.Itoa(r.End)
				continue
			}
			got = append(got, s+kit.Itoa(r.Offset)+"-"+kit.Itoa(r.End))
		}
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("runs are\n%s, want\n%s", s, want)
	}
	if hex.Size != 24 || hex.PrevURL != "" || hex.NextURL != "" {
		t.Errorf("page is %+v", hex)
	}
}

func TestHexMarksARange(t *testing.T) {
	encoded := encode.Table(func(e *encode.Encoder) { e.Str("ab", "xyzxyzxyzxyz") })
	hex := BuildHex(encoded, fieldtable.View(encoded, nil), 0, address.Links{State: address.State{Bytes: archive.Span{
		From: 6,
		To:   14,
	}}}, address.Key{Seq: 1})
	var marked []byte
	for _, row := range hex.Rows {
		for _, r := range row.Runs {
			if r.Marked {
				marked = append(marked, r.bytes...)
			}
		}
	}
	if !bytes.Equal(marked, encoded[6:14]) {
		t.Errorf("marked % x, want % x", marked, encoded[6:14])
	}
}
