package fieldtable_test

import (
	"bytes"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
)

// Every field and element that can be read is found by where it begins, with the way that leads to
// it; no other offset leads anywhere.
func TestDescend(t *testing.T) {
	for _, s := range specimens.Specimens() {
		if len(s.Encoded) > 5000 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			table := fieldtable.View(s.Encoded, nil)
			paths := map[int]string{}
			var walk func(s fieldtable.Scanner)
			walk = func(s fieldtable.Scanner) {
				for s.Next() {
					paths[s.Field().Offset] = string(s.AppendPath(nil))
					if inner, ok := s.Into(); ok {
						walk(inner)
					}
				}
			}
			walk(table.Scan())
			for offset := -1; offset <= len(s.Encoded)+1; offset++ {
				way, ok := table.Descend(offset)
				if path, want := paths[offset]; ok != want {
					t.Fatalf("offset %d: found %v, want %v (%s)", offset, ok, want, path)
				}
				if !ok {
					continue
				}
				var path []byte
				for _, stage := range way {
					if stage.InArray {
						path = fieldtable.AppendIndex(path, stage.Index)
					} else {
						path = fieldtable.AppendStep(path, stage.Name)
					}
				}
				if string(path) != paths[offset] {
					t.Errorf("offset %d: %s, want %s", offset, path, paths[offset])
				}
			}
		})
	}
}

func TestDescendGivesTheField(t *testing.T) {
	encoded := encode.Table(func(e *encode.Encoder) {
		e.Str("tenant", "acme")
		e.Array("x", func(e *encode.Encoder) { e.Int32("", 7) })
	})
	table := fieldtable.View(encoded, nil)
	way, ok := table.Descend(4)
	if !ok || len(way) != 1 || string(way[0].Name) != "tenant" || string(way[0].Value.Raw()) != "acme" || way[0].End != 20 {
		t.Errorf("got %+v, %v", way, ok)
	}
	// x begins at 20, its tag is at 22, its length ends at 27: there is the element's tag.
	way, ok = table.Descend(27)
	if !ok || len(way) != 2 || !way[1].InArray || way[1].Index != 0 ||
		!bytes.Equal(way[1].Value.Encoded(), encoded[27:32]) {
		t.Errorf("got %+v, %v", way, ok)
	}
}
