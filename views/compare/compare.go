// Package compare draws messages side by side.
package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"slices"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
	"github.com/headerglass/headerglass/views/opened"
)

const (
	// Max is how many messages are compared at once.
	Max        = 8
	diffValues = 2000 // of one message's header table
	diffClip   = 240  // bytes of a value that is shown
)

// Comparison compares messages value by value.
type Comparison struct {
	Links    address.Links
	Messages []Message
	Groups   []Group
	Notes    []string // what the comparison as a whole must say
	Passages []Passage
}

// Passage is what became of a published message on its way through a broker.
type Passage struct {
	Published, Delivered uint64
	Changes              []facts.Change
}

// passages are those from the first message, where that is a publish that a relay saw, to the
// deliveries.
func passages(ms []facts.Message, d *fieldtable.Dialect) (all []Passage) {
	if len(ms) == 0 || ms[0].Passage == nil || ms[0].Passage.Method != source.Publish {
		return nil
	}
	for _, m := range ms[1:] {
		if m.Passage != nil && (m.Passage.Method == source.Deliver || m.Passage.Method == source.GetOk) {
			all = append(all, Passage{ms[0].Seq, m.Seq, facts.Changes(ms[0], m, d)})
		}
	}
	return all
}

// Message is one of the messages compared.
type Message struct {
	Message facts.Message
	// URL opens it; Without is the comparison without it, "" when there would be nothing left to
	// compare.
	URL, Without string
}

// Group is rows of one verdict, in the order of the first message that has each.
type Group struct {
	Verdict Verdict
	Rows    []Row
}

// Verdict is what comparing one value in all messages says.
type Verdict uint8

// The verdicts, in the order they are shown in.
const (
	Changed Verdict = iota // another type or value
	Missing                // not in every message
	Unknown                // removed by redaction, so not compared
	Same
)

// Row is one header value, property or fact of the delivery.
type Row struct {
	Kind  string // "header", "property", "delivery", "body"
	Name  []kit.Part
	Cells []Cell // one for each message
	Types bool   // the types differ
}

// Cell is a row's value in one message. The zero value is absent.
type Cell struct {
	Set     bool
	Removed bool
	Tag     byte   // of a header
	Class   string // of a header: its colour
	Parts   []kit.Part
	Same    bool // as in the first message that has it
}

// datum is a value as it is compared: by every byte, and by its type.
type datum struct {
	cell Cell
	raw  []byte
}

type diffRows struct {
	keys []string // in order
	rows map[string]*comparedRow
	n    int
}

type comparedRow struct {
	kind string
	name []kit.Part
	data []datum
}

// put records the value that message i has under a key; a key is unique within its message.
func (r *diffRows) put(i int, kind, key string, name []kit.Part, d datum) {
	key = kind + "\x00" + key
	row := r.rows[key]
	if row == nil {
		row = &comparedRow{kind: kind, name: name, data: make([]datum, r.n)}
		r.rows[key] = row
		r.keys = append(r.keys, key)
	}
	d.cell.Set = true
	row.data[i] = d
}

