package relay

import (
	"fmt"

	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/source"
)

// notes are plain sentences about what passed and is not shown.
func notesOf(r source.Relay) []string {
	var notes []string
	if r.Overlooked > 0 {
		notes = append(notes, fmt.Sprintf("Reading was behind: %s passed unread at %s. Messages there are not shown.",
			plural.Of(r.Overlooked, "byte"), plural.Of(r.Gaps, "place")))
	}
	if r.Foreign > 0 {
		notes = append(notes, fmt.Sprintf("%s %s not speak AMQP 0-9-1 and passed unread; the last: %s.",
			plural.Of(r.Foreign, "connection"), plural.Verb(r.Foreign, "does", "do"), r.ForeignAs))
	}
	if r.Broken > 0 {
		notes = append(notes, fmt.Sprintf("%s could not be read to the end. Everything was forwarded.",
			plural.Of(r.Broken, "connection")))
	}
	return notes
}
