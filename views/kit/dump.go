package kit

import (
	"context"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// DumpLines draws a dump as preformatted text.
func DumpLines(rows []DumpRow, offsets bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		width := 0
		for _, r := range rows {
			width = max(width, len(r.Hex))
		}
		for i, r := range rows {
			if offsets {
				b.WriteString(`<i class="o">`)
				b.WriteString(r.Offset)
				b.WriteString(`  </i>`)
			}
			b.WriteString(r.Hex)
			for range width - len(r.Hex) + 2 {
				b.WriteByte(' ')
			}
			b.WriteString(`<i class="a">`)
			b.WriteString(html.EscapeString(r.ASCII))
			if i < len(rows)-1 {
				b.WriteByte('\n') // in here, for where it stands under the bytes
			}
			b.WriteString(`</i>`)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// DumpRowBytes is how many bytes a row of a dump has.
const DumpRowBytes = 16

// CellRowBytes is how many bytes a row of a dump inside the tree has.
const CellRowBytes = 8

// DumpRow is a few bytes as hex and ASCII.
type DumpRow struct{ Offset, Hex, ASCII string }

// Dump lays bytes out in rows of a width; at is the offset of the first one.
func Dump(s []byte, at, width int) []DumpRow {
	rows := make([]DumpRow, 0, (len(s)+width-1)/width)
	for len(s) > 0 {
		row := s[:min(width, len(s))]
		rows = append(rows, DumpRow{Offset: HexOffset(at), Hex: spacedHex(row), ASCII: asciiColumn(row)})
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

// HexOffset writes an offset with at least four hexadecimal digits.
func HexOffset(n int) string {
	s := strconv.FormatInt(int64(n), 16)
	if len(s) < 4 {
		return "0000"[len(s):] + s
	}
	return s
}
