package views

import "github.com/headerglass/headerglass/fieldtable"

// hexPage is how many bytes of the table are on one page.
const hexPage = 4 << 10

// hexRow is how many bytes a row of a dump has.
const hexRow = 16

// Hex is one page of a table's bytes, each with the field it belongs to.
type Hex struct {
	Rows             []HexRow
	From, To, Size   int
	Marked           Range
	PrevURL, NextURL string
}

// HexRow is 16 bytes, or the rest, cut into runs of one field and one role.
type HexRow struct {
	Offset int
	Runs   []Run
}

// Role is what a byte is for.
type Role uint8

const (
	RoleLength Role = iota // of a table, a name, a value
	RoleName
	RoleTag
	RoleValue
	RoleRest // cannot be read because of damage before or at it, or follows the table
)

// Run is bytes that belong to the same field for the same purpose. Owner is the Offset of the
// deepest Node they belong to, 0 for the outermost table. Class is the value's colour.
type Run struct {
	Owner       int
	Role        Role
	Class       string
	Offset, End int
	Marked      bool
	bytes       []byte
}

// BuildHex lays out the page that begins with the row of the byte at from, with the Bytes of links
// marked.
func BuildHex(encoded []byte, t fieldtable.Table, from int, links Links, seq uint64) Hex {
	h := Hex{Size: len(encoded), Marked: links.Query.Bytes}
	h.From = min(from, max(len(encoded)-1, 0)) / hexRow * hexRow
	h.To = min(h.From+hexPage, len(encoded))
	at := func(n int) string {
		// 0 would mean: where the tree begins. Any byte of the first row does.
		return links.Inspect(seq, func(q *Query) { q.Hex = max(n, 1) }) + "#bytes"
	}
	if h.From > 0 {
		h.PrevURL = at(max(h.From-hexPage, 0))
	}
	if h.To < h.Size {
		h.NextURL = at(h.To)
	}
	s := segmenter{from: h.From, to: h.To, encoded: encoded}
	s.add(0, 4, 0, RoleLength, "")
	s.walk(container{scan: t.Scan(), end: len(encoded)}, 0)
	s.add(s.at, len(encoded), 0, RoleRest, "")

	seg := 0
	for row := h.From; row < h.To; row += hexRow {
		r := HexRow{Offset: row}
		end := min(row+hexRow, h.To)
		for at := row; at < end; {
			for s.segments[seg].End <= at {
				seg++
			}
			run := s.segments[seg]
			run.Offset, run.End = at, min(run.End, end)
			switch m := h.Marked; {
			case m.Empty():
			case at < m.Start:
				run.End = min(run.End, max(m.Start, at+1))
			case at < m.End:
				run.Marked, run.End = true, min(run.End, m.End)
			}
			run.bytes = encoded[run.Offset:run.End]
			r.Runs = append(r.Runs, run)
			at = run.End
		}
		h.Rows = append(h.Rows, r)
	}
	return h
}

// segmenter cuts the bytes [from, to) into segments without gaps, in order.
type segmenter struct {
	from, to int
	encoded  []byte
	at       int // everything before it is in a segment, or before from
	segments []Run
}

// add appends the bytes from where the last segment ended, or from start, up to end.
func (s *segmenter) add(start, end, owner int, role Role, class string) {
	if start > s.at { // a gap would be bytes that no one claims
		s.add(s.at, start, owner, RoleRest, "")
	}
	start, end = s.at, min(end, len(s.encoded))
	if end <= start {
		return
	}
	s.at = end
	if end > s.from && start < s.to {
		s.segments = append(s.segments, Run{Owner: owner, Role: role, Class: class, Offset: start, End: end})
	}
}

func (s *segmenter) walk(c container, owner int) {
	for s.at < s.to && c.scan.Next() {
		f := c.scan.Field()
		id := start(f, c.array)
		if f.Value.End() <= s.from {
			s.at = f.Value.End()
			continue
		}
		v := f.Value
		if !c.array {
			s.add(id, id+1, id, RoleLength, "")
			s.add(id+1, v.Offset(), id, RoleName, "")
		}
		class := valueClass(v.Kind())
		s.add(v.Offset(), v.PayloadOffset(), id, RoleTag, class)
		s.add(v.PayloadOffset(), v.End()-len(v.Raw()), id, RoleLength, class)
		if inner, ok := containerOf(v); ok {
			s.walk(inner, id)
		}
		s.add(s.at, v.End(), id, RoleValue, class)
	}
	if err := c.scan.Err(); err != nil {
		d := newDamage(err, c.scan.Offset(), c.end)
		if !d.Rest.Empty() {
			// The damaged field's own name may still be told from the rest.
			at := c.scan.Offset()
			if !c.array && d.Offset > at+1 {
				s.add(at, at+1, at, RoleLength, "")
				s.add(at+1, min(d.Offset, at+1+int(s.encoded[at])), at, RoleName, "")
			}
			s.add(s.at, c.end, at, RoleRest, "")
		}
	}
}
