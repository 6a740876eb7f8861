package opened

import (
	"math/bits"
	"slices"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/facts"
	"github.com/headerglass/headerglass/views/kit"
)

// xDeath is the header that RabbitMQ keeps of a message's dead-letterings: an array of tables, one
// for each queue and reason, with the latest first (https://www.rabbitmq.com/docs/dlx).
const xDeath = "x-death"

// maxDeaths bounds the rows of a timeline; RabbitMQ writes one for each queue and reason.
const maxDeaths = 200

// Deaths is a message's x-death header as a timeline.
type Deaths struct {
	Rows []Death
	// Flat are the first and the last death as the headers x-first-death-* and x-last-death-* tell
	// them.
	Flat []FlatDeath
	// Missing says that there is no x-death, only headers of the Flat ones.
	Missing bool
	// Odd says in one sentence why there are no rows, though the header is there.
	Odd string
	// More is how many entries are not shown.
	More int
	// Total is the sum of the counts that can be read; Counted is how many entries have one.
	// Overflow says that the sum is beyond 64 bits.
	Total    uint64
	Overflow bool
	Counted  int
	// First and Last are the earliest and the latest time that can be read; zero = none.
	First, Last time.Time
	// Damage is what ends the header early; nil = nothing.
	Damage *facts.Damage
	// Fields is how many headers of this name there are; the first one is shown.
	Fields int
	URL    string // the header in the tree
}

// FlatDeath is a death that RabbitMQ tells in headers of its own.
type FlatDeath struct {
	When                    string // first or last
	Queue, Reason, Exchange DeathValue
	Reading                 string
	URL                     string // the first of the headers in the tree
}

// Death is one entry: what happened to the message in one queue for one reason.
type Death struct {
	Index  int
	Odd    string // why it is no entry; "" = it is one
	Queue  DeathValue
	Reason DeathValue
	// Exchange and Keys are where the message had been published to when it died.
	Exchange   DeathValue
	Keys       []DeathValue
	Count      DeathValue
	Time       DeathValue
	Expiration DeathValue // original-expiration
	Damage     *facts.Damage
	Reading    string // what happened, in words
	URL        string // the entry in the tree
}

// DeathValue is one value of an entry, exact. The zero value is absent.
type DeathValue struct {
	Set     bool
	Removed bool
	Parts   []kit.Part
	Tag     byte
	Kind    string // when it is not the type that RabbitMQ writes
	Notes   []Note
}

// empty reports whether the value is there, as an empty text.
func (v DeathValue) empty() bool {
	return v.Set && !v.Removed && len(v.Parts) == 1 && v.Parts[0].Text == `""`
}

// buildDeaths reads the header out of a table. ok is false when the table has neither it nor one of
// the flat headers before any damage.
func buildDeaths(t fieldtable.Table, o TreeOptions) (d Deaths, ok bool) {
	b := &treeBuilder{TreeOptions: o}
	for _, when := range []string{"first", "last"} {
		if flat, ok := b.flatDeath(t, when); ok {
			d.Flat = append(d.Flat, flat)
		}
	}
	var field fieldtable.Field
	for s := t.Scan(); s.Next(); {
		if f := s.Field(); string(f.Name) == xDeath {
			if d.Fields++; d.Fields == 1 {
				field = f
			}
		}
	}
	if d.Fields == 0 {
		d.Missing = len(d.Flat) > 0
		if d.Missing {
			d.URL = d.Flat[0].URL
		}
		return d, d.Missing
	}
	d.URL = b.at(field.Offset, 0)
	if facts.Without(b.Removed, field.Value) {
		d.Odd = "The header was stored without its value: redaction removes it."
		return d, true
	}
	array, isArray := field.Value.Array()
	if !isArray {
		d.Odd = "RabbitMQ writes x-death as an array of tables; this one is of type " + field.Value.Kind().
			String() +
			"."
		return d, true
	}
	s := array.Scan()
	for s.Next() {
		v := s.Field().Value
		if len(d.Rows) == maxDeaths {
			d.More++
		} else {
			row := b.death(v)
			row.Index = len(d.Rows)
			row.URL = b.at(v.Offset(), 0)
			d.Rows = append(d.Rows, row)
		}
		entry, isTable := v.Table()
		if !isTable {
			continue
		}
		if n, ok := entry.Get("count"); ok && !facts.Without(b.Removed, n) {
			if count, ok := n.Int64(); ok && count >= 0 {
				sum, carry := bits.Add64(d.Total, uint64(count), 0)
				d.Total, d.Overflow = sum, d.Overflow || carry != 0
				d.Counted++
			}
		}
		if at, ok := entry.Get("time"); ok && !facts.Without(b.Removed, at) {
			if ts, ok := at.Timestamp(); ok {
				if moment, ok := ts.Time(); ok {
					if d.First.IsZero() || moment.Before(d.First) {
						d.First = moment
					}
					if moment.After(d.Last) {
						d.Last = moment
					}
				}
			}
		}
	}
	if err := s.Err(); err != nil {
		d.Damage = facts.NewDamage(err, s.Offset(), field.Value.End())
	}
	if len(d.Rows) == 0 && d.Damage == nil {
		d.Odd = "The header is an empty array."
	}
	return d, true
}

