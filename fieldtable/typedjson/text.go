package typedjson

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/plural"
)

// AppendText appends a table for reading in a terminal: one field a line with its offset, tag and
// type, nested ones indented, damage where it is, then what else the octets could mean. Names and
// strings are quoted so that no control or bidirectional character gets through. Every line ends
// with a newline and none with a space.
func AppendText(dst []byte, t fieldtable.Table) []byte {
	dst = fmt.Appendf(dst, "dialect %s, ", t.Dialect().Name())
	if n, ok := t.DeclaredLen(); ok {
		dst = fmt.Appendf(dst, "length %d\n", n)
	} else {
		dst = append(dst, "length missing\n"...)
	}
	w := text{dst: dst, whole: t.Whole()}
	s := t.Scan()
	w.elements(&s, 0, len(w.whole))
	if w.damaged {
		w.otherDialects(t)
	}
	w.hints(t)
	return w.dst
}

type text struct {
	dst     []byte
	whole   []byte // what offsets count into
	damaged bool
}

// maxRest bounds how many of the octets that damage leaves unread are printed.
const maxRest = 64

// elements writes what s reads, which ends at the offset end.
func (w *text) elements(s *fieldtable.Scanner, level, end int) {
	for s.Next() {
		f := s.Field()
		tag := fieldtable.AppendTag(nil, f.Value.Tag())
		w.head(f.Offset, strings.Trim(string(tag), "'"), f.Value.Kind().String(), level)
		if f.Name != nil {
			w.dst = appendName(w.dst, f.Name)
		} else {
			w.dst = fieldtable.AppendIndex(w.dst, s.Index())
		}
		if inner, ok := s.Into(); ok {
			w.dst = fmt.Appendf(w.dst, " (%s)\n", plural.Of(len(f.Value.Raw()), "byte"))
			w.elements(&inner, level+1, f.End)
			continue
		}
		w.dst = append(w.dst, " = "...)
		w.dst = appendShown(w.dst, f.Value)
		w.dst = append(w.dst, '\n')
	}
	if e, ok := errors.AsType[*fieldtable.SyntaxError](s.Err()); ok {
		w.damaged = true
		w.head(e.Offset, "!", e.Reason(), level)
		w.dst = appendLine(w.dst, e.Error())
		w.dst = append(w.dst, '\n')
		if rest := w.whole[min(e.Offset, end):end]; len(rest) > 0 {
			w.head(e.Offset, "", "unread", level)
			w.dst = append(w.dst, "0x"...)
			w.dst = hex.AppendEncode(w.dst, rest[:min(len(rest), maxRest)])
			if len(rest) > maxRest {
				w.dst = append(w.dst, "…"...)
			}
			w.dst = fmt.Appendf(w.dst, " (%s)\n", plural.Of(len(rest), "byte"))
		}
	}
}

// head writes the columns before the name: the offset, the tag, the type or reason.
func (w *text) head(offset int, tag, kind string, level int) {
	w.dst = fmt.Appendf(w.dst, "%7d  %-4s  %-9s  %s", offset, tag, kind, strings.Repeat("  ", level))
}

func (w *text) otherDialects(t fieldtable.Table) {
	exact := fieldtable.ExactDialects(t.Whole())
	if len(exact) == 0 {
		w.dst = append(w.dst, "\nno dialect reads this without damage\n"...)
		return
	}
	w.dst = append(w.dst, "\nread without damage by --dialect"...)
	for i, d := range exact {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, ' ')
		w.dst = append(w.dst, d.Name()...)
	}
	w.dst = append(w.dst, '\n')
}

func (w *text) hints(t fieldtable.Table) {
	hints := fieldtable.Hints(t)
	if len(hints) == 0 {
		return
	}
	w.dst = append(w.dst, "\nother readings:\n"...)
	for _, h := range hints {
		w.dst = fmt.Appendf(w.dst, "%7d  ", h.Offset)
		w.dst = appendLine(w.dst, h.Path)
		w.dst = append(w.dst, ": "...)
		w.dst = appendLine(w.dst, h.Text)
		w.dst = append(w.dst, '\n')
	}
}

// appendName writes a name as a path would, but with nothing invisible in it.
func appendName(dst, name []byte) []byte {
	step := fieldtable.AppendStep(nil, name)
	if len(step) == len(name) && len(name) > 0 {
		return append(dst, step...)
	}
	return strconv.AppendQuote(dst, string(name))
}

// appendLine writes text that may hold names from a table, with what is not printable escaped.
func appendLine(dst []byte, s string) []byte {
	for _, r := range s {
		if strconv.IsPrint(r) {
			dst = utf8.AppendRune(dst, r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		dst = append(dst, quoted[1:len(quoted)-1]...)
	}
	return dst
}

func appendShown(dst []byte, v fieldtable.Value) []byte {
	raw := v.Raw()
	switch v.Kind() {
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		if utf8.Valid(raw) {
			return strconv.AppendQuote(dst, string(raw))
		}
		dst = appendOctets(dst, raw)
		return append(dst, ", not UTF-8"...)
	case fieldtable.KindBytes:
		return appendOctets(dst, raw)
	case fieldtable.KindChar8:
		dst = append(dst, "0x"...)
		dst = hex.AppendEncode(dst, raw)
		if raw[0] < utf8.RuneSelf {
			dst = append(dst, ' ')
			dst = strconv.AppendQuoteRune(dst, rune(raw[0]))
		}
		return dst
	case fieldtable.KindBool:
		dst = v.AppendText(dst)
		if raw[0] > 1 {
			dst = fmt.Appendf(dst, " (octet 0x%02x)", raw[0])
		}
		return dst
	case fieldtable.KindTimestamp:
		ts, _ := v.Timestamp()
		dst = fmt.Appendf(dst, "%d %s", ts.Value, ts.Unit)
		if shown, ok := ts.AppendRFC3339(append(dst, " = "...)); ok {
			return shown
		}
		return append(dst, ", outside the years 1 to 9999"...)
	}
	return v.AppendText(dst)
}

func appendOctets(dst, octets []byte) []byte {
	dst = append(dst, "0x"...)
	dst = hex.AppendEncode(dst, octets)
	return fmt.Appendf(dst, " (%s)", plural.Of(len(octets), "byte"))
}
