package archive

import (
	"fmt"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

func arrive(a *Archive, at time.Time, n int) {
	w := a.Writer()
	for range n {
		w.Begin(&wire.Delivery{Header: headerOf(nil, 0)}, at)
		w.Commit()
	}
}

func TestHistogram(t *testing.T) {
	// A full minute, so that the bins by the minute begin with it.
	start := time.Unix(1_700_000_040, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	tests := []struct {
		name     string
		arrivals map[time.Duration]int
		from, to time.Duration
		bins     int
		want     string
	}{
		{"by the second", map[time.Duration]int{
			0:                                  3,
			time.Second + 999*time.Millisecond: 2,
			4 * time.Second:                    1,
		}, 0, 5 * time.Second, 5, "0s 1s [3 2 0 0 1]"},
		{"fewer bins", map[time.Duration]int{
			0:               3,
			time.Second:     2,
			4 * time.Second: 1,
		}, 0, 5 * time.Second, 3, "0s 2s [5 0 1]"},
		{"part of it", map[time.Duration]int{
			0:               3,
			2 * time.Second: 2,
			4 * time.Second: 1,
		}, 1 * time.Second, 3 * time.Second, 9, "1s 1s [0 2]"},
		{"rounded", map[time.Duration]int{
			0:           3,
			time.Second: 2,
		}, 100 * time.Millisecond, 1100 * time.Millisecond, 9, "0s 1s [3 2]"},
		{"by the minute", map[time.Duration]int{
			-48 * time.Hour:                7,
			-48*time.Hour + 90*time.Second: 2,
			0:                              1,
		}, -48 * time.Hour, -48*time.Hour + 3*time.Minute, 3, "-48h0m0s 1m0s [7 2 0]"},
		{"minutes, rounded", map[time.Duration]int{
			-48 * time.Hour: 7,
			0:               1,
		}, -48*time.Hour + 30*time.Second, -48*time.Hour + 2*time.Minute, 9, "-48h0m0s 1m0s [7 0]"},
		{"older than kept", map[time.Duration]int{
			-40 * 24 * time.Hour: 7,
			0:                    1,
		}, -40 * 24 * time.Hour, -40*24*time.Hour + 2*time.Minute, 2, "-960h0m0s 1m0s [0 0]"},
		{"future", map[time.Duration]int{0: 1}, time.Hour, time.Hour + 2*time.Second, 2, "1h0m0s 1s [0 0]"},
		{"nothing asked for", map[time.Duration]int{0: 1}, time.Second, 0, 2, "1s 1s []"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := New(Config{})
			for d, n := range test.arrivals {
				if d < 0 {
					arrive(a, at(d), n)
				}
			}
			for d, n := range test.arrivals {
				if d >= 0 {
					arrive(a, at(d), n)
				}
			}
			h := a.Snapshot().Histogram(at(test.from), at(test.to), test.bins)
			if got := fmt.Sprint(h.From.Sub(start), h.Step, h.Counts); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestHistogramOfAllTime(t *testing.T) {
	a := New(Config{})
	arrive(a, epoch, 5)
	h := a.Snapshot().Histogram(time.Unix(0, 0), time.Unix(1<<40, 0), 50)
	var sum uint64
	for _, n := range h.Counts {
		sum += n
	}
	if sum != 5 || len(h.Counts) > 50 {
		t.Errorf("%d messages in %d bins", sum, len(h.Counts))
	}
}

func TestRate(t *testing.T) {
	a := New(Config{})
	for i := range 10 {
		arrive(a, epoch.Add(time.Duration(i)*time.Second), 10*(i+1))
	}
	// The seconds 5 to 9 before second 10, which is not over.
	if got := a.Snapshot().Rate(epoch.Add(10*time.Second + 500*time.Millisecond)); got != (60+70+80+90+100)/5 {
		t.Errorf("%v messages a second", got)
	}
	if got := a.Snapshot().Rate(epoch.Add(time.Hour)); got != 0 {
		t.Errorf("%v messages a second an hour later", got)
	}
}
