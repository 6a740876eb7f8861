package archive

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// last returns the newest message and its shape.
func last(t *testing.T, a *Archive) (Message, *Shape) {
	t.Helper()
	s := a.Snapshot()
	m, err := s.Get(s.Last())
	if err != nil {
		t.Fatal(err)
	}
	id, _ := m.ShapeID()
	return m, s.Shape(id)
}

func TestShapesAndMarks(t *testing.T) {
	tests := []struct {
		name  string
		table []byte
		shape Shape
		marks Marks
	}{
		{"no headers property", nil, Shape{}, Marks{}},
		{"empty table", keys(), Shape{}, Marks{}},
		{"two fields", encode.Table(func(e *encode.Encoder) { e.Str("a", "x"); e.Int32("b", 1) }),
			Shape{Fields: []ShapeField{{"a", 'S'}, {"b", 'I'}}}, Marks{HeaderCount: 2}},
		{"duplicates", encode.Table(func(e *encode.Encoder) { e.Str("a", "x"); e.Int32("a", 1) }),
			Shape{
				Fields:     []ShapeField{{"a", 'S'}, {"a", 'I'}},
				Duplicates: true,
			}, Marks{
				HeaderCount: 2,
				Duplicates:  true,
			}},
		{"unknown tag after a", encode.Table(func(e *encode.Encoder) { e.Str("a", "x"); e.Value("b", 'Z', nil) }),
			Shape{Fields: []ShapeField{{"a", 'S'}}, Damaged: true}, Marks{HeaderCount: 1, Damaged: true}},
		{"unknown tag in a nested table", encode.Table(func(e *encode.Encoder) {
			e.Nested("n", func(e *encode.Encoder) { e.Value("b", 'Z', nil) })
			e.Str("a", "x")
		}), Shape{Fields: []ShapeField{{"n", 'F'}, {"a", 'S'}}}, Marks{HeaderCount: 2, Damaged: true}},
		{"sound nested table", encode.Table(func(e *encode.Encoder) {
			e.Nested("n", func(e *encode.Encoder) { e.Str("b", "") })
		}), Shape{Fields: []ShapeField{{"n", 'F'}}}, Marks{HeaderCount: 1}},
		{"table length overruns", []byte{0, 0, 0, 9, 1, 'k', 't', 1}, Shape{Damaged: true}, Marks{Damaged: true}},
		{"table length truncated", []byte{0, 0}, Shape{Damaged: true}, Marks{Damaged: true}},
		{"headers flag without a table", []byte{}, Shape{Damaged: true}, Marks{Damaged: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := New(Config{})
			put(a, test.table, nil)
			m, sh := last(t, a)
			if sh == nil || !slices.Equal(sh.Fields, test.shape.Fields) || sh.Damaged != test.shape.Damaged ||
				sh.Duplicates != test.shape.Duplicates {
				t.Errorf("shape %+v, want %+v", sh, test.shape)
			}
			if m.Marks() != test.marks {
				t.Errorf("marks %+v, want %+v", m.Marks(), test.marks)
			}
		})
	}
}

func TestManyNames(t *testing.T) {
	for _, n := range []int{15, 16, 17, 100, 5000} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprint("name", i)
		}
		a := New(Config{MaxBytes: 64 << 20})
		put(a, keys(names...), nil)
		if m, _ := last(t, a); m.Marks() != (Marks{HeaderCount: n}) {
			t.Errorf("%d names: %+v", n, m.Marks())
		}
		names[n-1] = names[n/2]
		put(a, keys(names...), nil)
		if m, _ := last(t, a); m.Marks() != (Marks{HeaderCount: n, Duplicates: true}) {
			t.Errorf("%d names, one twice: %+v", n, m.Marks())
		}
	}
}

func TestSameShapeIsInternedOnce(t *testing.T) {
	a := New(Config{})
	put(a, encode.Table(func(e *encode.Encoder) { e.Str("a", "1"); e.Str("b", "2") }), nil)
	put(a, encode.Table(func(e *encode.Encoder) { e.Str("a", "other"); e.Str("b", "") }), nil)
	// order
	put(a, encode.Table(func(e *encode.Encoder) { e.Str("b", "2"); e.Str("a", "1") }), nil)
	put(a, encode.Table(func(e *encode.Encoder) { e.Str("a", "1"); e.Bytes("b", nil) }), nil) // tag
	put(a, encode.Table(func(e *encode.Encoder) { e.Str("aS", "1"); e.Str("b", "2") }), nil)
	var ids []uint16
	for m := range a.Snapshot().Forward(0) {
		id, _ := m.ShapeID()
		ids = append(ids, id)
	}
	if ids[0] != ids[1] || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 ||
		slices.Contains(ids, Unshaped) {
		t.Errorf("shapes %v", ids)
	}
}

