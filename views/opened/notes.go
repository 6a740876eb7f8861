package opened

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/kit"
)

// Note is a remark beside a value.
type Note struct {
	Text  string
	Guess bool // drawn with the word "guess"
	Time  time.Time
	URL   string // where it leads outside the explorer; only what the configuration names
}

func timestampNotes(ts fieldtable.Timestamp, now time.Time) []Note {
	var notes []Note
	if t, ok := ts.Time(); ok {
		notes = append(notes, Note{Text: kit.Stamp(t), Time: t})
		if r := kit.Relative(t, now); r != "" {
			notes = append(notes, Note{Text: r})
		}
	} else {
		notes = append(notes, Note{Text: "outside the years 1 to 9999"})
	}
	if unit, t, ok := ts.Guess(); ok {
		notes = append(notes, Note{Text: unit + "? " + kit.Stamp(t), Guess: true, Time: t})
	} else if ts.NeverSet() {
		notes = append(notes, Note{Text: ".NET's DateTime.MinValue: never set?", Guess: true})
	}
	return notes
}
