package sources

import (
	"slices"
	"strings"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
)

// View is what sources hold at one moment. Everything on a page is read from one. Memory that it
// refers to is not freed while it is used.
type View struct {
	set     *Set
	members []*member
	snaps   []archive.Snapshot // of the members, in their order
	names   *names
}

// View is what all sources hold now.
func (s *Set) View() View {
	members := *s.members.Load()
	v := View{set: s, members: members, snaps: make([]archive.Snapshot, len(members)), names: &s.names}
	if len(members) == 1 {
		v.names = &members[0].names
	}
	for i, m := range members {
		v.snaps[i] = m.Archive.Snapshot()
	}
	return v
}

// Of is what one source holds now, or ErrNoSource.
func (s *Set) Of(name string) (View, error) {
	for _, m := range *s.members.Load() {
		if m.Name == name {
			return View{s, []*member{m}, []archive.Snapshot{m.Archive.Snapshot()}, &m.names}, nil
		}
	}
	return View{}, ErrNoSource
}

// Now is what the sources of v hold now.
func (v View) Now() View {
	snaps := make([]archive.Snapshot, len(v.members))
	for i, m := range v.members {
		snaps[i] = m.Archive.Snapshot()
	}
	return v.At(snaps)
}

// At is v with snapshots that were taken before, one of each archive.
func (v View) At(snaps []archive.Snapshot) View {
	v.snaps = snaps
	return v
}

// Archives are those of the sources, in the order that At takes their snapshots in.
func (v View) Archives() []*archive.Archive {
	list := make([]*archive.Archive, len(v.members))
	for i, m := range v.members {
		list[i] = m.Archive
	}
	return list
}

// Single is the name of the only source of v; ok is false where there are several.
func (v View) Single() (name string, ok bool) {
	if len(v.members) != 1 {
		return "", false
	}
	return v.members[0].Name, true
}

// Range is the sequence numbers of the oldest and the newest message kept of the only source of v;
// ok is false where there is none, or several sources.
func (v View) Range() (first, last uint64, ok bool) {
	if len(v.members) != 1 {
		return 0, 0, false
	}
	first, last = v.snaps[0].First(), v.snaps[0].Last()
	return first, last, first <= last
}

// Kept is how many messages there are.
func (v View) Kept() (n uint64) {
	for _, snap := range v.snaps {
		n += uint64(snap.Len())
	}
	return n
}

// Key is that of a message.
func (v View) Key(m archive.Message) Key {
	if v.set.Several() {
		if i := v.of(m); i >= 0 {
			return Key{v.members[i].Name, m.Seq()}
		}
	}
	return Key{Seq: m.Seq()}
}

// of is which of the members has the archive of m; negative: none.
func (v View) of(m archive.Message) int {
	return slices.IndexFunc(v.members, func(one *member) bool { return one.Archive.Origin() == m.Origin() })
}

// Get returns a message, [archive.ErrEvicted], [archive.ErrNotYet] or [ErrNoSource].
func (v View) Get(k Key) (archive.Message, error) {
	for i, m := range v.members {
		if m.Name == k.Source || k.Source == "" && !v.set.Several() {
			return v.snaps[i].Get(k.Seq)
		}
	}
	return archive.Message{}, ErrNoSource
}

// Passage is how a message passed through a relay; nil where it did not, or that is not known.
func (v View) Passage(m archive.Message) *source.Passage {
	if i := v.of(m); i >= 0 && v.members[i].Passage != nil {
		return v.members[i].Passage(m.Seq())
	}
	return nil
}

// Alone is v of one of its sources, or ErrNoSource.
func (v View) Alone(name string) (View, error) {
	for i, m := range v.members {
		if m.Name == name || name == "" && len(v.members) == 1 {
			return v.alone(i), nil
		}
	}
	return View{}, ErrNoSource
}

func (v View) alone(i int) View {
	return View{v.set, v.members[i : i+1], v.snaps[i : i+1], &v.members[i].names}
}

// NameCount is a name and how many fields of a table have it.
type NameCount struct {
	Name  string
	Times int
}

// Preview is the first names of a message's headers, at most most, without a look at its table. It
// is nil where they are not known so cheaply.
func (v View) Preview(m archive.Message, most int) (names []NameCount) {
	id, ok := m.ShapeID()
	i := v.of(m)
	if !ok || i < 0 {
		return nil
	}
	shape := v.snaps[i].Shape(id)
	if shape == nil {
		return nil
	}
	for _, f := range shape.Fields {
		i := slices.IndexFunc(names, func(n NameCount) bool { return n.Name == f.Name })
		switch {
		case i >= 0:
			names[i].Times++
		case len(names) < most:
			names = append(names, NameCount{f.Name, 1})
		case !shape.Duplicates:
			return names
		}
	}
	return names
}

// Name makes a name fit for addresses: letters, digits and -._ stay, anything else becomes -. What
// is left of a name that has no letter or digit would say nothing, so it is written in hexadecimal.
func Name(from string) string {
	fit := strings.Map(func(r rune) rune {
		if !fits(r) {
			return '-'
		}
		return r
	}, from)
	fit = strings.TrimLeft(fit, ".")
	if !strings.ContainsFunc(fit, alphanumeric) && from != "" {
		const digits = "0123456789abcdef"
		var b strings.Builder
		b.WriteString("x-")
		for _, c := range []byte(from[:min(len(from), maxName/2)]) {
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
		fit = b.String()
	}
	return fit[:min(len(fit), maxName)]
}

// maxName is how many characters a name has at most: every link has it.
const maxName = 100

func fits(r rune) bool { return alphanumeric(r) || strings.ContainsRune("-._", r) }

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
