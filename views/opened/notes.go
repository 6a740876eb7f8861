package opened

import (
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/kit"
)

// Note is a remark beside a value.
type Note struct {
	Text  string
	Guess bool // drawn with the word "guess"
	Time  time.Time
	Ago   bool   // Text is how far Time is from now
	URL   string // where it leads outside the explorer; only what the configuration names
}

func timestampNotes(ts fieldtable.Timestamp, now time.Time) []Note {
	var notes []Note
	if t, ok := ts.Time(); ok {
		notes = append(notes, Note{Text: kit.Stamp(t), Time: t})
		if r := kit.Relative(t, now); r != "" {
			notes = append(notes, Note{Text: r, Time: t, Ago: true})
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

// expirationNotes says when a message expires whose expiration is a time: Qpid Broker-J delivers
// one, in milliseconds since 1970. RabbitMQ delivers a duration, also in milliseconds, and none
// that its publishers give is longer than 30 years.
func expirationNotes(text []byte, d *fieldtable.Dialect, now time.Time) []Note {
	const thirtyYears = 30 * 365 * 24 * 60 * 60 * 1000
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < thirtyYears {
		return nil
	}
	ts := fieldtable.Timestamp{Value: n, Unit: fieldtable.Milliseconds}
	if _, ok := ts.Time(); !ok {
		return nil
	}
	meaning := Note{Text: "the time at which it expires", Guess: d.TimestampUnit() != fieldtable.Milliseconds}
	return append([]Note{meaning}, timestampNotes(ts, now)...)
}
