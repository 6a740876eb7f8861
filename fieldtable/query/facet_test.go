package query

import (
	"errors"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func operand(t testing.TB, src string) *Operand {
	t.Helper()
	o, err := CompileOperand(src)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestFacet(t *testing.T) {
	// Of 300 messages, mod3 is in 100: v0 for 12, 24 … 300, v1 to v3 likewise.
	s := numbered(300)
	f, err := compile(t, "").Facet(t.Context(), s, PageRequest{}, operand(t, "mod3"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if f.Matched != 300 || f.With != 100 || f.Other != 25 || f.Bounded || !f.Complete || len(f.Values) != 3 {
		t.Fatalf("%+v", f)
	}
	for i, want := range []string{"v0", "v1", "v2"} {
		if v := f.Values[i]; v.Text != want || v.Count != 25 || v.Tag != 'S' || v.Kind != fieldtable.KindLongStr {
			t.Errorf("value %d: %+v", i, v)
		}
	}
	f, err = compile(t, "mod3 = v1").Facet(t.Context(), s, PageRequest{}, operand(t, "$exchange"), 3)
	if err != nil || f.Matched != 25 || f.With != 25 || len(f.Values) != 1 || f.Values[0].Text != "" ||
		f.Values[0].Tag != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestFacetTellsTypesApartAndCountsElements(t *testing.T) {
	table := encode.Table(func(e *encode.Encoder) {
		e.Array("list", func(e *encode.Encoder) { e.Int32("", 5); e.Str("", "5"); e.Int32("", 5) })
	})
	s := archived(archive.Config{}, testMessage{table: table}, testMessage{})
	f, err := compile(t, "").Facet(t.Context(), s, PageRequest{}, operand(t, "list[*]"), 10)
	if err != nil || f.Matched != 2 || f.With != 1 || len(f.Values) != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	if v := f.Values[0]; v.Text != "5" || v.Kind != fieldtable.KindInt32 || v.Count != 2 {
		t.Errorf("%+v", v)
	}
	if v := f.Values[1]; v.Text != "5" || v.Kind != fieldtable.KindLongStr || v.Count != 1 {
		t.Errorf("%+v", v)
	}
}

func TestFacetIsBounded(t *testing.T) {
	s := numbered(maxDistinct + 500)
	f, err := compile(t, "").Facet(t.Context(), s, PageRequest{}, operand(t, "n"), 10)
	if err != nil || len(f.Values) != 10 || f.Other != f.With-10 {
		t.Errorf("%d values, %d others of %d, %v", len(f.Values), f.Other, f.With, err)
	}
}

func TestHistogram(t *testing.T) {
	s := numbered(300) // one a second
	h, err := compile(t, "n").Histogram(t.Context(), s, PageRequest{}, 61, operand(t, "mod3"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if h.Width != 5*time.Second || h.Matched != 300 || len(h.Counts) > 61 || len(h.Series) != 2 ||
		!h.Start.Equal(testTime.Truncate(5*time.Second)) {
		t.Fatalf("%v × %d from %v, %d matched, %d series", h.Width, len(h.Counts), h.Start, h.Matched, len(h.Series))
	}
	if h.Series[0].Text != "v0" || h.Series[0].Total != 25 || h.Series[1].Text != "v1" {
		t.Errorf("%+v", h.Series)
	}
	for i, n := range h.Counts {
		split := h.Other[i] + h.None[i]
		for _, s := range h.Series {
			split += s.Counts[i]
		}
		if split != n || i > 0 && i < len(h.Counts)-1 && n != 5 {
			t.Errorf("bar %d: %d messages, %d split", i, n, split)
		}
	}
	from := testTime.Add(100 * time.Second)
	h, err = compile(t, "").Histogram(t.Context(), s, PageRequest{
		From: from,
		To:   from.Add(10 * time.Second),
	}, 120, nil, 0)
	if err != nil || h.Width != time.Second || h.Matched != 10 || h.Series != nil {
		t.Errorf("%+v, %v", h, err)
	}
	h, err = compile(t, "").Histogram(t.Context(), archived(archive.Config{}), PageRequest{}, 120, nil, 0)
	if err != nil || h.Matched != 0 || len(h.Counts) != 0 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestBarWidth(t *testing.T) {
	for _, c := range []struct {
		span time.Duration
		bars int
		want time.Duration
	}{
		{0, 120, time.Second},
		{119 * time.Second, 120, time.Second},
		{119*time.Second + 1, 120, 2 * time.Second},
		{24 * time.Hour, 120, 15 * time.Minute},
		{time.Hour, 1, time.Hour},
		{1000 * 24 * time.Hour, 11, 101 * 24 * time.Hour},
		{time.Hour, 120, time.Minute},
		{60 * 24 * time.Hour, 120, 24 * time.Hour},
		{300 * 24 * time.Hour, 120, 3 * 24 * time.Hour},
	} {
		t.Run(c.span.String(), func(t *testing.T) {
			got := BarWidth(c.span, c.bars)
			if got != c.want {
				t.Errorf("BarWidth(%v, %d) = %v, want %v", c.span, c.bars, got, c.want)
			}
			if c.span > got*time.Duration(max(c.bars-1, 1)) {
				t.Errorf("BarWidth(%v, %d): bars of %v do not cover it", c.span, c.bars, got)
			}
		})
	}
}

func TestOperand(t *testing.T) {
	m := one(t, encode.Table(func(e *encode.Encoder) {
		e.Array("list", func(e *encode.Encoder) { e.Int32("", 5); e.Int32("", 6) })
		e.Void("nil")
		e.Value("bad", 'Z', nil)
	}))
	var s Scratch
	for _, c := range []struct {
		operand, text string
		ok, damaged   bool
	}{
		{"list[1]", "6", true, false},
		{"list[*]", "5", true, false},
		{"list", "array", true, false},
		{"list[2]", "", false, false},
		{"nil", "void", true, false},
		{"other", "", false, true},
		{"$seq", "1", true, false},
		{"$message_id", "", false, false},
	} {
		runCase(t, c.operand, func(t *testing.T) {
			cell := operand(t, c.operand).Cell(m, nil, &s)
			if string(cell.Text) != c.text || cell.Set != c.ok || cell.Damaged != c.damaged {
				t.Errorf("%s: %q, %v, %v", c.operand, cell.Text, cell.Set, cell.Damaged)
			}
		})
	}
	for _, src := range []string{"", "a b", "a = 1", "NOT a", "$nothing", "type(a)", "'a'"} {
		if _, err := CompileOperand(src); err == nil {
			t.Errorf("%q compiles", src)
		} else if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%q: %T", src, err)
		}
	}
}

func TestFacetDrift(t *testing.T) {
	s := archived(archive.Config{},
		testMessage{table: encode.Table(func(e *encode.Encoder) { e.Int32("retries", 1) })},
		testMessage{table: encode.Table(func(e *encode.Encoder) { e.Int32("retries", 2) })},
		testMessage{table: encode.Table(func(e *encode.Encoder) { e.Str("retries", "1") })},
	)
	f, err := compile(t, "").Facet(t.Context(), s, PageRequest{}, operand(t, "retries"), 1)
	if err != nil || len(f.Tags) != 2 || f.Tags['I'] != 2 || f.Tags['S'] != 1 {
		t.Errorf("%v, %v", f.Tags, err)
	}
	f, err = compile(t, "").Facet(t.Context(), s, PageRequest{}, operand(t, "$size"), 1)
	if err != nil || len(f.Tags) != 0 {
		t.Errorf("$size: %v, %v", f.Tags, err)
	}
}

// The filter of each value finds as many messages as were counted.
func TestFacetValuesFilter(t *testing.T) {
	var messages []testMessage
	for i := range 40 {
		messages = append(messages, testMessage{
			exchange:    []string{"", "it's", "5"}[i%3],
			bodySize:    uint64(i % 2),
			redelivered: i%3 == 0,
			received:    time.Unix(int64(1_800_000_000+i%5), 5_000_000),
			table: encode.Table(func(e *encode.Encoder) {
				switch i % 8 {
				case 0:
					e.Str("k", "it's")
				case 1:
					e.Str("k", "null")
				case 2:
					e.Void("k")
				case 3:
					e.Float64("k", 0.1)
				case 4:
					e.Bool("k", true)
				case 5:
					e.Str("k", "\x00\xff")
				case 6:
					e.Bytes("k", []byte{0xab, 0xcd})
				}
			}),
		})
	}
	s := archived(archive.Config{}, messages...)
	for _, name := range []string{"k", "$exchange", "$size", "$redelivered", "$received"} {
		f, err := compile(t, "").Facet(t.Context(), s, PageRequest{}, operand(t, name), 100)
		if err != nil || len(f.Values) < 2 {
			t.Fatalf("%s: %+v, %v", name, f, err)
		}
		for _, v := range f.Values {
			want := v.Count
			if v.Kind == fieldtable.KindVoid {
				want += 5 // IS NULL holds for messages without the header as well
			}
			n, err := compile(t, v.Filter(name)).Count(t.Context(), s, PageRequest{})
			if err != nil || n.Matched != want {
				t.Errorf("%s: %d messages, want %d, %v", v.Filter(name), n.Matched, want, err)
			}
			// The others, those without a value among them.
			n, err = compile(t, v.Without(name)).Count(t.Context(), s, PageRequest{})
			if err != nil || n.Matched != 40-want {
				t.Errorf("%s: %d messages, want %d, %v", v.Without(name), n.Matched, 40-want, err)
			}
		}
	}
	if got := (FacetValue{Text: "long", Cut: true, Tag: 'S', Kind: fieldtable.KindLongStr}).Filter("k"); got != "" {
		t.Errorf("a part of a value is filtered by as %s", got)
	}
}
