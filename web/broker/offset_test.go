package broker

import (
	"testing"
	"time"
)

func TestParseOffset(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 5, time.UTC)
	for text, want := range map[string]any{
		"":                          "next",
		"first":                     "first",
		"last":                      "last",
		" next ":                    "next",
		"0":                         int64(0),
		"9223372036854775807":       int64(1<<63 - 1),
		"15m":                       now.Add(-15 * time.Minute).Truncate(time.Second),
		"1h30m":                     now.Add(-90 * time.Minute).Truncate(time.Second),
		"2d":                        now.Add(-48 * time.Hour).Truncate(time.Second),
		"2026-11-29T10:00:00+01:00": time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC),
	} {
		o, err := parseOffset(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := o.argument(now)
		if at, ok := got.(time.Time); ok {
			if !at.Equal(want.(time.Time)) {
				t.Errorf("%q: %s, want %s", text, at, want)
			}
		} else if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"-1", "yesterday", "1.5", "99999999999999999999", "-15m", "0s", "d", "999999d"} {
		if o, err := parseOffset(text); err == nil {
			t.Errorf("%q is read as %+v", text, o)
		}
	}
}
