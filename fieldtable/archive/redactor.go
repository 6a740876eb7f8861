package archive

import (
	"cmp"
	"slices"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// Redactor removes from content headers what an archive removes, for a store that keeps them before
// or beside it. One goroutine at a time may use it.
type Redactor struct{ blanker *blanker }

// Redactor returns one that works as a does.
func (a *Archive) Redactor() *Redactor {
	return &Redactor{newBlanker(a.cfg.Redact, a.cfg.Dialect, fieldtable.Dialects())}
}

// Redact overwrites a content header payload where values are to be removed, and returns where that
// is, in order. See Redaction.
func (r *Redactor) Redact(payload []byte) []Span {
	if r.blanker == nil {
		return nil
	}
	r.blanker.find(payload)
	removed := slices.Clone(r.blanker.removed)
	r.blanker.apply(payload)
	return removed
}

// unite merges spans of a payload of size octets. Those of b are in no particular order and may be
// out of range.
func unite(a, b []Span, size int) []Span {
	all := slices.Clone(a)
	for _, s := range b {
		s.From, s.To = max(s.From, wire.ContentHeaderFixed), min(s.To, size)
		if s.From < s.To {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(x, y Span) int { return cmp.Compare(x.From, y.From) })
	return mergeSpans(all)
}
