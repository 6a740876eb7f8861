package opened

import (
	"context"
	"io"
	"strconv"

	"github.com/a-h/templ"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

// runs draws the two columns of a hex row. White space stands between runs, not in them, so that a
// mark covers the bytes alone.
func runs(row HexRow) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := make([]byte, 0, 1024)
		open := func(r Run) {
			b = append(b, `<b class="`...)
			b = append(b, roleClass(r)...)
			b = append(b, `" data-o="`...)
			b = strconv.AppendInt(b, int64(r.Offset), 10)
			b = append(b, `">`...)
		}
		b = append(b, `<span class="hh">`...)
		for i, r := range row.Runs {
			if i > 0 {
				b = append(b, separator(r.Offset)...)
			}
			open(r)
			for j := range r.bytes {
				if j > 0 {
					b = append(b, separator(r.Offset+j)...)
				}
				b = append(b, "0123456789abcdef"[r.bytes[j]>>4], "0123456789abcdef"[r.bytes[j]&15])
			}
			b = append(b, `</b>`...)
		}
		b = append(b, `</span><span class="ha">`...)
		for _, r := range row.Runs {
			open(r)
			for _, c := range r.bytes {
				switch {
				case c < ' ' || c >= 0x7f:
					b = append(b, "·"...)
				case c == '<':
					b = append(b, "&lt;"...)
				case c == '&':
					b = append(b, "&amp;"...)
				default:
					b = append(b, c)
				}
			}
			b = append(b, `</b>`...)
		}
		b = append(b, `</span>`...)
		_, err := w.Write(b)
		return err
	})
}

func separator(offset int) string {
	if offset%kit.DumpRowBytes == kit.DumpRowBytes/2 {
		return "  "
	}
	return " "
}

func roleClass(r Run) string {
	var c string
	switch r.Role {
	case RoleLength:
		c = "l"
	case RoleName:
		c = "n"
	case RoleTag:
		c = "g v" + r.Class
	case RoleValue:
		c = "v v" + r.Class
	default:
		c = "r"
	}
	if r.Marked {
		c += " mark"
	}
	return c
}

// hexPage is how many bytes of the table are on one page.
const hexPage = 4 << 10

// Hex is one page of a table's bytes, each with the field it belongs to.
type Hex struct {
	Rows             []HexRow
	From, To, Size   int
	Marked           archive.Span
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
func BuildHex(encoded []byte, t fieldtable.Table, from int, links address.Links, k address.Key) Hex {
	h := Hex{Size: len(encoded), Marked: links.State.Bytes}
	h.From = min(from, max(len(encoded)-1, 0)) / kit.DumpRowBytes * kit.DumpRowBytes
	h.To = min(h.From+hexPage, len(encoded))
	at := func(n int) string {
		// 0 would mean: where the tree begins. Any byte of the first row does.
		return links.Opened(k, func(q *address.State) { q.Hex = max(n, 1) }) + "#bytes"
	}
	if h.From > 0 {
		h.PrevURL = at(max(h.From-hexPage, 0))
	}
	if h.To < h.Size {
		h.NextURL = at(h.To)
	}
	s := segmenter{from: h.From, to: h.To, encoded: encoded}
	s.add(0, 4, 0, RoleLength, "")
	s.walk(facts.Container{Scan: t.Scan(), End: len(encoded)}, 0)
	s.add(s.at, len(encoded), 0, RoleRest, "")

	seg := 0
	for row := h.From; row < h.To; row += kit.DumpRowBytes {
		r := HexRow{Offset: row}
		end := min(row+kit.DumpRowBytes, h.To)
		for at := row; at < end; {
			for s.segments[seg].End <= at {
				seg++
			}
			run := s.segments[seg]
			run.Offset, run.End = at, min(run.End, end)
			switch m := h.Marked; {
			case m.From >= m.To:
			case at < m.From:
				run.End = min(run.End, max(m.From, at+1))
			case at < m.To:
				run.Marked, run.End = true, min(run.End, m.To)
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

func (s *segmenter) walk(c facts.Container, owner int) {
	for s.at < s.to && c.Scan.Next() {
		f := c.Scan.Field()
		id := facts.Start(f, c.Array)
		if f.Value.End() <= s.from {
			s.at = f.Value.End()
			continue
		}
		v := f.Value
		if !c.Array {
			s.add(id, id+1, id, RoleLength, "")
			s.add(id+1, v.Offset(), id, RoleName, "")
		}
		class := kit.ValueClass(v.Kind())
		s.add(v.Offset(), v.PayloadOffset(), id, RoleTag, class)
		s.add(v.PayloadOffset(), v.End()-len(v.Raw()), id, RoleLength, class)
		if inner, ok := facts.ContainerOf(v); ok {
			s.walk(inner, id)
		}
		s.add(s.at, v.End(), id, RoleValue, class)
	}
	if err := c.Scan.Err(); err != nil {
		d := facts.NewDamage(err, c.Scan.Offset(), c.End)
		if d.Rest.From < d.Rest.To {
			// The damaged field's own name may still be told from the rest.
			at := c.Scan.Offset()
			if !c.Array && d.Offset > at+1 {
				s.add(at, at+1, at, RoleLength, "")
				s.add(at+1, min(d.Offset, at+1+int(s.encoded[at])), at, RoleName, "")
			}
			s.add(s.at, c.End, at, RoleRest, "")
		}
	}
}
