package listing

import (
	"strconv"
	"strings"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/shell"
)

// Source is a line of the overview of several sources.
type Source struct {
	Name string // as addresses have it
	source.Status
	// Arrivals are the messages received in equal parts of the last minutes, the oldest first.
	Arrivals []uint64
	Damaged  uint64
	// Layouts is how many header layouts are new; negative: that is not known.
	Layouts int
}

// reads is what is read and how, in a few words.
func (s Source) reads() string {
	words := map[source.Mode]string{
		source.Peek:   "peek at queue ",
		source.Drain:  "drain queue ",
		source.Copy:   "copy of exchange ",
		source.Stream: "stream ",
		source.Replay: "file ",
		source.Demo:   "demo: ",
	}
	name := s.Status.Name
	if name == "" {
		name = s.Name
	}
	return words[s.Mode] + kit.VisibleText([]byte(name))
}

// waiting is how many messages the broker has ready; a dash where it was not asked.
func (s Source) waiting() string {
	if s.ObservedAt.IsZero() {
		return "–"
	}
	return kit.Num(s.Ready)
}

// layouts is how many layouts are new; a dash where that is not known.
func (s Source) layouts() string {
	if s.Layouts < 0 {
		return "–"
	}
	return kit.Num(s.Layouts)
}

func (s Source) stateClass() string { return shell.StateClass(s.State) }

// spark is the line of arrivals, 4 units a step and 16 high.
func (s Source) spark() string {
	var top uint64
	for _, n := range s.Arrivals {
		top = max(top, n)
	}
	var b strings.Builder
	for i, n := range s.Arrivals {
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		b.WriteString(strconv.Itoa(i * 4))
		b.WriteByte(' ')
		y := 15
		if n > 0 {
			y = 14 - int(13*float64(n)/float64(top))
		}
		b.WriteString(strconv.Itoa(y))
	}
	return b.String()
}
