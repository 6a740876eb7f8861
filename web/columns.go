package web

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
	"github.com/headerglass/headerglass/views/address"
)

const maxColumns = 16

// compileColumns reads the columns and the order of a listing: header paths and properties as the
// left side of a comparison in a filter. by is nil where the order is that of arrival.
func compileColumns(q address.State) (columns []*query.Operand, by *query.Operand, err error) {
	if len(q.Columns) > maxColumns {
		return nil, nil, &paramError{"cols", "A list has at most " + strconv.Itoa(maxColumns) + " columns."}
	}
	seen := make(map[string]bool, len(q.Columns))
	for _, c := range q.Columns {
		o, err := compileColumn("cols", c)
		if err != nil {
			return nil, nil, err
		}
		if seen[o.String()] {
			return nil, nil, &paramError{"cols", "A column is named twice."}
		}
		seen[o.String()] = true
		columns = append(columns, o)
	}
	if q.Sort.Path != "" {
		by, err = compileColumn("sort", q.Sort.Path)
	}
	return columns, by, err
}

func compileColumn(param, path string) (*query.Operand, error) {
	if !utf8.ValidString(path) {
		return nil, &paramError{param, `A column's path is UTF-8; other bytes are written \xNN in double quotes.`}
	}
	o, err := query.CompileOperand(path)
	if e, ok := errors.AsType[*query.Error](err); ok {
		return nil, &paramError{param, "The column " + path + " does not read: " + e.Msg + " at character " +
			strconv.Itoa(utf8.RuneCountInString(path[:e.Offset])+1) + "."}
	}
	return o, err
}

// appendCell appends a cell as JSON: null where there is nothing, a header's value as an item of a
// typed JSON array, a property as what the page shows of it.
func appendCell(b []byte, c query.Cell) []byte {
	switch {
	case c.Damaged:
		return append(b, `{"damaged":true}`...)
	case !c.Set:
		return append(b, "null"...)
	case !c.IsHeader() && !c.Removed:
		return typedjson.AppendOctets(b, c.Text)
	}
	b = append(b, '{')
	if c.IsHeader() {
		b = typedjson.AppendTag(typedjson.AppendMember(b, "tag"), c.Value.Tag())
		b = typedjson.AppendString(typedjson.AppendMember(b, "type"), c.Value.Kind().String())
		if !c.Removed {
			b = typedjson.AppendValue(typedjson.AppendMember(b, "value"), c.Value)
		}
		b = strconv.AppendInt(typedjson.AppendMember(b, "offset"), int64(c.Value.Offset()), 10)
		b = strconv.AppendInt(typedjson.AppendMember(b, "end"), int64(c.Value.End()), 10)
	}
	if c.Removed {
		b = append(typedjson.AppendMember(b, "redacted"), "true"...)
	}
	return append(b, '}')
}
