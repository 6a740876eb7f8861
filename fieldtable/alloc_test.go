package fieldtable_test

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"runtime"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

func TestReadingAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, class := range specimens.Classes() {
		encoded := class.Draw(r)
		keys := []string{class.First, class.Last, "x-not-there"}
		var dst [3]fieldtable.Value
		memo := fieldtable.NewMemo(fieldtable.View(encoded, nil))
		memo.Lookup("x-not-there")
		for _, d := range []*fieldtable.Dialect{fieldtable.Lenient(), fieldtable.Spec091()} {
			table := fieldtable.View(encoded, d)
			for name, read := range map[string]func(){
				"View and Lookup of the first": func() { fieldtable.View(encoded, d).Lookup(class.First) },
				"Lookup of the last":           func() { table.Lookup(class.Last) },
				"Lookup of none":               func() { table.Lookup("x-not-there") },
				"Get":                          func() { table.Get(class.Last) },
				"Project":                      func() { table.Project(keys, dst[:]) },
				"Valid":                        func() { table.Valid() },
				"All": func() {
					for f, err := range table.All() {
						if err != nil || f.End == 0 {
							t.Fatal(err)
						}
					}
				},
				"Skip": func() {
					for s := table.Scan(); s.Skip(); {
					}
				},
				"Next and Field": func() {
					for s := table.Scan(); s.Next(); {
						if s.Field().End == 0 {
							t.Fatal("no field")
						}
					}
				},
				"Memo hit":  func() { memo.Lookup(class.Last) },
				"Memo miss": func() { memo.Lookup("x-not-there") },
				"At":        func() { table.At("x-death[0].reason") },
			} {
				if n := testing.AllocsPerRun(100, read); n != 0 {
					t.Errorf("%s, %s, %s: %v allocations", class.Name, d.Name(), name, n)
				}
			}
		}
	}
}

// What hostile tables cost is bounded by their size, whatever their lengths claim and however often
// names repeat.
func TestHostileTablesAreCheap(t *testing.T) {
	tables := map[string][]byte{
		"100,000 duplicates": encode.Table(func(e *encode.Encoder) {
			for range 100_000 {
				e.Int32("k", 1)
			}
		}),
		"100,000 names": encode.Table(func(e *encode.Encoder) {
			for i := range 100_000 {
				e.Void(fmt.Sprint(i))
			}
		}),
		"200,000 elements": encode.Table(func(e *encode.Encoder) {
			e.Array("a", func(e *encode.Encoder) {
				for range 200_000 {
					e.Void("")
				}
			})
		}),
		"20,000 damaged tables": encode.Table(func(e *encode.Encoder) {
			e.Array("a", func(e *encode.Encoder) {
				for range 20_000 {
					e.Nested("", func(e *encode.Encoder) { e.Raw(1) })
				}
			})
		}),
		"18,000 levels": bomb(18_000, 'F', []byte("\x01d")),
		"24,000 levels": bomb(24_000, 'A', nil),
	}
	for name, encoded := range tables {
		t.Run(name, func(t *testing.T) {
			table := fieldtable.View(encoded, nil)
			start := time.Now()
			for range table.All() {
			}
			table.Lookup("no such key")
			table.Valid()
			memo := fieldtable.NewMemo(table)
			for i := range 1000 {
				memo.Lookup(fmt.Sprint("absent ", i))
			}
			fieldtable.Hints(table)
			fieldtable.Readings(table)
			fieldtable.ExactDialects(encoded)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// bomb nests tables or arrays; every length is right.
func bomb(levels int, tag byte, name []byte) []byte {
	head := len(name) + 5
	var first []byte
	if name == nil {
		first = []byte{1, 'd'} // the outermost one is a field even if the others are elements
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(first)+levels*head))
	b = append(b, first...)
	for i := range levels {
		b = append(b, name...)
		b = append(b, tag)
		b = binary.BigEndian.AppendUint32(b, uint32((levels-1-i)*head))
	}
	return b
}

// A length of 4 GiB with nothing behind it allocates no more than the error and its path.
func TestLengthsAllocateNothing(t *testing.T) {
	for _, tag := range "SxFAcC" {
		table := fieldtable.View(
			encode.Table(func(e *encode.Encoder) { e.Sized("k", byte(tag), 0xffffffff, nil) }),
			nil,
		)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			if _, err := table.Lookup("k"); err == nil {
				t.Fatal("no error")
			}
		}
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) / 100; n > 1000 {
			t.Errorf("%c: %d octets allocated", tag, n)
		}
	}
}