// flatDeath reads the headers x-first-death-queue and so on, or those of the last death.
func (b *treeBuilder) flatDeath(t fieldtable.Table, when string) (d FlatDeath, ok bool) {
	d.When = when
	for _, part := range []struct {
		name  string
		value *DeathValue
	}{{"queue", &d.Queue}, {"reason", &d.Reason}, {"exchange", &d.Exchange}} {
		name := "x-" + when + "-death-" + part.name
		v, err := t.Lookup(name)
		if err != nil {
			continue
		}
		*part.value = b.deathValue(v, fieldtable.KindLongStr)
		if d.URL == "" {
			d.URL = b.at(v.Offset()-1-len(name), 0)
		}
		if text, isText := v.Text(); isText && part.name == "reason" && !part.value.Removed {
			d.Reading = reasonWords(string(text))
		}
	}
	return d, d.URL != ""
}

func (b *treeBuilder) death(v fieldtable.Value) Death {
	var d Death
	t, ok := v.Table()
	if !ok {
		d.Odd = "not a table but of type " + v.Kind().String()
		return d
	}
	if facts.Without(b.Removed, v) {
		d.Odd = kit.RemovedText
		return d
	}
	get := func(name string, kinds ...fieldtable.Kind) DeathValue {
		v, ok := t.Get(name)
		if !ok {
			return DeathValue{}
		}
		return b.deathValue(v, kinds...)
	}
	d.Queue = get("queue", fieldtable.KindLongStr)
	d.Reason = get("reason", fieldtable.KindLongStr)
	d.Exchange = get("exchange", fieldtable.KindLongStr)
	d.Count = get("count", fieldtable.KindInt64)
	d.Time = get("time", fieldtable.KindTimestamp)
	d.Expiration = get("original-expiration", fieldtable.KindLongStr)
	if v, ok := t.Get("routing-keys"); ok {
		if keys, isArray := v.Array(); isArray && !facts.Without(b.Removed, v) {
			for key := range keys.All() {
				if key.IsZero() {
					break // damage, which the entry as a whole reports
				}
				if len(d.Keys) == 20 {
					d.Keys = append(d.Keys, DeathValue{Set: true, Parts: []kit.Part{{Text: "…"}}, Tag: 'S'})
					break
				}
				d.Keys = append(d.Keys, b.deathValue(key, fieldtable.KindLongStr))
			}
		} else {
			d.Keys = []DeathValue{b.deathValue(v)}
		}
	}
	if v, ok := t.Get("reason"); ok && !facts.Without(b.Removed, v) {
		reason, _ := v.Text()
		d.Reading = reasonWords(string(reason))
	}
	if err := t.Valid(); err != nil {
		d.Damage = facts.NewDamage(err, v.End(), v.End())
	}
	return d
}

func (b *treeBuilder) deathValue(v fieldtable.Value, kinds ...fieldtable.Kind) DeathValue {
	out := DeathValue{Set: true, Tag: v.Tag()}
	if !slices.Contains(kinds, v.Kind()) {
		out.Kind = v.Kind().String()
	}
	if facts.Without(b.Removed, v) {
		out.Removed = true
		return out
	}
	text := v.AppendText(nil)
	if len(text) == 0 {
		out.Parts = []kit.Part{{Text: `""`}}
	} else if head := kit.Clip(text, clipBytes); len(head) < len(text) {
		out.Parts = append(kit.Parts(head), kit.Part{Text: "…"})
	} else {
		out.Parts = kit.Parts(text)
	}
	if ts, ok := v.Timestamp(); ok {
		out.Notes = timestampNotes(ts, b.Now)
	}
	return out
}

// reasonWords explains the reasons that RabbitMQ gives.
func reasonWords(reason string) string {
	switch reason {
	case "rejected":
		return "a consumer rejected it without requeueing"
	case "expired":
		return "it outlived its time to live"
	case "maxlen":
		return "the queue was over its length limit"
	case "delivery_limit":
		return "it was returned more often than the quorum queue allows"
	default:
		return ""
	}
}

func deathsSentence(d *Deaths) string {
	var s string
	all := len(d.Rows) + d.More
	n, uncounted := kit.Plural(all, "entry"), all-d.Counted
	switch {
	case d.Overflow:
		s = "Dead-lettered more than 2⁶⁴ times, in " + n
	case d.Counted > 0 && (uncounted > 0 || d.Damage != nil):
		s = "Dead-lettered at least " + kit.Plural(d.Total, "time") + ", in " + n
	case d.Counted > 0:
		s = "Dead-lettered " + kit.Plural(d.Total, "time") + ", in " + n
	default:
		s = "Dead-lettered, in " + n
	}
	switch {
	case d.First.IsZero():
	case d.First.Equal(d.Last):
		s += ", at " + kit.Stamp(d.Last)
	default:
		s += ", from " + kit.Stamp(d.First) + " to " + kit.Stamp(d.Last)
	}
	switch {
	case uncounted == 1:
		s += "; one entry has no usable count"
	case uncounted > 1:
		s += "; " + kit.Plural(uncounted, "entry") + " have no usable count"
	}
	return s + ". The latest stands first, as RabbitMQ writes it; a time is that of an entry's first death."
}
