package opened

import (
	"strconv"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/views/address"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

// Passage is how a message passed through a relay, ready to be drawn.
type Passage struct {
	source.Passage
	// Other is the likeliest message that this one is on its other way; 0 = none is known.
	Other uint64
	// Changes are from the published to the delivered of the two; nil with Other set = there are
	// none.
	Changes []facts.Change
	Against string // leads to both side by side
}

// buildPassage compares m with the message that it is on its other way, nil where that is not
// known.
func buildPassage(m facts.Message, other *facts.Message, d *fieldtable.Dialect, links address.Links) *Passage {
	if m.Passage == nil {
		return nil
	}
	p := &Passage{Passage: *m.Passage}
	if other == nil {
		return p
	}
	published, delivered := m, *other
	if p.Method != source.Publish {
		published, delivered = *other, m
	}
	p.Other = other.Seq
	p.Changes = facts.Changes(published, delivered, d)
	p.Against = links.Diff(published.Key(), delivered.Key())
	return p
}

// sibling names another message of the same source.
func (in *Opened) sibling(seq uint64) address.Key {
	return address.Key{Source: in.Message.Source, Seq: seq}
}

// title is what happened.
func (p *Passage) title() string {
	switch p.Method {
	case source.Publish:
		return "Published"
	case source.Return:
		return "Returned to its publisher"
	case source.GetOk:
		return "Fetched with basic.get"
	default:
		return "Delivered"
	}
}

// outcome is what came of it, in words.
func (p *Passage) outcome() string {
	after := ""
	if p.After > 0 {
		after = " after " + kit.Span(p.After)
	}
	switch p.Outcome {
	case source.Awaited:
		if p.Method == source.Publish {
			return "no confirm yet"
		}
		return "not acknowledged yet"
	case source.Confirmed:
		return "confirmed by the broker" + after
	case source.Refused:
		return "refused by the broker (basic.nack)" + after
	case source.Returned:
		return "returned by the broker" + after
	case source.Acknowledged:
		return "acknowledged" + after
	case source.Rejected:
		return "rejected" + after
	case source.Requeued:
		return "given back to the queue" + after
	case source.Closed:
		return "the channel ended before an answer" + after
	case source.Missed:
		return "not known: some of this connection passed unread"
	}
	switch {
	case p.Method == source.Publish:
		return "the publisher asked for no confirm"
	case p.NoAck:
		return "needs no acknowledgement"
	}
	return ""
}

// reason is the broker's, such as 312 NO_ROUTE.
func (p *Passage) reason() string {
	if p.Code == 0 {
		return ""
	}
	return strconv.Itoa(int(p.Code)) + " " + p.Text
}

// flags are those of basic.publish that are set.
func (p *Passage) flags() string {
	switch {
	case p.Mandatory && p.Immediate:
		return "mandatory, immediate"
	case p.Mandatory:
		return "mandatory"
	case p.Immediate:
		return "immediate"
	}
	return ""
}

// client is the client library in its own words.
func (p *Passage) client() string {
	c := p.Connection
	words := c.Product
	if c.Version != "" {
		words += " " + c.Version
	}
	if c.Name != "" {
		words += ", named " + c.Name
	}
	return words
}

// ways are the messages that this one is elsewhere.
func (p *Passage) ways() (ways []way) {
	for _, w := range []way{{"Published as", p.Published}, {"Delivered as", p.Delivered}, {"Returned as", p.Returned}} {
		if len(w.seqs) > 0 {
			ways = append(ways, w)
		}
	}
	return ways
}

type way struct {
	title string
	seqs  []uint64
}