// Build compares messages. Headers are compared by path, occurrence, type and bytes; a field
// that a message has twice is compared with the same one of the two in the others.
func Build(ms []facts.Message, d *fieldtable.Dialect, links address.Links) Comparison {
	if d == nil {
		d = fieldtable.Lenient()
	}
	diff := Comparison{Links: links}
	keys := make([]address.Key, len(ms))
	for i, m := range ms {
		keys[i] = m.Key()
	}
	rows := &diffRows{rows: map[string]*comparedRow{}, n: len(ms)}
	var orders [][]string
	for i, m := range ms {
		dm := Message{Message: m, URL: links.Message(m.Key())}
		if len(ms) > 2 {
			dm.Without = links.Diff(slices.Delete(slices.Clone(keys), i, i+1)...)
		}
		diff.Messages = append(diff.Messages, dm)
		text := func(kind, key string, s []byte, empty string) {
			cell := Cell{Parts: kit.Parts(kit.Clip(s, diffClip))}
			if len(s) == 0 {
				cell.Parts = []kit.Part{{Text: empty}}
			} else if len(s) > diffClip {
				cell.Parts = append(cell.Parts, kit.Part{Text: "…"})
			}
			rows.put(i, kind, key, []kit.Part{{Text: key}}, datum{cell, s})
		}
		text("delivery", "exchange", m.Exchange, "default exchange")
		text("delivery", "routing key", m.RoutingKey, `""`)
		text("delivery", "redelivered", []byte(strconv.FormatBool(m.Redelivered)), "")
		if m.HasHeaders {
			t := fieldtable.View(m.Headers, d)
			c := diffCollector{rows: rows, i: i, removed: facts.Within(m.Removed, m.HeadersOffset), left: diffValues}
			c.table(t.Scan(), "", "", 1)
			orders = append(orders, c.order)
			if c.left < 0 {
				diff.Notes = append(
					diff.Notes,
					fmt.Sprintf(
						"Message %d has more than %s header values: only the first are compared one by one, the table as a whole is all the same.",
						m.Seq,
						kit.Num(diffValues),
					),
				)
			}
			if err := t.Valid(); err != nil {
				damage := facts.NewDamage(err, len(m.Headers), len(m.Headers))
				diff.Notes = append(
					diff.Notes,
					fmt.Sprintf(
						"The headers of message %d are damaged at byte %s; what can be read is compared.",
						m.Seq,
						kit.Offset(damage.Offset),
					),
				)
			}
			text("delivery", "header table", sum(m.Headers, uint64(len(m.Headers))), "")
		} else {
			orders = append(orders, nil)
			text("delivery", "header table", []byte("not set"), "")
		}
		for _, p := range m.Properties {
			if p.Form() == wire.FormTable {
				continue
			}
			row := opened.NewProperty(p, m.Removed, d, time.Time{})
			rows.put(i, "property", p.Name, []kit.Part{{Text: p.Name}}, datum{Cell{
				Parts:   row.Parts,
				Removed: row.Removed,
			}, p.Raw})
		}
		text("body", "body size", []byte(kit.Num(m.BodySize)+" B"), "")
		text("body", "body", sum(m.Body, m.BodySize), "")
	}
	diff.Passages = passages(ms, d)
	if len(ms) > 1 && reordered(orders) {
		diff.Notes = append(diff.Notes, "Fields that the messages share stand in another order on the wire.")
	}
	groups := make([]Group, Same+1)
	for _, key := range rows.keys {
		row, verdict := rows.rows[key].judge()
		groups[verdict].Verdict = verdict
		groups[verdict].Rows = append(groups[verdict].Rows, row)
	}
	for _, g := range groups {
		if len(g.Rows) > 0 {
			diff.Groups = append(diff.Groups, g)
		}
	}
	return diff
}

// sum names bytes by their number and hash; whole is how many there were before some were not kept.
func sum(s []byte, whole uint64) []byte {
	if whole == 0 {
		return []byte("empty")
	}
	h := sha256.Sum256(s)
	text := "SHA-256 " + hex.EncodeToString(h[:])
	if uint64(len(s)) < whole {
		text += " of the first " + kit.Num(len(s)) + " B, which are all that is kept"
	} else {
		text = kit.Num(len(s)) + " B, " + text
	}
	return []byte(text)
}

