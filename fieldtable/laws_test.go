package fieldtable_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

// read is what All yields.
type read struct {
	fields []fieldtable.Field
	err    error
}

func readAll(t fieldtable.Table) (r read) {
	for f, err := range t.All() {
		if err != nil {
			r.err = err
			break
		}
		r.fields = append(r.fields, f)
	}
	return r
}

// checkLaws checks what holds for any octets in any dialect.
func checkLaws(t testing.TB, encoded []byte, d *fieldtable.Dialect) {
	t.Helper()
	table := fieldtable.View(encoded, d)
	whole := readAll(table)
	checkOffsets(t, table, whole)
	checkScanner(t, table, whole)
	checkSeek(t, table, whole)
	checkLookups(t, table, whole)
	checkValid(t, table, whole)
	checkPaths(t, table)
}

func checkOffsets(t testing.TB, table fieldtable.Table, whole read) {
	t.Helper()
	end := 4
	for _, f := range whole.fields {
		v := f.Value
		if f.Offset != end || f.End != v.End() || v.PayloadOffset() != v.Offset()+1 {
			t.Fatalf(
				"field %q at %d to %d, value at %d to %d, want it to begin at %d",
				f.Name,
				f.Offset,
				f.End,
				v.Offset(),
				v.End(),
				end,
			)
		}
		end = f.End
		whole := table.Whole()
		if !bytes.Equal(whole[f.Offset+1:v.Offset()], f.Name) || !bytes.Equal(whole[v.Offset():f.End], v.Encoded()) ||
			whole[v.Offset()] != v.Tag() || v.IsZero() || v.Kind() != table.Dialect().Kind(v.Tag()) {
			t.Fatalf("field %q at %d is not the octets there", f.Name, f.Offset)
		}
		if raw := v.Raw(); !bytes.HasSuffix(v.Encoded(), raw) || len(v.Encoded())-len(raw) > 5 || cap(raw) != len(raw) {
			t.Fatalf("field %q: raw %x of %x", f.Name, raw, v.Encoded())
		}
	}
	if e, ok := errors.AsType[*fieldtable.SyntaxError](whole.err); ok {
		if at := e.Offset; at != 0 && (at < end || at > len(table.Whole())) {
			t.Fatalf("%v, but the fields before it end at %d of %d", e, end, len(table.Whole()))
		}
		return
	}
	if whole.err != nil {
		t.Fatalf("%v is no SyntaxError", whole.err)
	}
	if n, ok := table.DeclaredLen(); !ok || end != 4+int(n) || end != len(table.Encoded()) {
		t.Fatalf("read up to %d without an error, but %d octets are declared", end, n)
	}
}

// checkScanner mixes Next and Skip in several ways, on copies too.
func checkScanner(t testing.TB, table fieldtable.Table, whole read) {
	t.Helper()
	for pattern := range 4 {
		s := table.Scan()
		for i, want := range whole.fields {
			if s.Offset() != want.Offset {
				t.Fatalf("the scanner stands at %d, want %d", s.Offset(), want.Offset)
			}
			if pattern>>(i&1)&1 != 0 {
				before := s.Field()
				if !s.Skip() || !sameField(s.Field(), before) {
					t.Fatalf("Skip over field %d failed or changed the field", i)
				}
				continue
			}
			ahead := s
			if !s.Next() || !sameField(s.Field(), want) || s.Index() != i || !bytes.Equal(s.Name(), want.Name) {
				t.Fatalf("Next: %v, want %v", s.Field(), want)
			}
			if ahead.Offset() != want.Offset || !ahead.Skip() || ahead.Offset() != s.Offset() {
				t.Fatal("a copy does not keep its own place")
			}
		}
		if s.Next() || s.Skip() || s.Next() || !sameError(s.Err(), whole.err) {
			t.Fatalf("after the last field: %v, want %v", s.Err(), whole.err)
		}
	}
}

