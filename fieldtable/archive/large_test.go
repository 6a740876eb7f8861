package archive

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// largeTable has fields of type void with these names, and then the name of the first one again or
// not.
func largeTable(again bool, names func(yield func(string))) []byte {
	b := make([]byte, 4)
	first := ""
	names(func(name string) {
		if len(b) == 4 {
			first = name
		}
		b = append(append(append(b, byte(len(name))), name...), 'V')
	})
	if again {
		b = append(append(append(b, byte(len(first))), first...), 'V')
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// A table of millions of fields takes about as much memory as it has octets while it is stored, and
// what the archive knows of it is right.
func TestEndlessTables(t *testing.T) {
	numbers := func(n int) func(func(string)) {
		return func(yield func(string)) {
			for i := range n {
				yield(strconv.Itoa(i))
			}
		}
	}
	one := func(yield func(string)) {
		for range 4_000_000 {
			yield("")
		}
	}
	for _, tt := range []struct {
		name       string
		table      []byte
		fields     int
		duplicates bool
	}{
		{"one name", largeTable(false, one), 4_000_000, true},
		{"names apart", largeTable(false, numbers(1_000_000)), 1_000_000, false},
		{"the last as the first", largeTable(true, numbers(1_000_000)), 1_000_001, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := New(Config{MaxBytes: 64 << 20})
			d := wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 0, wire.Property{
				Name: "headers",
				Raw:  tt.table,
			})}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a.Writer().Begin(&d, time.Now())
			a.Writer().Commit()
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 100<<20 {
				t.Errorf("%d MiB are allocated for a table of %d", n>>20, len(tt.table)>>20)
			}
			m, err := a.Snapshot().Get(1)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := m.Marks(), (Marks{HeaderCount: tt.fields, Duplicates: tt.duplicates}); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			if got, _ := m.HeaderTable(); !bytes.Equal(got, tt.table) {
				t.Error("the table is not the one stored")
			}
			if _, ok := m.ShapeID(); ok {
				t.Error("it has a shape")
			}
		})
	}
}
