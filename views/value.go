package views

import (
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
)

const (
	clipBytes   = 160      // of a text or byte value in its row
	inlineBytes = 64 << 10 // of one value behind "show all"
	pageBytes   = 64 << 10 // of a value shown alone
)

// cellRow is how many bytes a row of a dump inside the tree has.
const cellRow = 8

// Value is the text of one value: exact, or clipped with a way to the rest.
type Value struct {
	Class string // its colour: s, i, f, t, T, x, F, A, V
	Kind  string // the type's name: longstr
	Tag   byte

	// Removed: the message was stored without the value, of which nothing else is set.
	Removed bool
	Parts   []Part // the text in its row
	Quoted  bool   // drawn between quotation marks that are not part of the text
	Dump    []DumpRow
	Notes   []Note
	JSON    []Part // a text that reads as JSON, laid out; nil = it does not

	Size int // bytes of the whole value, for texts and bytes
	// Clipped says that Parts or Dump hold only the beginning. All or AllDump then hold the rest of
	// the way, unless the value is too long to be shown in place: MoreURL leads to where it is.
	Clipped bool
	All     []Part
	AllDump []DumpRow
	MoreURL string
	// From and To are the bytes shown of a value shown alone; PrevURL and NextURL lead to its
	// neighbours.
	From, To         int
	PrevURL, NextURL string
}

// Note is a remark beside a value.
type Note struct {
	Text  string
	Guess bool // drawn with the word "guess"
	Time  time.Time
	URL   string // where it leads outside the explorer; only what the configuration names
}

// DumpRow is a few bytes as hex and ASCII.
type DumpRow struct{ Offset, Hex, ASCII string }

// valueBudget bounds how much of the values' whole text one page carries, in bytes.
type valueBudget struct{ left int }

func newValue(v fieldtable.Value, now time.Time, b *valueBudget, alone bool, skip int) Value {
	out := Value{Class: valueClass(v.Kind()), Kind: v.Kind().String(), Tag: v.Tag()}
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
		out.Parts = []Part{{Text: string(v.AppendText(nil))}}
		ts, _ := v.Timestamp()
		out.Notes = timestampNotes(ts, now)
	case fieldtable.KindBool:
		out.Parts = []Part{{Text: string(v.AppendText(nil))}}
		if raw := v.Raw(); len(raw) == 1 && raw[0] > 1 {
			out.Notes = []Note{{Text: "stored as 0x" + hex.EncodeToString(raw) + "; some clients read only 1 as true"}}
		}
	case fieldtable.KindVoid:
		out.Parts = []Part{{Text: "void"}}
	default:
		out.Parts = []Part{{Text: string(v.AppendText(nil))}}
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
		v.Parts = []Part{{Text: `""`}}
		return
	}
	v.Quoted = true
	if alone {
		w := v.window(s, skip)
		v.Parts = Visible(w)
		return
	}
	head := clip(s, clipBytes)
	v.Parts = Visible(head)
	if v.Clipped = len(head) < len(s); v.Clipped && b.take(len(s)) {
		v.All = Visible(s)
	}
}

// bytes fills in a byte string as a dump.
func (v *Value) bytes(s []byte, b *valueBudget, alone bool, skip int) {
	v.Size = len(s)
	switch {
	case len(s) == 0:
		v.Parts = []Part{{Text: "no bytes"}}
	case alone:
		w := v.window(s, skip)
		v.Dump = dump(w, v.From, hexRow)
	case len(s) <= cellRow:
		v.Dump = dump(s, 0, cellRow)
	default:
		v.Dump = dump(s[:min(len(s), 32)], 0, cellRow)
		if v.Clipped = len(s) > 32; v.Clipped && b.take(4*len(s)) {
			v.AllDump = dump(s, 0, cellRow)
		}
	}
}

