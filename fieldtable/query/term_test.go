package query

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// The condition written for a value, a type or a property matches the message that it was written
// for, in every dialect, and its opposite does not.
func TestConditionsMatchWhatTheyWereWrittenFor(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	tables := [][]byte{encode.Table(func(e *encode.Encoder) {
		e.Str("quote's", "it's\n\x00\xff\"\\")
		e.Str("$x", "NULL")
		e.Str("", "5")
		e.Bytes("hex", []byte{0x12})
		e.Float64("f", 0.1)
		e.Float64("e", 1e300)
		e.Float64("inf", math.Inf(-1))
		e.Decimal("d", 200, -7)
		e.Int64("i", math.MinInt64)
		e.Uint64("u", math.MaxUint64)
		e.Timestamp("sent", 1_700_000_000_123)
		e.Timestamp("before", -1)
		e.Timestamp("least", math.MinInt64)
		e.Timestamp("most", math.MaxInt64)
	})}
	for range 1000 {
		tables = append(tables, randomTable(r))
	}
	for _, s := range specimens.Specimens() {
		if len(s.Encoded) < 5000 {
			tables = append(tables, s.Encoded)
		}
	}
	for _, d := range fieldtable.Dialects() {
		t.Run(d.Name(), func(t *testing.T) {
			for _, encoded := range tables {
				conditionsMatch(t, encoded, d)
			}
		})
	}
}

func conditionsMatch(t *testing.T, encoded []byte, d *fieldtable.Dialect) {
	m := one(t, encoded)
	var scratch Scratch
	check := func(filter string, want Verdict) {
		t.Helper()
		if got := compile(t, filter).Match(m, d, &scratch); got != want {
			t.Errorf("%s on %x: %v", filter, encoded, got)
		}
	}
	seen := map[string]bool{}
	for f, err := range fieldtable.View(encoded, d).All() {
		if err != nil || seen[string(f.Name)] {
			break
		}
		seen[string(f.Name)] = true
		path := FieldPath("", f.Name)
		if is, not := ValueConditions(path, f.Value); is != "" {
			check(is, Yes)
			check(not, No)
		}
		is, not := TypeConditions(path, f.Value.Tag())
		check(is, Yes)
		check(not, No)
		v := FacetValue{
			Text: string(f.Value.AppendText(nil)),
			Kind: f.Value.Kind(),
			Tag:  f.Value.Tag(),
			unit: d.TimestampUnit(),
		}
		check(v.Filter(path), Yes)
		check(v.Without(path), No)
		if a, ok := f.Value.Array(); ok {
			i := 0
			for item, err := range a.All() {
				if err != nil {
					break
				}
				if is, not := ValueConditions(ElementPath(path, i), item); is != "" {
					check(is, Yes)
					check(not, No)
				}
				i++
			}
		}
		if inner, ok := f.Value.Table(); ok {
			names := map[string]bool{}
			for f, err := range inner.All() {
				if err != nil || names[string(f.Name)] {
					break
				}
				names[string(f.Name)] = true
				if is, not := ValueConditions(FieldPath(path, f.Name), f.Value); is != "" {
					check(is, Yes)
					check(not, No)
				}
			}
		}
	}
}

func TestPropertyConditions(t *testing.T) {
	header := wire.AppendContentHeaderPayload(
		nil,
		0,
		wire.Property{Name: "content_type", Raw: []byte("text/plain")},
		wire.Property{Name: "delivery_mode", Raw: []byte{2}},
		wire.Property{Name: "priority", Raw: []byte{200}},
		wire.Property{Name: "correlation_id", Raw: []byte("it's \xff")},
		wire.Property{Name: "expiration", Raw: []byte("60000")},
		wire.Property{Name: "message_id", Raw: []byte{}},
		wire.Property{Name: "timestamp", Raw: []byte{0, 0, 0, 0, 0x65, 0x53, 0xf1, 0}},
	)
	want := map[string]string{
		"content_type":   "$content_type = text/plain",
		"delivery_mode":  "$delivery_mode = 2",
		"priority":       "$priority = 200",
		"correlation_id": `$correlation_id = "it's \xff"`,
		"expiration":     `$expiration = "60000"`,
		"message_id":     `$message_id = ""`,
		"timestamp":      "$timestamp = 1700000000",
	}
	dialects := []*fieldtable.Dialect{fieldtable.Lenient(), fieldtable.QpidJava()}
	a := archive.New(archive.Config{})
	w := a.Writer()
	w.Begin(&wire.Delivery{Header: header}, testTime)
	w.Commit()
	m, err := a.Snapshot().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	var scratch Scratch
	for p, err := range m.Header().All() {
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dialects {
			t.Run(p.Name+"/"+d.Name(), func(t *testing.T) {
				is, not := PropertyConditions(p, d)
				written := want[p.Name]
				if p.Name == "timestamp" && d == fieldtable.QpidJava() {
					written = "$timestamp = 1700000.000" // milliseconds there, seconds in a filter
				}
				if is != written {
					t.Errorf("%s, want %s", is, written)
				}
				if got := compile(t, is).Match(m, d, &scratch); got != Yes {
					t.Errorf("%s: %v", is, got)
				}
				if got := compile(t, not).Match(m, d, &scratch); got != No {
					t.Errorf("%s: %v", not, got)
				}
			})
		}
	}
}

func TestHelpCompiles(t *testing.T) {
	for _, h := range Help() {
		q := compile(t, h.Example)
		if strings.TrimSpace(h.Meaning) == "" {
			t.Errorf("%s has no meaning", q)
		}
	}
}

func TestConjuncts(t *testing.T) {
	for _, tt := range []struct {
		filter string
		want   []string
	}{
		{"", nil},
		{"x-death", []string{"x-death"}},
		{"a OR b", []string{"a OR b"}},
		{"a and b AND c = 'x AND y'", []string{"a", "b", "c = 'x AND y'"}},
		{"(a OR b) AND NOT (c OR d) AND (e AND f)", []string{"(a OR b)", "NOT (c OR d)", "e", "f"}},
		{"n BETWEEN 1 AND 2 AND k", []string{"n BETWEEN 1 AND 2", "k"}},
	} {
		runCase(t, tt.filter, func(t *testing.T) {
			q := compile(t, tt.filter)
			got := q.Conjuncts()
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, want %q", tt.filter, got, tt.want)
			}
			if again := compile(t, strings.Join(got, " AND ")).String(); again != q.String() {
				t.Errorf("%s: joined again %s, want %s", tt.filter, again, q)
			}
		})
	}
}
