package fieldtable_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

func TestCut(t *testing.T) {
	first := encode.Table(func(e *encode.Encoder) { e.Int32("k", 1) })
	table, rest := fieldtable.Cut(append(bytes.Clone(first), 9, 9), nil)
	if !bytes.Equal(table.Encoded(), first) || !bytes.Equal(rest, []byte{9, 9}) || table.Valid() != nil {
		t.Errorf("%x, rest %x, %v", table.Encoded(), rest, table.Valid())
	}
	if got := append(table.Encoded(), 7); rest[0] != 9 || len(got) == 0 {
		t.Error("appending to the table overwrites what follows it")
	}
	table, rest = fieldtable.Cut(first, nil)
	if !bytes.Equal(table.Encoded(), first) || len(rest) != 0 || rest == nil || table.Valid() != nil {
		t.Errorf("without a rest: %x, %v", rest, table.Valid())
	}
	for name, b := range map[string][]byte{"short": first[:3], "none": nil, "overrun": first[:len(first)-1]} {
		table, rest := fieldtable.Cut(b, nil)
		if !bytes.Equal(table.Encoded(), b) || rest != nil || table.Valid() == nil {
			t.Errorf("%s: %x, rest %x, %v", name, table.Encoded(), rest, table.Valid())
		}
	}
}

func TestViewIsStrictAboutTrailingOctets(t *testing.T) {
	table := fieldtable.View(append(encode.Table(func(e *encode.Encoder) { e.Int32("k", 1) }), 0), nil)
	if r := readAll(table); len(r.fields) != 1 || !errors.Is(r.err, fieldtable.ErrTrailingBytes) {
		t.Errorf("%v", r)
	}
	if v, err := table.Lookup("k"); err != nil || v.IsZero() {
		t.Errorf("Lookup of what is there: %v", err)
	}
	if len(table.Encoded()) != 11 || len(table.Whole()) != 12 {
		t.Errorf("%d of %d octets", len(table.Encoded()), len(table.Whole()))
	}
}

func TestZeroTableAndArrayAreEmpty(t *testing.T) {
	var table fieldtable.Table
	var array fieldtable.Array
	if r := readAll(table); r.fields != nil || r.err != nil || table.Valid() != nil ||
		table.Dialect() != fieldtable.Lenient() {
		t.Errorf("%v", r)
	}
	if _, err := table.Lookup(""); err != fieldtable.ErrAbsent {
		t.Errorf("Lookup: %v", err)
	}
	if n, err := table.Project([]string{"a"}, make([]fieldtable.Value, 1)); n != 0 || err != nil {
		t.Errorf("Project: %d, %v", n, err)
	}
	if _, err := fieldtable.NewMemo(table).Lookup("a"); err != fieldtable.ErrAbsent {
		t.Errorf("Memo: %v", err)
	}
	for v, err := range array.All() {
		t.Errorf("an element: %v, %v", v, err)
	}
	if array.Valid() != nil || fieldtable.Hints(table) != nil || fieldtable.Readings(table) != nil {
		t.Error("something in nothing")
	}
	if _, ok := table.DeclaredLen(); ok || len(table.Encoded()) != 0 {
		t.Error("a length of nothing")
	}
}

func TestArrayIndex(t *testing.T) {
	v := valueOf(t, nil, func(e *encode.Encoder) {
		e.Array("k", func(e *encode.Encoder) {
			e.Int32("", 10)
			e.Str("", "x")
			e.Value("", 'Z', nil)
		})
	})
	a, _ := v.Array()
	for i, want := range []string{"10", "x"} {
		if v, err := a.Index(i); err != nil || string(v.AppendText(nil)) != want {
			t.Errorf("%d: %v, %v", i, v, err)
		}
	}
	for _, i := range []int{2, 3, 1 << 30} {
		if _, err := a.Index(i); !errors.Is(err, fieldtable.ErrUnknownTag) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := a.Index(-1); err != fieldtable.ErrAbsent {
		t.Errorf("-1: %v", err)
	}
	if a.Offset() != 7 || len(a.Encoded()) != 4+5+6+1 || !errors.Is(a.Valid(), fieldtable.ErrUnknownTag) {
		t.Errorf("at %d, %d octets, %v", a.Offset(), len(a.Encoded()), a.Valid())
	}
}
