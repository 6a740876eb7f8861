// Package opened draws one message: its headers as a tree and as bytes, what clients make of them,
// properties and body.
package opened

import (
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/snippet"
)

// Options say how a message is opened.
type Options struct {
	// with the state of the request: dialect, page of the tree, page of the bytes
	Links   address.Links
	Dialect *fieldtable.Dialect // nil = Lenient
	Older   address.Key         // the next older message in the list; the zero Key = none
	Newer   address.Key         // the next newer one; the zero Key = none
	Now     time.Time           // for relative times; zero leaves them out
	// TraceURL is where traces are shown, with {trace} and {span} where their ids go; "" = nowhere.
	TraceURL string
	// FrameMax is the largest frame that the broker takes, in octets; 0 = not known.
	FrameMax int
	// Print is that of the message, for links that mean it and no other; "" = there are none.
	Print string
	// Counterpart is the message as it passed a relay the other way: what was delivered of a
	// publish, or what was published of a delivery. Nil = that is not known.
	Counterpart *facts.Message
	// Pasted says that the message is bytes from elsewhere; Links then has Pasted set. Nil = it is
	// in the archive.
	Pasted *Pasted
}

// Pasted is what the page knows of bytes that someone brought.
type Pasted struct {
	Size int
	As   string // what they are read as, in words: "field table"
	How  string // how they were given: "hex", "hexdump", "base64"; "" = as they are
	// Other is the other thing they can be read as, and OtherURL leads there; "" = nothing.
	Other, OtherURL string
}

// Opened is an opened message, ready to be drawn.
type Opened struct {
	Links        address.Links
	Message      facts.Message
	Older, Newer address.Key
	Now          time.Time
	Print        string // as in Options
	Headers      Headers
	Hex          Hex
	Properties   []PropertyRow
	// FrameMax is as in Options where the content header is larger than such a frame can carry; 0 =
	// it is not.
	FrameMax int
	Body     Body
	// Readings is how clients read the table; only worked out on its tab.
	Readings []fieldtable.Reading
	// Deaths is the x-death header; nil = there is none.
	Deaths *Deaths
	// Converted is what is known of another protocol that the message comes from; nil = nothing.
	Converted *Converted
	// Code is the message as code; only written on its tab.
	Code   *snippet.Code
	Pasted *Pasted
	// Passage is how it passed through a relay; nil = it did not.
	Passage *Passage
}

// damaged reports whether some of the content header cannot be read.
func (in *Opened) damaged() bool {
	return in.Headers.Damage != nil || in.Message.PropertiesErr != ""
}

// laidOpen reports whether the page shows what Converted is about.
func (in *Opened) laidOpen() bool {
	return in.Converted != nil && in.Links.State.Tab == address.TabLaidOpen
}

// Build opens a message. It decodes the whole header table; whoever calls it counts that.
func Build(m facts.Message, o Options) Opened {
	d := o.Dialect
	if d == nil {
		d = fieldtable.Lenient()
	}
	o.Links.Open = m.Key()
	in := Opened{
		Links: o.Links, Message: m, Older: o.Older, Newer: o.Newer, Now: o.Now, Print: o.Print, Pasted: o.Pasted,
	}
	if size := len(m.ContentHeader) + wire.FrameOverhead; o.FrameMax > 0 && size > o.FrameMax {
		in.FrameMax = o.FrameMax
	}
	in.Passage = buildPassage(m, o.Counterpart, d, o.Links)
	in.Body = BuildBody(m.Body, m.BodySize, o.Links, m.Key())
	for _, p := range m.Properties {
		in.Properties = append(in.Properties, NewProperty(p, m.Removed, d, o.Now))
	}
	tree := TreeOptions{
		Links:    o.Links,
		Key:      m.Key(),
		Now:      o.Now,
		TraceURL: o.TraceURL,
		FrameMax: o.FrameMax,
		Removed:  facts.Within(m.Removed, m.HeadersOffset),
	}
	var t fieldtable.Table
	if m.HasHeaders {
		t = fieldtable.View(m.Headers, d)
	}
	in.Converted = buildConverted(m, t, tree)
	if !m.HasHeaders {
		if o.Links.State.Tab == address.TabCode {
			code := snippet.Build(m, fieldtable.Table{}, o.Links)
			in.Code = &code
		}
		return in
	}
	hints := fieldtable.Hints(t)
	h := &in.Headers
	h.Set = true
	if o.Links.State.Tab == address.TabReadings {
		in.Readings = fieldtable.Readings(t)
	}
	if d, ok := buildDeaths(t, tree); ok {
		in.Deaths = &d
	}
	if o.Links.State.Tab == address.TabCode {
		code := snippet.Build(m, t, o.Links)
		in.Code = &code
	}
	h.Tree = BuildTree(m.Headers, t, hints, tree)
	from := o.Links.State.Hex
	if from == 0 && o.Links.State.At != 0 && len(h.Tree.Nodes) > 0 {
		from = h.Tree.Nodes[0].Offset // where the tree begins
	}
	in.Hex = BuildHex(m.Headers, t, from, o.Links, m.Key())
	h.Hints = hints
	if err := t.Valid(); err != nil {
		h.Damage = facts.NewDamage(err, len(m.Headers), len(m.Headers))
		for _, other := range fieldtable.ExactDialects(m.Headers) {
			h.Others = append(h.Others, dialectOption(other, false, o.Links, m.Key()))
		}
	}
	for _, other := range fieldtable.Dialects() {
		h.Dialects = append(h.Dialects, dialectOption(other, other == d, o.Links, m.Key()))
	}
	return in
}