func (r *comparedRow) judge() (Row, Verdict) {
	out := Row{Kind: r.kind, Name: r.name}
	first := slices.IndexFunc(r.data, func(d datum) bool { return d.cell.Set })
	verdict := Same
	removed, missing, changed := false, false, false
	for i, d := range r.data {
		cell := d.cell
		switch {
		case !cell.Set:
			missing = true
		case cell.Removed:
			removed = true
		default:
			cell.Same = cell.Tag == r.data[first].cell.Tag && bytes.Equal(d.raw, r.data[first].raw) &&
				!r.data[first].cell.Removed
			changed = changed || !cell.Same
		}
		if cell.Set && cell.Tag != r.data[first].cell.Tag {
			out.Types, changed = true, true
		}
		r.data[i].cell = cell
		out.Cells = append(out.Cells, cell)
	}
	switch {
	case missing:
		verdict = Missing
	case removed && !out.Types:
		verdict = Unknown
	case changed:
		verdict = Changed
	}
	return out, verdict
}

// reordered reports whether two lists put what they share in different orders.
func reordered(orders [][]string) bool {
	for i, a := range orders {
		for _, b := range orders[i+1:] {
			in := func(list []string) func(string) bool {
				set := map[string]bool{}
				for _, s := range list {
					set[s] = true
				}
				return func(s string) bool { return !set[s] }
			}
			x := slices.DeleteFunc(slices.Clone(a), in(b))
			y := slices.DeleteFunc(slices.Clone(b), in(a))
			if !slices.Equal(x, y) {
				return true
			}
		}
	}
	return false
}

// diffCollector walks one message's header table.
type diffCollector struct {
	rows    *diffRows
	i       int
	removed []archive.Span
	left    int
	order   []string // of the outermost fields: name and occurrence
}

func (c *diffCollector) table(s fieldtable.Scanner, path, key string, level int) {
	seen := map[string]int{}
	for s.Next() && c.left >= 0 {
		f := s.Field()
		name := string(f.Name)
		seen[name]++
		p := query.FieldPath(path, f.Name)
		// A length before the name keeps apart what a separator could not: names hold any bytes.
		k := fmt.Sprintf("%s.%d:%s#%d", key, len(name), name, seen[name])
		if level == 1 {
			c.order = append(c.order, k)
		}
		c.value(f.Value, p, k, seen[name], level)
	}
}

func (c *diffCollector) value(v fieldtable.Value, path, key string, nth, level int) {
	if c.left--; c.left < 0 {
		return
	}
	name := kit.Parts(kit.Clip([]byte(path), diffClip))
	if nth > 1 {
		name = append(name, kit.Part{Text: " (field " + strconv.Itoa(nth) + " of this name)"})
	}
	d := datum{cell: Cell{Tag: v.Tag(), Class: kit.ValueClass(v.Kind())}, raw: v.Raw()}
	inner, isContainer := facts.ContainerOf(v)
	switch {
	case facts.Without(c.removed, v):
		d.cell.Removed = true
		isContainer = false
	case isContainer:
		// What is inside has rows of its own.
		d.raw = nil
		d.cell.Parts = []kit.Part{{Text: v.Kind().String()}}
	default:
		text := v.AppendText(nil)
		d.cell.Parts = kit.Parts(kit.Clip(text, diffClip))
		switch {
		case len(text) == 0:
			d.cell.Parts = []kit.Part{{Text: `""`}}
		case len(text) > diffClip:
			d.cell.Parts = append(d.cell.Parts, kit.Part{Text: fmt.Sprintf("… %s in all", kit.Size(len(v.Raw())))})
		}
	}
	c.rows.put(c.i, "header", key, name, d)
	if !isContainer {
		return
	}
	if inner.Array {
		for i := 0; inner.Scan.Next() && c.left >= 0; i++ {
			c.value(inner.Scan.Field().Value, query.ElementPath(path, i), key+"["+strconv.Itoa(i)+"]", 1, level+1)
		}
		return
	}
	c.table(inner.Scan, path, key, level+1)
}

func (v Verdict) title() string {
	switch v {
	case Changed:
		return "Different"
	case Missing:
		return "Only in some"
	case Unknown:
		return "Not compared: removed by redaction"
	default:
		return "The same"
	}
}
