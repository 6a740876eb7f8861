package opened

import (
	"encoding/hex"
	"time"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/views/kit"
)

const (
	clipBytes   = 160      // of a text or byte value in its row
	inlineBytes = 64 << 10 // of one value behind "show all"
	pageBytes   = 64 << 10 // of a value shown alone
)

// Value is the text of one value: exact, or clipped with a way to the rest.
type Value struct {
	Class string // its colour: s, i, f, t, T, x, F, A, V
	Kind  string // the type's name: longstr
	Tag   byte

	// Removed: the message was stored without the value, of which nothing else is set.
	Removed bool
	Parts   []kit.Part // the text in its row
	Quoted  bool       // drawn between quotation marks that are not part of the text
	Dump    []kit.DumpRow
	Notes   []Note
	JSON    []kit.Part // a text that reads as JSON, laid out; nil = it does not

	Size int // bytes of the whole value, for texts and bytes
	// Clipped says that Parts or Dump hold only the beginning. All or AllDump then hold the rest of
	// the way, unless the value is too long to be shown in place: MoreURL leads to where it is.
	Clipped bool
	All     []kit.Part
	AllDump []kit.DumpRow
	MoreURL string
	// From and To are the bytes shown of a value shown alone; PrevURL and NextURL lead to its
	// neighbours.
	From, To         int
	PrevURL, NextURL string
}

// valueBudget bounds how much of the values' whole text one page carries, in bytes.
type valueBudget struct{ left int }

func newValue(v fieldtable.Value, now time.Time, b *valueBudget, alone bool, skip int) Value {
	out := Value{Class: kit.ValueClass(v.Kind()), Kind: v.Kind().String(), Tag: v.Tag()}
	switch v.Kind() {
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		s, _ := v.Text()
		out.text(s, b, alone, skip)
	case fieldtable.KindBytes, fieldtable.KindChar8:
		s, _ := v.Bytes()
		out.bytes(s, b, alone, skip)
	case fieldtable.KindTable, fieldtable.KindArray:
		// counted by the tree
	case fieldtable.KindTimestamp:
		out.Parts = []kit.Part{{Text: string(v.AppendText(nil))}}
		ts, _ := v.Timestamp()
		out.Notes = timestampNotes(ts, now)
	case fieldtable.KindBool:
		out.Parts = []kit.Part{{Text: string(v.AppendText(nil))}}
		if raw := v.Raw(); len(raw) == 1 && raw[0] > 1 {
			out.Notes = []Note{{Text: "stored as 0x" + hex.EncodeToString(raw) + "; some clients read only 1 as true"}}
		}
	case fieldtable.KindVoid:
		out.Parts = []kit.Part{{Text: "void"}}
	default:
		out.Parts = []kit.Part{{Text: string(v.AppendText(nil))}}
	}
	return out
}

// text fills in a string: as text when it is UTF-8, as bytes otherwise.
func (v *Value) text(s []byte, b *valueBudget, alone bool, skip int) {
	if !utf8.Valid(s) {
		v.bytes(s, b, alone, skip)
		v.Notes = append(v.Notes, Note{Text: "not UTF-8"})
		return
	}
	v.Size = len(s)
	if len(s) == 0 {
		v.Parts = []kit.Part{{Text: `""`}}
		return
	}
	v.Quoted = true
	if alone {
		w := v.window(s, skip)
		v.Parts = kit.Parts(w)
		return
	}
	head := kit.Clip(s, clipBytes)
	v.Parts = kit.Parts(head)
	if v.Clipped = len(head) < len(s); v.Clipped && b.take(len(s)) {
		v.All = kit.Parts(s)
	}
}

// bytes fills in a byte string as a dump.
func (v *Value) bytes(s []byte, b *valueBudget, alone bool, skip int) {
	v.Size = len(s)
	switch {
	case len(s) == 0:
		v.Parts = []kit.Part{{Text: "no bytes"}}
	case alone:
		w := v.window(s, skip)
		v.Dump = kit.Dump(w, v.From, kit.DumpRowBytes)
	case len(s) <= kit.CellRowBytes:
		v.Dump = kit.Dump(s, 0, kit.CellRowBytes)
	default:
		v.Dump = kit.Dump(s[:min(len(s), 32)], 0, kit.CellRowBytes)
		if v.Clipped = len(s) > 32; v.Clipped && b.take(4*len(s)) {
			v.AllDump = kit.Dump(s, 0, kit.CellRowBytes)
		}
	}
}

// window is the part of s that is shown alone. It keeps characters whole at its end; a link to its
// beginning was made the same way.
func (v *Value) window(s []byte, skip int) []byte {
	v.From = min(skip, len(s))
	w := kit.Clip(s[v.From:], pageBytes)
	v.To = v.From + len(w)
	return w
}

func (b *valueBudget) take(n int) bool {
	if n > inlineBytes || n > b.left {
		return false
	}
	b.left -= n
	return true
}
