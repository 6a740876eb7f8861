package archive

import (
	"sort"
	"time"
)

// NewShapes is how many shapes the messages received since a time have that no older message kept
// has. ok is false where no older message is kept: then nothing can be said to be new. Messages
// without a shape are left out. Segments are taken to be in the order of time, as they are unless
// the clock was set back.
func (s Snapshot) NewShapes(since time.Time) (n int, ok bool) {
	older, newer := make(map[uint16]bool), make(map[uint16]bool)
	for i := range s.Segments() {
		g := s.Segment(i)
		oldest, newest := g.Received()
		switch {
		case g.Len() == 0:
		case newest.Before(since):
			for _, c := range g.ShapeCounts() {
				older[c.ID] = true
			}
		case !oldest.Before(since):
			for _, c := range g.ShapeCounts() {
				newer[c.ID] = true
			}
		default:
			first := sort.Search(g.Len(), func(i int) bool { return !g.At(i).Received().Before(since) })
			for i := range g.Len() {
				if i < first {
					older[g.ShapeAt(i)] = true
				} else {
					newer[g.ShapeAt(i)] = true
				}
			}
		}
	}
	for id := range newer {
		if id != Unshaped && !older[id] {
			n++
		}
	}
	return n, len(older) > 0
}
