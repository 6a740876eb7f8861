package export

import (
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

// spreadsheet is a line a message: the facts, then the values at the paths selected. It reads a
// table only as far as these.
func spreadsheet() Format {
	return Format{
		Extension: "csv",
		Type:      "text/csv; charset=utf-8",
		Label:     "CSV",
		Use:       "the columns shown, for a spreadsheet",
		Begin: func(w io.Writer, s Selection) (Writer, error) {
			c := &csvWriter{w: csv.NewWriter(w), columns: s.Columns, dialect: s.Dialect}
			if c.sourced = s.Sourced; c.sourced {
				c.cells = append(c.cells, "source")
			}
			c.cells = append(c.cells,
				"seq",
				"received",
				"exchange",
				"routing_key",
				"redelivered",
				"header_count",
				"header_bytes",
				"body_bytes",
			)
			for _, path := range s.Paths {
				c.cells = append(c.cells, textCell([]byte(path)))
			}
			return c, c.w.Write(c.cells)
		},
	}
}

// maxCell is how many octets a value may have that is written: more than a spreadsheet takes.
const maxCell = 128 << 10

type csvWriter struct {
	w       *csv.Writer
	columns []*query.Operand
	dialect *fieldtable.Dialect
	sourced bool // each line begins with the message's source
	scratch query.Scratch
	cells   []string
}

func (c *csvWriter) Write(m archive.Message) error {
	encoded, _ := m.HeaderTable()
	c.cells = c.cells[:0]
	if c.sourced {
		c.cells = append(c.cells, m.Origin().Source)
	}
	c.cells = append(c.cells,
		strconv.FormatUint(m.Seq(), 10),
		m.Received().UTC().Format(time.RFC3339Nano),
		textCell(m.Exchange()),
		textCell(m.RoutingKey()),
		strconv.FormatBool(m.Redelivered()),
		strconv.Itoa(m.Marks().HeaderCount),
		strconv.Itoa(len(encoded)),
		strconv.FormatUint(m.BodySize(), 10))
	for _, o := range c.columns {
		switch v := o.Cell(m, c.dialect, &c.scratch); {
		case v.Damaged:
			c.cells = append(c.cells, "(damaged)")
		case !v.Set:
			c.cells = append(c.cells, "")
		case v.Removed:
			c.cells = append(c.cells, "(redacted)")
		case v.Number: // bare, with its sign and exact, although a spreadsheet may round it
			c.cells = append(c.cells, string(v.Text))
		case v.IsHeader() && len(v.Value.Raw()) > maxCell:
			c.cells = append(c.cells, fmt.Sprintf("(%d octets, too long for a cell)", len(v.Value.Raw())))
		case v.IsHeader():
			c.cells = append(c.cells, valueCell(v.Value))
		default:
			c.cells = append(c.cells, textCell(v.Text))
		}
	}
	return c.w.Write(c.cells)
}

func (c *csvWriter) Close() error {
	c.w.Flush()
	return c.w.Error()
}

// valueCell is a value that is no number as a cell. Tables and arrays are typed JSON.
func valueCell(v fieldtable.Value) string {
	switch v.Kind() {
	case fieldtable.KindLongStr, fieldtable.KindShortStr:
		text, _ := v.Text()
		return textCell(text)
	case fieldtable.KindBytes, fieldtable.KindChar8:
		return hexCell(v.Raw())
	case fieldtable.KindTable, fieldtable.KindArray:
		return inertCell(string(typedjson.AppendValue(nil, v)))
	case fieldtable.KindFloat32, fieldtable.KindFloat64: // NaN and infinities: no other is left
		return inertCell(string(v.AppendText(nil)))
	case fieldtable.KindVoid:
		return "null"
	}
	return string(v.AppendText(nil))
}

func textCell(b []byte) string {
	if !utf8.Valid(b) {
		return hexCell(b) + " (not UTF-8)"
	}
	return inertCell(string(b))
}

// hexCell begins with a word, because a spreadsheet would take hexadecimal digits such as 12e5 for
// a number.
func hexCell(b []byte) string { return "hex:" + hex.EncodeToString(b) }

// inertCell puts an apostrophe before a text that a spreadsheet would take for a formula, also when
// it stands behind what is not seen. The characters are those of the OWASP page on CSV injection,
// with their full-width and small forms.
func inertCell(s string) string {
	if strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "\r") || strings.HasPrefix(s, "\n") {
		return "'" + s
	}
	visible := strings.TrimLeftFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
	if r, _ := utf8.DecodeRuneInString(visible); visible != "" && strings.ContainsRune("=+-@＝＋－＠﹦﹢﹣﹫−", r) {
		return "'" + s
	}
	return s
}
