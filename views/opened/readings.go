package opened

import "github.com/headerglass/headerglass/fieldtable"

// otherReading is what several clients make of a value alike.
type otherReading struct {
	fieldtable.Other
	clients string
}

// together puts clients that read a value alike, for the same reason, on one line.
func together(others []fieldtable.Other) []otherReading {
	var groups []otherReading
next:
	for _, o := range others {
		for i, g := range groups {
			if g.Text == o.Text && g.Why == o.Why && g.Fatal == o.Fatal {
				groups[i].clients += ", " + o.Client + " " + o.Version
				continue next
			}
		}
		groups = append(groups, otherReading{o, o.Client + " " + o.Version})
	}
	return groups
}