func TestShapesFollowTheDialect(t *testing.T) {
	spec, err := fieldtable.DialectByName("spec-0-9-1")
	if err != nil {
		t.Fatal(err)
	}
	a := New(Config{Dialect: spec})
	// x is not a tag of the specification.
	put(a, encode.Table(func(e *encode.Encoder) { e.Str("a", ""); e.Bytes("b", nil) }), nil)
	if m, _ := last(t, a); m.Marks() != (Marks{HeaderCount: 1, Damaged: true}) {
		t.Errorf("marks %+v", m.Marks())
	}
}

// TestTooManyShapes: past the bound messages have no shape, but all that is asked of them stays
// right; when the messages of old shapes are gone, new ones have shapes again.
func TestTooManyShapes(t *testing.T) {
	a := New(Config{MaxBytes: 256 << 10, SegmentBytes: 8 << 10, MaxShapes: 10})
	name := func(i int) string { return fmt.Sprint("name", i) }
	for i := range 15 {
		put(a, keys(name(i), name(i), "all"), nil)
	}
	s := a.Snapshot()
	if got := s.ShapeCounts()[Unshaped]; got != 5 {
		t.Errorf("%d messages without a shape", got)
	}
	checkCounts(t, s)

	for range 1000 {
		put(a, keys(name(14), "all"), make([]byte, 1000))
	}
	if s = a.Snapshot(); s.First() <= 15 {
		t.Fatal("the first messages are still there")
	}
	for i := range 8 {
		put(a, keys("new", name(i)), nil)
	}
	checkCounts(t, a.Snapshot())
	if _, sh := last(t, a); sh == nil {
		t.Error("a new message has no shape although those of the old ones are free")
	}
	if got := a.Stats().Shapes; got > 10 {
		t.Errorf("%d shapes", got)
	}
	checkCounts(t, s)
}

func TestShapesAreBoundedInBytes(t *testing.T) {
	const bound = 1 << 20
	a := New(Config{MaxBytes: bound})
	names := make([]string, 100)
	for i := range 150 {
		for j := range names {
			names[j] = fmt.Sprintf("%d-%d", i, j)
		}
		put(a, keys(names...), nil)
	}
	if w := a.Writer(); w.shapes.bytes > bound/shapeShare || w.shapes.bytes == 0 {
		t.Errorf("shapes take %d octets", w.shapes.bytes)
	}
	if stats := a.Stats(); stats.Bytes > bound || stats.Unshaped == 0 {
		t.Errorf("%+v", stats)
	}
	checkCounts(t, a.Snapshot())
}

func TestKeys(t *testing.T) {
	for _, maxShapes := range []int{0, 1} {
		a := New(Config{MaxShapes: maxShapes})
		put(a, encode.Table(func(e *encode.Encoder) { e.Str("b", "") }), nil)
		for range 2 {
			put(
				a,
				encode.Table(
					func(e *encode.Encoder) { e.Str("a", ""); e.Int32("b", 1); e.Int32("a", 1); e.Int32("a", 2) },
				),
				nil,
			)
		}
		put(a, encode.Table(func(e *encode.Encoder) { e.Str("\xff\x00", "") }), nil)
		put(a, nil, nil)
		got := a.Snapshot().Keys()
		want := []KeyCount{
			{"b", 3, 1, map[byte]uint64{'S': 1, 'I': 2}},
			{"a", 2, 3, map[byte]uint64{'S': 2, 'I': 2}},
			{"\xff\x00", 1, 1, map[byte]uint64{'S': 1}},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("with %d shapes %v\nwant %v", maxShapes, got, want)
		}
	}
}

func TestKeysAreBounded(t *testing.T) {
	a := New(Config{MaxShapes: 2, MaxBytes: 64 << 20})
	for i := range MaxKeys/100 + 10 {
		names := make([]string, 100)
		for j := range names {
			names[j] = fmt.Sprintf("%d-%d", i, j)
		}
		put(a, keys(names...), nil)
	}
	if got := len(a.Snapshot().Keys()); got != MaxKeys {
		t.Errorf("%d keys", got)
	}
}

func TestHeaderCutShort(t *testing.T) {
	// A payload that ends in the fixed part has no table, and is damaged.
	a := New(Config{})
	w := a.Writer()
	w.Begin(&wire.Delivery{Header: []byte{0, 60, 0}}, epoch)
	w.Commit()
	if m, _ := last(t, a); m.Marks() != (Marks{Damaged: true}) {
		t.Errorf("marks %+v", m.Marks())
	}
}
