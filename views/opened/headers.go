package opened

import (
	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
)

// Headers is the header table as a tree.
type Headers struct {
	Set      bool // the headers property is there
	Dialects []DialectOption
	Tree     Tree
	// Damage is the first damage of the table in depth-first wire order; nil = none.
	Damage *facts.Damage
	// Others are the readings that consume the bytes exactly, where the chosen one does not.
	Others []DialectOption
	Hints  []fieldtable.Hint
}

// DialectOption is a dialect with the address of the message read that way.
type DialectOption struct {
	Name, Description, URL string
	Selected               bool
}

func dialectOption(d *fieldtable.Dialect, selected bool, links address.Links, k address.Key) DialectOption {
	return DialectOption{
		Name: d.Name(), Description: d.Description(), Selected: selected,
		// Offsets inside the table may mean other fields in another dialect.
		URL: links.Opened(k, func(q *address.State) { q.Dialect, q.At, q.Skip = d.Name(), 0, 0 }),
	}
}
