package facts

import (
	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/query"
)

// PathOf is the path of the value that a way leads to.
func PathOf(way []fieldtable.Stage) (path string) {
	for _, s := range way {
		if s.InArray {
			path = query.ElementPath(path, s.Index)
		} else {
			path = query.FieldPath(path, s.Name)
		}
	}
	return path
}