func checkLookups(t testing.TB, table fieldtable.Table, whole read) {
	t.Helper()
	keys := []string{"", "no such key", "k"}
	for _, f := range whole.fields {
		if key := string(f.Name); len(keys) < 40 && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	memo := fieldtable.NewMemo(table)
	backward := slices.Clone(keys)
	slices.Reverse(backward)
	for _, order := range [][]string{backward, keys, backward} {
		for _, key := range order {
			v, err := table.Lookup(key)
			want, wantErr := firstOf(whole, key)
			if !sameValue(v, want) || !sameError(err, wantErr) {
				t.Fatalf("Lookup(%q): %v, %v, want %v, %v", key, v, err, want, wantErr)
			}
			if got, err := memo.Lookup(key); !sameValue(got, want) || !sameError(err, wantErr) {
				t.Fatalf("Memo.Lookup(%q): %v, %v, want %v, %v", key, got, err, want, wantErr)
			}
			if got, ok := table.Get(key); ok != (err == nil) || !sameValue(got, want) {
				t.Fatalf("Get(%q): %v, %v", key, got, ok)
			}
		}
	}
	for n := range min(len(keys), 6) {
		for _, keys := range [][]string{keys[:n], keys[len(keys)-n:], append(slices.Clone(keys[:n]), keys[0])} {
			checkProject(t, table, whole, keys)
		}
	}
}

// checkSeek checks that a value is found again by its offset, and that any other offset leads to
// nothing outside.
func checkSeek(t testing.TB, table fieldtable.Table, whole read) {
	t.Helper()
	encoded, d := table.Whole(), table.Dialect()
	var v fieldtable.Value
	for _, f := range whole.fields {
		if !v.Seek(encoded, d, f.Value.Offset()) || !sameValue(v, f.Value) {
			t.Fatalf("Seek(%d): %v, want %v", f.Value.Offset(), v, f.Value)
		}
	}
	for offset := -2; offset < min(len(encoded), 2000)+2; offset++ {
		switch ok := v.Seek(encoded, d, offset); {
		case !ok && !v.IsZero():
			t.Fatalf("Seek(%d) leaves %v", offset, v)
		case ok && (v.Offset() != offset || v.End() > len(encoded) || v.Tag() != encoded[offset]):
			t.Fatalf("Seek(%d): %d to %d of %d", offset, v.Offset(), v.End(), len(encoded))
		}
	}
}

func checkProject(t testing.TB, table fieldtable.Table, whole read, keys []string) {
	t.Helper()
	dst := make([]fieldtable.Value, len(keys))
	found, err := table.Project(keys, dst)
	wantFound, absent := 0, false
	for i, key := range keys {
		want, wantErr := firstOf(whole, key)
		if !sameValue(dst[i], want) {
			t.Fatalf("Project(%q): %v for %q, want %v", keys, dst[i], key, want)
		}
		if wantErr == nil {
			wantFound++
		} else {
			absent = true
		}
	}
	var wantErr error
	if absent {
		wantErr = whole.err
	}
	if found != wantFound || !sameError(err, wantErr) {
		t.Fatalf("Project(%q): %d, %v, want %d, %v", keys, found, err, wantFound, wantErr)
	}
}

func firstOf(whole read, key string) (fieldtable.Value, error) {
	for _, f := range whole.fields {
		if string(f.Name) == key {
			return f.Value, nil
		}
	}
	if whole.err != nil {
		return fieldtable.Value{}, whole.err
	}
	return fieldtable.Value{}, fieldtable.ErrAbsent
}

func checkValid(t testing.TB, table fieldtable.Table, whole read) {
	t.Helper()
	want := firstDamage(whole)
	if got := table.Valid(); !sameError(got, want) {
		t.Fatalf("Valid: %v, want %v", got, want)
	}
	if exact := slices.Contains(fieldtable.ExactDialects(table.Whole()), table.Dialect()); exact != (want == nil) {
		t.Fatalf("ExactDialects has %s: %v, though Valid is %v", table.Dialect().Name(), exact, want)
	}
}

// firstDamage looks through everything in wire order.
func firstDamage(whole read) error {
	for _, f := range whole.fields {
		if err := firstDamageIn(f.Value); err != nil {
			return err
		}
	}
	return whole.err
}

func firstDamageIn(v fieldtable.Value) error {
	if t, ok := v.Table(); ok {
		return firstDamage(readAll(t))
	}
	if a, ok := v.Array(); ok {
		for v, err := range a.All() {
			if err != nil {
				return err
			}
			if err := firstDamageIn(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPaths checks that what Into knows of its way agrees with what is found by searching from the
// outermost table, and that a path leads to where it was made.
func checkPaths(t testing.TB, table fieldtable.Table) {
	t.Helper()
	s := table.Scan()
	steps := 0
	var walk func(s *fieldtable.Scanner)
	walk = func(s *fieldtable.Scanner) {
		firstOfName := map[string]bool{}
		for s.Next() {
			if steps++; steps > 200 {
				return
			}
			path := string(s.AppendPath(nil))
			v, err := table.At(path)
			if name := string(s.Name()); !firstOfName[name] || s.Name() == nil {
				firstOfName[name] = true
				if err == nil && !sameValue(v, s.Value()) && v.Offset() > s.Value().Offset() {
					t.Fatalf("At(%q) is at %d, want no later than %d", path, v.Offset(), s.Value().Offset())
				}
			}
			if _, ok := errors.AsType[*fieldtable.PathError](err); ok {
				t.Fatalf("At(%q): %v", path, err)
			}
			inner, ok := s.Into()
			if !ok {
				continue
			}
			apart := scanOf(s.Value())
			for apart.Next() {
			}
			walk(&inner)
			if steps > 200 {
				return
			}
			if !sameError(inner.Err(), apart.Err()) {
				t.Fatalf("with Into: %v, without: %v", inner.Err(), apart.Err())
			}
		}
	}
	walk(&s)
}

func scanOf(v fieldtable.Value) fieldtable.Scanner {
	if t, ok := v.Table(); ok {
		return t.Scan()
	}
	a, _ := v.Array()
	return a.Scan()
}

func sameField(a, b fieldtable.Field) bool {
	return bytes.Equal(a.Name, b.Name) && a.Offset == b.Offset && a.End == b.End && sameValue(a.Value, b.Value)
}

func sameValue(a, b fieldtable.Value) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() == b.IsZero()
	}
	return a.Offset() == b.Offset() && a.End() == b.End() && a.Kind() == b.Kind() && bytes.Equal(a.Raw(), b.Raw())
}

// sameError compares everything that an error says.
func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	ea, ok := errors.AsType[*fieldtable.SyntaxError](a)
	if !ok {
		return a == b
	}
	eb, ok := errors.AsType[*fieldtable.SyntaxError](b)
	return ok && *ea == *eb
}

func eachSpecimen(t *testing.T, check func(t *testing.T, s specimens.Specimen, d *fieldtable.Dialect)) {
	for _, s := range specimens.Specimens() {
		for _, d := range fieldtable.Dialects() {
			t.Run(s.Name+"/"+d.Name(), func(t *testing.T) { check(t, s, d) })
		}
	}
}

func TestLaws(t *testing.T) {
	eachSpecimen(t, func(t *testing.T, s specimens.Specimen, d *fieldtable.Dialect) { checkLaws(t, s.Encoded, d) })
}

// Cut at any octet, a table keeps the fields before the cut; with its length octets as they were,
// none.
func TestTruncatedAtEveryOctet(t *testing.T) {
	eachSpecimen(t, func(t *testing.T, s specimens.Specimen, d *fieldtable.Dialect) {
		if len(s.Encoded) < 4 {
			return
		}
		uncut := slices.Clone(s.Encoded)
		binary.BigEndian.PutUint32(uncut, uint32(len(uncut)-4))
		whole := readAll(fieldtable.View(uncut, d))
		for n := range len(uncut) {
			cut := slices.Clone(uncut[:n])
			if got := readAll(fieldtable.View(cut, d)); len(got.fields) > 0 || got.err == nil ||
				fieldtable.View(cut, d).Valid() == nil {
				t.Fatalf("cut at %d: %d fields and %v", n, len(got.fields), got.err)
			}
			if n < 4 {
				checkLaws(t, cut, d)
				continue
			}
			binary.BigEndian.PutUint32(cut, uint32(n-4))
			got := readAll(fieldtable.View(cut, d))
			kept := 0
			for kept < len(whole.fields) && whole.fields[kept].End <= n {
				kept++
			}
			if len(got.fields) != kept {
				t.Fatalf("cut at %d: %d fields, want %d", n, len(got.fields), kept)
			}
			for i, f := range got.fields {
				if !sameField(f, whole.fields[i]) {
					t.Fatalf("cut at %d: field %d is %v, want %v", n, i, f, whole.fields[i])
				}
			}
			if clean := kept == 0 && n == 4 || kept > 0 && whole.fields[kept-1].End == n; clean != (got.err == nil) {
				t.Fatalf("cut at %d, after a field %v: %v", n, clean, got.err)
			}
			if n%29 == 0 || d == fieldtable.Lenient() && len(uncut) < 300 {
				checkLaws(t, cut, d)
			}
		}
	})
}

// With 0xFFFFFFFF in the place of any 4 octets, nothing breaks.
func TestHugeLengthsAnywhere(t *testing.T) {
	eachSpecimen(t, func(t *testing.T, s specimens.Specimen, d *fieldtable.Dialect) {
		step := 1 + len(s.Encoded)/50
		for n := 0; n+4 <= len(s.Encoded); n += step {
			b := slices.Clone(s.Encoded)
			binary.BigEndian.PutUint32(b[n:], 0xffffffff)
			checkLaws(t, b, d)
		}
	})
}

func FuzzTable(f *testing.F) {
	for _, s := range specimens.Specimens() {
		if len(s.Encoded) < 5000 {
			f.Add(uint8(0), s.Encoded)
		}
	}
	f.Fuzz(func(t *testing.T, dialect uint8, encoded []byte) {
		all := fieldtable.Dialects()
		d := all[int(dialect)%len(all)]
		checkLaws(t, encoded, d)
		fieldtable.Hints(fieldtable.View(encoded, d))
		fieldtable.Readings(fieldtable.View(encoded, d))
		table, rest := fieldtable.Cut(encoded, d)
		if again := fmt.Appendf(nil, "%s%s", table.Whole(), rest); !bytes.Equal(again, encoded) {
			t.Fatalf("Cut loses octets: %x of %x", again, encoded)
		}
	})
}
