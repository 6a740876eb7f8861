package kit

import (
	"strconv"
	"strings"
	"time"
)

// Clock is the time of day to the millisecond.
func Clock(t time.Time, loc *time.Location) string { return t.In(loc).Format("15:04:05.000") }

// ISO is a moment as <time datetime> takes it.
func ISO(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// DayAndClock is a moment with its day and its zone.
func DayAndClock(t time.Time, loc *time.Location) string {
	return t.In(loc).Format("2006-01-02 15:04:05.000 MST")
}

// ZoneName is a zone as people and addresses name it.
func ZoneName(loc *time.Location) string {
	if loc == time.UTC {
		return "UTC"
	}
	return loc.String()
}

// ZoneShort names a zone as its clocks do at t: CET, UTC-03.
func ZoneShort(loc *time.Location, t time.Time) string {
	if t.IsZero() {
		return ZoneName(loc)
	}
	name, _ := t.In(loc).Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// InputTime is a moment as <input type="datetime-local"> takes it.
func InputTime(t time.Time, loc *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return t.In(loc).Format("2006-01-02T15:04:05")
}

// Stamp writes a moment in UTC with no more digits than it has.
func Stamp(t time.Time) string {
	return t.UTC().Format("2006-01-02 15:04:05.999999999") + " UTC"
}

// Relative says how far t is from now: "3 min ago", "in 2 d". It is empty when now is not known.
func Relative(t, now time.Time) string {
	if now.IsZero() {
		return ""
	}
	d := now.Unix() - t.Unix() // time.Sub stops at 292 years
	future := t.After(now)
	if future {
		d = -d
	}
	var s string
	switch {
	case d < 2 && future:
		return "now"
	case d < 2:
		return "just now"
	case d < 2*60:
		s = strconv.FormatInt(d, 10) + " s"
	case d < 2*3600:
		s = strconv.FormatInt(d/60, 10) + " min"
	case d < 2*86400:
		s = strconv.FormatInt(d/3600, 10) + " h"
	case d < 2*365*86400:
		s = strconv.FormatInt(d/86400, 10) + " d"
	default:
		s = strconv.FormatInt(d/(365*86400+86400/4), 10) + " years"
	}
	if future {
		return "in " + s
	}
	return s + " ago"
}
