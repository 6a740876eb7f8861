package listing

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/kit"
)

// gapWords say when an exchange copy was not connected. The zone stands once.
func gapWords(g source.Gap, loc *time.Location) string {
	return "not connected from " + g.From.In(loc).Format("2006-01-02 15:04:05.000") +
		" to " + kit.DayAndClock(g.To, loc) + ": not copied"
}
