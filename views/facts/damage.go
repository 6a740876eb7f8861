package facts

import (
	"errors"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
)

// Damage is where and why a table cannot be read on. Offset counts from the first octet of the
// table's length.
type Damage struct {
	*fieldtable.SyntaxError
	Rest archive.Span // the bytes that stay unread because of it
}

// NewDamage describes what a scan met. at is where it stopped, end where what it scanned ends.
func NewDamage(err error, at, end int) *Damage {
	se, ok := errors.AsType[*fieldtable.SyntaxError](err)
	if !ok {
		se = &fieldtable.SyntaxError{Offset: at, Err: err}
	}
	d := &Damage{SyntaxError: se}
	if from := max(at, se.Offset); from < end {
		d.Rest = archive.Span{From: from, To: end}
	}
	return d
}

// Words say why, without the offset.
func (d *Damage) Words() string {
	if !d.HasTag {
		return d.Err.Error()
	}
	tag := string(fieldtable.AppendTag(nil, d.Tag))
	if errors.Is(d.Err, fieldtable.ErrUnknownTag) {
		return d.Err.Error() + " " + tag
	}
	return d.Err.Error() + " (tag " + tag + ")"
}
