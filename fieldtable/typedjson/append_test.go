package typedjson

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Times have all nine digits and sort as text, in the years that have four digits.
func TestAppendTime(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	for _, tt := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, "null"},
		{time.Unix(0, 0), `"1970-01-01T00:00:00.000000000Z"`},
		{time.Unix(0, 1), `"1970-01-01T00:00:00.000000001Z"`},
		{time.Date(2026, 11, 29, 11, 5, 9, 120_000_000, berlin), `"2026-11-29T10:05:09.120000000Z"`},
		{time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), `"9999-12-31T23:59:59.999999999Z"`},
		{time.Date(10000, 1, 1, 0, 0, 0, 500, time.UTC), `"10000-01-01T00:00:00.000000500Z"`},
		{time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), `"-0001-01-01T00:00:00.000000000Z"`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if got := string(AppendTime([]byte("x"), tt.at)); got != "x"+tt.want {
				t.Errorf("%s, want x%s", got, tt.want)
			}
		})
	}
	for range 1000 {
		at := time.Unix(rand.Int64N(200_000_000_000), rand.Int64N(1_000_000_000)).UTC()
		want := at.Format(`"2006-01-02T15:04:05.000000000Z07:00"`)
		if got := string(AppendTime(nil, at)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
