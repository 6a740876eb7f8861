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

// milliseconds is where a count of seconds is past the year 5138: more likely milliseconds.
const milliseconds = 100_000_000_000

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
	if ts.Unit == fieldtable.Seconds && ts.Value > milliseconds {
		if t, ok := (fieldtable.Timestamp{Value: ts.Value, Unit: fieldtable.Milliseconds}).Time(); ok {
			notes = append(notes, Note{Text: "milliseconds? " + kit.Stamp(t), Guess: true, Time: t})
		}
	}
	return notes
}
