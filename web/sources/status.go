package sources

import (
	"strings"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/plural"
	"github.com/headerglass/headerglass/fieldtable/source"
)

// status is the state of a source together with what is kept of it.
func (v View) status(i int) source.Status { return v.statusWith(i, v.members[i].Archive.Stats()) }

func (v View) statusWith(i int, stats archive.Stats) source.Status {
	status := v.members[i].Status()
	status.Kept = source.Kept{
		Messages: stats.Stored - stats.Evicted,
		Evicted:  stats.Evicted,
		Oldest:   stats.Oldest,
		Bytes:    stats.Bytes,
		MaxBytes: stats.MaxBytes,
		Rate:     v.snaps[i].Rate(v.set.Now()),
	}
	return status
}

// Named is the state of a source with its name in addresses.
type Named struct {
	Name string
	source.Status
	Archive archive.Stats
}

// Statuses are the states of the sources of v, in the order in which they were added.
func (v View) Statuses() []Named {
	list := make([]Named, len(v.members))
	for i, m := range v.members {
		stats := m.Archive.Stats()
		list[i] = Named{m.Name, v.statusWith(i, stats), stats}
	}
	return list
}

// Status is the state of the only source of v. Of several it is a summary: the figures of all, and
// the state and the trouble of those that need attention.
func (v View) Status() source.Status {
	if len(v.members) == 1 {
		return v.status(0)
	}
	return together(v.Statuses())
}

// Broker is that of all sources of v; the zero Broker where they have several.
func (v View) Broker() (b source.Broker) {
	for i, m := range v.members {
		s := m.Status()
		if i > 0 && s.Broker() != b {
			return source.Broker{}
		}
		b = s.Broker()
	}
	return b
}

// together sums up.
func together(all []Named) source.Status {
	sum := source.Status{Name: plural.Of(uint64(len(all)), "source"), State: source.Idle}
	var trouble []string
	for i, one := range all {
		if i == 0 || attention(one.State) > attention(sum.State) {
			sum.State, sum.Since, sum.NextAttempt = one.State, one.Since, one.NextAttempt
		}
		if one.Error != "" {
			trouble = append(trouble, one.Name+": "+one.Error)
		}
		if i == 0 {
			sum.Product, sum.Version, sum.Mode = one.Product, one.Version, one.Mode
		}
		if one.Mode != sum.Mode {
			sum.Mode = ""
		}
		if one.Product != sum.Product || one.Version != sum.Version {
			sum.Product, sum.Version = "", ""
		}
		k := one.Kept
		sum.Kept.Messages += k.Messages
		sum.Kept.Evicted += k.Evicted
		sum.Kept.Bytes += k.Bytes
		sum.Kept.MaxBytes += k.MaxBytes
		sum.Kept.Rate += k.Rate
		if !k.Oldest.IsZero() && (sum.Kept.Oldest.IsZero() || k.Oldest.Before(sum.Kept.Oldest)) {
			sum.Kept.Oldest = k.Oldest
		}
		sum.Held += one.Held
		sum.Stored += one.Stored
		sum.Known += one.Known
		sum.GivenBack += one.GivenBack
		sum.Acknowledged += one.Acknowledged
	}
	sum.Error = strings.Join(trouble, " ")
	return sum
}

// Ready reports whether every source of v consumes, or rests as it is meant to.
func (v View) Ready() bool {
	for _, m := range v.members {
		s := m.Status()
		rests := len(v.members) > 1 && s.State == source.Paused && s.Error == ""
		if !s.State.Ready() && !rests {
			return false
		}
	}
	return true
}

// attention is how much a state needs it.
func attention(s source.State) int {
	switch {
	case s == source.Stopped || s == "":
		return 4
	case s == source.Reconnecting || s == source.SpoolFailed || s == source.SpoolFull:
		return 3
	case s == source.Connecting || s == source.Idle || s == source.Replaying:
		return 2
	case !s.Ready():
		return 1
	}
	return 0
}

// Stats are figures about what is kept of all sources of v.
func (v View) Stats() (sum archive.Stats) {
	for _, m := range v.members {
		s := m.Archive.Stats()
		sum.Stored += s.Stored
		sum.Evicted += s.Evicted
		sum.Bytes += s.Bytes
		sum.MaxBytes += s.MaxBytes
		sum.Pinned += s.Pinned
		sum.Segments += s.Segments
		sum.Shapes += s.Shapes
		sum.Unshaped += s.Unshaped
		if sum.Oldest.IsZero() || !s.Oldest.IsZero() && s.Oldest.Before(sum.Oldest) {
			sum.Oldest = s.Oldest
		}
	}
	return sum
}