// window is the part of s that is shown alone. It keeps characters whole at its end; a link to its
// beginning was made the same way.
func (v *Value) window(s []byte, skip int) []byte {
	v.From = min(skip, len(s))
	w := clip(s[v.From:], pageBytes)
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

// milliseconds is where a count of seconds is past the year 5138: more likely milliseconds.
const milliseconds = 100_000_000_000

func timestampNotes(ts fieldtable.Timestamp, now time.Time) []Note {
	var notes []Note
	if t, ok := ts.Time(); ok {
		notes = append(notes, Note{Text: Stamp(t), Time: t})
		if r := relative(t, now); r != "" {
			notes = append(notes, Note{Text: r})
		}
	} else {
		notes = append(notes, Note{Text: "outside the years 1 to 9999"})
	}
	if ts.Unit == fieldtable.Seconds && ts.Value > milliseconds {
		if t, ok := (fieldtable.Timestamp{Value: ts.Value, Unit: fieldtable.Milliseconds}).Time(); ok {
			notes = append(notes, Note{Text: "milliseconds? " + Stamp(t), Guess: true, Time: t})
		}
	}
	return notes
}

// Stamp writes a moment in UTC with no more digits than it has.
func Stamp(t time.Time) string {
	return t.UTC().Format("2006-01-02 15:04:05.999999999") + " UTC"
}

// relative says how far t is from now: "3 min ago", "in 2 d". It is empty when now is not known.
func relative(t, now time.Time) string {
	if now.IsZero() {
		return ""
	}
	d := now.Unix() - t.Unix() // time.Sub stops at 292 years
	future := t.After(now)
	if future {
		d = -d
	}
	var s string
	switch {
	case d < 2 && future:
		return "now"
	case d < 2:
		return "just now"
	case d < 2*60:
		s = strconv.FormatInt(d, 10) + " s"
	case d < 2*3600:
		s = strconv.FormatInt(d/60, 10) + " min"
	case d < 2*86400:
		s = strconv.FormatInt(d/3600, 10) + " h"
	case d < 2*365*86400:
		s = strconv.FormatInt(d/86400, 10) + " d"
	default:
		s = strconv.FormatInt(d/(365*86400+86400/4), 10) + " years"
	}
	if future {
		return "in " + s
	}
	return s + " ago"
}

func valueClass(k fieldtable.Kind) string {
	switch k {
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		return "S"
	case fieldtable.KindInt8, fieldtable.KindUint8, fieldtable.KindInt16, fieldtable.KindUint16,
		fieldtable.KindInt32, fieldtable.KindUint32, fieldtable.KindInt64, fieldtable.KindUint64:
		return "I"
	case fieldtable.KindFloat32, fieldtable.KindFloat64, fieldtable.KindDecimal:
		return "D"
	case fieldtable.KindBool:
		return "t"
	case fieldtable.KindTimestamp:
		return "T"
	case fieldtable.KindBytes, fieldtable.KindChar8:
		return "x"
	case fieldtable.KindTable:
		return "F"
	case fieldtable.KindArray:
		return "A"
	default:
		return "V"
	}
}

// dump lays bytes out in rows of a width; at is the offset of the first one.
func dump(s []byte, at, width int) []DumpRow {
	rows := make([]DumpRow, 0, (len(s)+width-1)/width)
	for len(s) > 0 {
		row := s[:min(width, len(s))]
		rows = append(rows, DumpRow{Offset: hexOffset(at), Hex: spacedHex(row), ASCII: asciiColumn(row)})
		s, at = s[len(row):], at+len(row)
	}
	return rows
}

func spacedHex(s []byte) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 3*len(s))
	for i, c := range s {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, digits[c>>4], digits[c&15])
	}
	return string(b)
}

// asciiColumn writes printable ASCII as it is and everything else as a middle dot.
func asciiColumn(s []byte) string {
	b := make([]byte, 0, 2*len(s))
	for _, c := range s {
		if c >= ' ' && c < 0x7f {
			b = append(b, c)
		} else {
			b = append(b, "·"...)
		}
	}
	return string(b)
}

// hexOffset writes an offset with at least four hexadecimal digits.
func hexOffset(n int) string {
	s := strconv.FormatInt(int64(n), 16)
	if len(s) < 4 {
		return "0000"[len(s):] + s
	}
	return s
}
