package sources

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
)

const (
	// LayoutsSince is how long a header layout counts as new.
	LayoutsSince = 10 * time.Minute
	// sparkBars and sparkTime are the bars of a source's arrivals, and what they cover.
	sparkBars = 30
	sparkTime = 5 * time.Minute
)

// Line is what an overview says of one source.
type Line struct {
	Name string
	source.Status
	// Arrivals are the messages received in equal parts of the last minutes, the oldest first.
	Arrivals []uint64
	// Damaged is how many of the messages kept are.
	Damaged uint64
	// Layouts is how many header layouts were not there before the last ten minutes; negative:
	// nothing older is kept, so that this is not known.
	Layouts int
}

// Overview is a line for each of all sources, whatever v is about. Its counts are as of now or up
// to a second before.
func (s *Set) Overview() []Line {
	v := s.View()
	lines := make([]Line, len(v.members))
	now := s.Now()
	for i, m := range v.members {
		snap := v.snaps[i]
		_, damaged := v.alone(i).counted()
		l := Line{Name: m.Name, Status: v.status(i), Damaged: damaged, Layouts: -1}
		l.Arrivals = make([]uint64, sparkBars)
		const width = sparkTime / sparkBars
		from := now.Add(-sparkTime).Truncate(width)
		h := snap.Histogram(from, from.Add(sparkTime), sparkBars)
		for j, n := range h.Counts {
			if at := int(h.From.Add(time.Duration(j)*h.Step).Sub(from) / width); n > 0 && at >= 0 && at < sparkBars {
				l.Arrivals[at] += n
			}
		}
		if n, ok := snap.NewShapes(now.Add(-LayoutsSince)); ok {
			l.Layouts = n
		}
		lines[i] = l
	}
	return lines
}
