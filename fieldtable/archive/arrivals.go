package archive

import (
	"sync/atomic"
	"time"
)

// arrivals counts messages by when they were received, evicted ones included: by the second for the
// last hours, by the minute for the last weeks. Its memory is fixed, 460 kB.
type arrivals struct {
	newest  atomic.Int64 // Unix seconds
	seconds ring
	minutes ring
}

const (
	secondsKept = 4 * 60 * 60
	minutesKept = 30 * 24 * 60
	rateSeconds = 5
)

func newArrivals() *arrivals {
	return &arrivals{
		seconds: ring{unit: 1, slots: make([]atomic.Uint64, secondsKept)},
		minutes: ring{unit: 60, slots: make([]atomic.Uint64, minutesKept)},
	}
}

// add is for the writer only.
func (a *arrivals) add(unixNano int64) {
	second := floorDiv(unixNano, int64(time.Second))
	a.seconds.add(second)
	a.minutes.add(second)
	if second > a.newest.Load() {
		a.newest.Store(second)
	}
}

// ring has one counter for each unit of time, the oldest replaced by the newest.
type ring struct {
	unit int64 // seconds
	// the time in units, its low 32 bits, above the count: one word, so that they agree
	slots []atomic.Uint64
}

func (r *ring) add(second int64) {
	tick := uint32(floorDiv(second, r.unit))
	slot := &r.slots[tick%uint32(len(r.slots))]
	v := slot.Load()
	if uint32(v>>32) != tick {
		v = uint64(tick) << 32
	}
	slot.Store(v + 1)
}

// count returns the arrivals in the unit that begins at second.
func (r *ring) count(second int64) uint64 {
	tick := uint32(floorDiv(second, r.unit))
	v := r.slots[tick%uint32(len(r.slots))].Load()
	if uint32(v>>32) != tick {
		return 0
	}
	return v & (1<<32 - 1)
}

// Histogram is arrivals over time: Counts[i] messages were received in the Step that begins at From
// + i × Step.
type Histogram struct {
	From   time.Time
	Step   time.Duration
	Counts []uint64
}

// Histogram counts arrivals from … to in at most so many bins, 1 to 10,000. From and Step are
// rounded to what the counters can tell: seconds within the last 4 hours before the newest arrival,
// minutes within 30 days; older arrivals are not counted. Messages already evicted are included, no
// message is read. Unlike the rest of a snapshot the counters go on.
func (s Snapshot) Histogram(from, to time.Time, bins int) Histogram {
	const maxBins = 10_000
	bins = min(max(bins, 1), maxBins)
	r := &s.arrivals.seconds
	if from.Unix() <= s.arrivals.newest.Load()-secondsKept {
		r = &s.arrivals.minutes
	}
	start := floorDiv(from.Unix(), r.unit) * r.unit
	end := to.Unix()
	if to.Nanosecond() > 0 {
		end++
	}
	if end <= start {
		return Histogram{From: time.Unix(start, 0), Step: time.Duration(r.unit) * time.Second}
	}
	units := (end - start + r.unit - 1) / r.unit
	perBin := (units + int64(bins) - 1) / int64(bins)
	h := Histogram{
		From:   time.Unix(start, 0),
		Step:   time.Duration(perBin*r.unit) * time.Second,
		Counts: make([]uint64, (units+perBin-1)/perBin),
	}
	// Only units that the ring can still hold are looked up, however long the time asked for.
	oldest := s.arrivals.newest.Load() - int64(len(r.slots))*r.unit
	first := max(0, (oldest-start)/r.unit)
	last := min(units, (s.arrivals.newest.Load()-start)/r.unit+1)
	for u := first; u < last; u++ {
		h.Counts[u/perBin] += r.count(start + u*r.unit)
	}
	return h
}

// Rate is how many messages a second were received in the 5 whole seconds before now.
func (s Snapshot) Rate(now time.Time) float64 {
	var n uint64
	for i := int64(1); i <= rateSeconds; i++ {
		n += s.arrivals.seconds.count(now.Unix() - i)
	}
	return float64(n) / rateSeconds
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
