package opened

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

// PropertyRow is a basic property, drawn.
type PropertyRow struct {
	Name        string
	Parts       []kit.Part
	Empty       bool // an empty string
	Removed     bool // the message was stored without its value
	Notes       []Note
	Offset, End int
	// Path is how a filter names it; Is and Not are the conditions for its value, "" where a filter
	// names none.
	Path, Is, Not string
}

// NewProperty draws a basic property, with the timestamp in the dialect's unit.
func NewProperty(p wire.Property, removed []archive.Span, d *fieldtable.Dialect, now time.Time) PropertyRow {
	row := PropertyRow{Name: p.Name, Path: "$" + p.Name, Offset: p.Offset, End: p.End}
	if !facts.Touched(removed, p.Offset, p.End) {
		row.Is, row.Not = query.PropertyConditions(p, d)
	}
	switch {
	case p.Form() != wire.FormTable && facts.Touched(removed, p.Offset, p.End):
		row.Removed = true
	case p.Form() == wire.FormTable:
		row.Parts = []kit.Part{{Text: kit.Plural(len(p.Raw), "byte")}}
		row.Notes = []Note{{Text: "shown above"}}
	case p.Form() == wire.FormOctet && len(p.Raw) == 1:
		row.Parts = []kit.Part{{Text: strconv.Itoa(int(p.Raw[0]))}}
		if p.Name == "delivery_mode" {
			switch p.Raw[0] {
			case 1:
				row.Notes = []Note{{Text: "transient"}}
			case 2:
				row.Notes = []Note{{Text: "persistent"}}
			}
		}
	case p.Form() == wire.FormTimestamp && len(p.Raw) == 8:
		n := int64(binary.BigEndian.Uint64(p.Raw))
		row.Parts = []kit.Part{{Text: strconv.FormatInt(n, 10)}}
		ts := fieldtable.Timestamp{Value: n, Unit: d.TimestampUnit()}
		row.Notes = timestampNotes(ts, now)
		if _, _, guessed := ts.Guess(); !guessed && !ts.NeverSet() && ts.Hint() != "" {
			row.Notes = append(row.Notes, Note{Text: ts.Hint(), Guess: true})
		}
	case len(p.Raw) == 0:
		row.Parts = []kit.Part{{Text: `""`}}
		row.Empty = true
	default:
		row.Parts = kit.Parts(p.Raw)
		if p.Name == "expiration" {
			row.Notes = expirationNotes(p.Raw, d, now)
		}
	}
	return row
}
