package bodies

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// Row is one value as a line of a listing, in the order of the octets.
type Row struct {
	Level       int
	Offset, End int    // in octets from the first one read
	Name        string // a map's key, a field's name, an item's place; empty: the value stands alone
	Type        string // as its specification writes it; empty for damage
	Text        string // of a container, how many items it claims
	Cut         bool   // Text is only the beginning
	Damage      string // why what follows, on this level, cannot be read
}

// maxRowText bounds the text of a row, in octets.
const maxRowText = 1024

// maxKeyText bounds the name of a row, in octets.
const maxKeyText = 255

// listing collects rows up to a limit.
type listing struct {
	rows []Row
	max  int
	more bool // there are rows beyond the limit
}

func (l *listing) add(r Row) bool {
	if len(l.rows) >= l.max {
		l.more = true
		return false
	}
	if len(r.Text) > maxRowText {
		n := maxRowText
		for n > 0 && !utf8.RuneStart(r.Text[n]) {
			n--
		}
		r.Text, r.Cut = r.Text[:n], true
	}
	l.rows = append(l.rows, r)
	return true
}

func (l *listing) damage(level int, err error) {
	r := Row{Level: level, Damage: err.Error()}
	if e, ok := errors.AsType[*SyntaxError](err); ok {
		r.Offset, r.End, r.Damage = e.Offset, e.Offset, e.Err.Error()
	}
	l.add(r)
}

// named is a map's key as the name of a row.
func named(key []byte) string {
	if len(key) == 0 {
		return `""`
	}
	return string(key[:min(len(key), maxKeyText)])
}

func place(i int) string { return "[" + strconv.Itoa(i) + "]" }

func items(n uint64) string {
	if n == 1 {
		return "1 item"
	}
	return strconv.FormatUint(n, 10) + " items"
}
