package views

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// InspectorOptions say how a message is opened.
type InspectorOptions struct {
	// with the state of the request: dialect, page of the tree, page of the bytes
	Links   Links
	Dialect *fieldtable.Dialect // nil = Lenient
	Older   uint64              // the next older message in the list; 0 = none
	Newer   uint64              // the next newer one; 0 = none
	Now     time.Time           // for relative times; zero leaves them out
	// TraceURL is where traces are shown, with {trace} and {span} where their ids go; "" = nowhere.
	TraceURL string
	// Pasted says that the message is bytes from elsewhere; Links then has Pasted set. Nil = it is
	// in the archive.
	Pasted *Pasted
}

// Pasted is what the page knows of bytes that someone brought.
type Pasted struct {
	Size int
	As   string // what they are read as, in words: "field table"
	// Other is the other thing they can be read as, and OtherURL leads there; "" = nothing.
	Other, OtherURL string
}

// Inspector is an opened message, ready to be drawn.
type Inspector struct {
	Links        Links
	Message      Message
	Older, Newer uint64
	Now          time.Time
	Headers      Headers
	Hex          Hex
	Properties   []PropertyRow
	Body         Body
	// Readings is how clients read the table; only worked out on its tab.
	Readings []fieldtable.Reading
	// Deaths is the x-death header; nil = there is none.
	Deaths *Deaths
	// Code is the message as code; only written on its tab.
	Code   *Code
	Pasted *Pasted
}

// The values of a Query's Tab, besides none for the fields.
const (
	tabReadings = "readings" // how clients read the table
	tabDeaths   = "x-death"
	tabCode     = "code"
)

// Headers is the header table as a tree.
type Headers struct {
	Set      bool // the headers property is there
	Dialects []DialectOption
	Tree     Tree
	// Damage is the first damage of the table in depth-first wire order; nil = none.
	Damage *Damage
	// Others are the readings that consume the bytes exactly, where the chosen one does not.
	Others []DialectOption
	Hints  []Hint
}

// DialectOption is a dialect with the address of the message read that way.
type DialectOption struct {
	Name, Description, URL string
	Selected               bool
}

// Damage is where and why a table cannot be read on.
type Damage struct {
	Offset int    // bytes from the first octet of the table's length
	Reason string // in plain words, without the offset
	Code   string // as in the JSON: unknown_tag
	Path   string
	Rest   Range // the bytes that stay unread because of it
}

// Hint is another way to read a value, labelled as a guess.
type Hint struct {
	Path   string
	Text   string
	Offset int
}

// PropertyRow is a basic property, drawn.
type PropertyRow struct {
	Name        string
	Parts       []Part
	Empty       bool // an empty string
	Removed     bool // the message was stored without its value
	Notes       []Note
	Offset, End int
}

// damaged reports whether some of the content header cannot be read.
func (in *Inspector) damaged() bool {
	return in.Headers.Damage != nil || in.Message.PropertiesErr != ""
}

// BuildInspector opens a message: the one place where a whole header table is decoded.
func BuildInspector(m Message, o InspectorOptions) Inspector {
	d := o.Dialect
	if d == nil {
		d = fieldtable.Lenient()
	}
	o.Links.Open = m.Seq
	in := Inspector{Links: o.Links, Message: m, Older: o.Older, Newer: o.Newer, Now: o.Now, Pasted: o.Pasted}
	in.Body = BuildBody(m.Body, m.BodySize, o.Links, m.Seq)
	for _, p := range m.Properties {
		in.Properties = append(in.Properties, newProperty(p, m.Removed, o.Now))
	}
	tree := TreeOptions{
		Links:    o.Links,
		Seq:      m.Seq,
		Now:      o.Now,
		TraceURL: o.TraceURL,
		Removed:  within(m.Removed, m.HeadersOffset),
	}
	if !m.HasHeaders {
		if o.Links.Query.Tab == tabCode {
			code := BuildCode(m, fieldtable.Table{}, o.Links)
			in.Code = &code
		}
		return in
	}
	t := fieldtable.View(m.Headers, d)
	hints := fieldtable.Hints(t)
	h := &in.Headers
	h.Set = true
	if o.Links.Query.Tab == tabReadings {
		in.Readings = fieldtable.Readings(t)
	}
	if d, ok := buildDeaths(t, tree); ok {
		in.Deaths = &d
	}
	if o.Links.Query.Tab == tabCode {
		code := BuildCode(m, t, o.Links)
		in.Code = &code
	}
	h.Tree = BuildTree(m.Headers, t, hints, tree)
	from := o.Links.Query.Hex
	if from == 0 && o.Links.Query.At != 0 && len(h.Tree.Nodes) > 0 {
		from = h.Tree.Nodes[0].Offset // where the tree begins
	}
	in.Hex = BuildHex(m.Headers, t, from, o.Links, m.Seq)
	for _, hint := range hints {
		h.Hints = append(h.Hints, Hint{Path: hint.Path, Text: hint.Text, Offset: hint.Offset})
	}
	if err := t.Valid(); err != nil {
		h.Damage = newDamage(err, len(m.Headers), len(m.Headers))
		for _, other := range fieldtable.ExactDialects(m.Headers) {
			h.Others = append(h.Others, dialectOption(other, false, o.Links, m.Seq))
		}
	}
	for _, other := range fieldtable.Dialects() {
		h.Dialects = append(h.Dialects, dialectOption(other, other == d, o.Links, m.Seq))
	}
	return in
}

func dialectOption(d *fieldtable.Dialect, selected bool, links Links, seq uint64) DialectOption {
	return DialectOption{
		Name: d.Name(), Description: d.Description(), Selected: selected,
		// Offsets inside the table may mean other fields in another dialect.
		URL: links.Inspect(seq, func(q *Query) { q.Dialect, q.At, q.Skip = d.Name(), 0, 0 }),
	}
}

func newProperty(p wire.Property, removed []Range, now time.Time) PropertyRow {
	row := PropertyRow{Name: p.Name, Offset: p.Offset, End: p.End}
	switch {
	case p.Form() != wire.FormTable && touched(removed, p.Offset, p.End):
		row.Removed = true
	case p.Form() == wire.FormTable:
		row.Parts = []Part{{Text: strconv.Itoa(len(p.Raw)) + " bytes"}}
		row.Notes = []Note{{Text: "shown above"}}
	case p.Form() == wire.FormOctet && len(p.Raw) == 1:
		row.Parts = []Part{{Text: strconv.Itoa(int(p.Raw[0]))}}
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
		row.Parts = []Part{{Text: strconv.FormatInt(n, 10)}}
		row.Notes = timestampNotes(fieldtable.Timestamp{Value: n}, now)
	case len(p.Raw) == 0:
		row.Parts = []Part{{Text: `""`}}
		row.Empty = true
	default:
		row.Parts = Visible(p.Raw)
	}
	return row
}
