package facts

import (
	"errors"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/address"
)

// Damage is where and why a table cannot be read on.
type Damage struct {
	Offset int    // bytes from the first octet of the table's length
	Reason string // in plain words, without the offset
	Code   string // as in the JSON: unknown_tag
	Path   string
	Rest   address.Range // the bytes that stay unread because of it
}

// NewDamage describes what a scan met. at is where it stopped, end where what it scanned ends.
func NewDamage(err error, at, end int) *Damage {
	se, ok := errors.AsType[*fieldtable.SyntaxError](err)
	if !ok {
		return &Damage{Offset: at, Reason: err.Error(), Code: "unknown"}
	}
	d := &Damage{Offset: se.Offset, Code: se.Reason(), Path: se.Path, Reason: se.Err.Error()}
	if se.HasTag {
		tag := string(fieldtable.AppendTag(nil, se.Tag))
		if errors.Is(err, fieldtable.ErrUnknownTag) {
			d.Reason += " " + tag
		} else {
			d.Reason += " (tag " + tag + ")"
		}
	}
	if from := max(at, se.Offset); from < end {
		d.Rest = address.Range{Start: from, End: end}
	}
	return d
}
