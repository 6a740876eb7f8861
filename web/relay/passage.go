package relay

import (
	"cmp"
	"slices"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
)

// maxAlike is how many messages a passage names of each kind.
const maxAlike = 7

// Passage is how message seq passed; nil where that is not known any more.
func (r *Relay) Passage(seq uint64) *source.Passage {
	kept := r.cfg.Archive.Snapshot()
	m, err := kept.Get(seq)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.ledger.line(seq)
	if n == nil {
		return nil
	}
	p := &source.Passage{
		Method:     n.method.word(),
		Connection: n.peer.Connection,
		Channel:    n.channel,
		Mandatory:  n.flags&flagMandatory != 0,
		Immediate:  n.flags&flagImmediate != 0,
		Confirms:   n.flags&flagConfirms != 0,
		NoAck:      n.flags&flagNoAck != 0,
		Outcome:    n.outcome.word(),
		After:      n.after,
	}
	if n.subscribed != nil {
		p.Queue = n.subscribed.queue
	}
	if n.reason != nil {
		p.Code, p.Text = n.reason.code, n.reason.text
	}
	var ways [returned + 1][]uint64
	r.ledger.alike(n.key, func(other uint64, o *line) {
		if other >= kept.First() {
			ways[o.method] = append(ways[o.method], other)
		}
	})
	delivered := append(ways[deliver], ways[getOk]...)
	slices.Sort(delivered)
	switch n.method {
	case publish:
		p.Delivered = likeliest(kept, m, ways[publish], delivered, 0)
		p.Returned = likeliest(kept, m, ways[publish], ways[returned], n.other)
	case returned:
		p.Published = likeliest(kept, m, ways[returned], ways[publish], n.other)
	default:
		p.Published = likeliest(kept, m, delivered, ways[publish], 0)
	}
	return p
}

// likeliest are the messages others that may be m on another way, the likeliest first: sure, unless
// that is 0; then those with the exchange and routing key of m; then the one whose place among
// others is that of m among its own kind; then those that passed close to it.
func likeliest(kept archive.Snapshot, m archive.Message, own, others []uint64, sure uint64) []uint64 {
	apart := func(seq uint64) uint64 { return max(seq, m.Seq()) - min(seq, m.Seq()) }
	twin := uint64(0)
	if i, found := slices.BinarySearch(own, m.Seq()); found && len(own) == len(others) {
		twin = others[i]
	}
	near := slices.Clone(others)
	slices.SortFunc(near, func(a, b uint64) int { return cmp.Compare(apart(a), apart(b)) })
	near = near[:min(len(near), 8*maxAlike)]
	if twin != 0 && !slices.Contains(near, twin) {
		near = append(near, twin)
	}
	if sure != 0 && !slices.Contains(near, sure) && slices.Contains(others, sure) {
		near = append(near, sure)
	}
	far := make(map[uint64]int, len(near))
	for _, seq := range near {
		other, err := kept.Get(seq)
		switch {
		case seq == sure:
		case err != nil || string(other.Exchange()) != string(m.Exchange()) ||
			string(other.RoutingKey()) != string(m.RoutingKey()):
			far[seq] = 3
		case seq == twin:
			far[seq] = 1
		default:
			far[seq] = 2
		}
	}
	slices.SortStableFunc(near, func(a, b uint64) int { return cmp.Compare(far[a], far[b]) })
	return near[:min(len(near), maxAlike)]
}
