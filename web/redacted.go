package web

import (
	"strconv"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/typedjson"
)

// appendRedacted appends what m was stored without, as
//
//	{"headers":[{"offset":27,"end":35}],"properties":["user_id"]}
//
// with offsets as those of the table's fields. A range is the payload of a
// value, everything in a table or array, or what damage leaves unreadable.
func appendRedacted(b []byte, m archive.Message) []byte {
	h, removed := m.Header(), m.Removed()
	encoded, _ := m.HeaderTable()
	table := h.HeaderTableOffset()
	b = append(member(append(b, '{'), "headers"), '[')
	for _, s := range removed {
		from, to := max(s.From-table, 0), min(s.To-table, len(encoded))
		if table < 0 || from >= to {
			continue
		}
		b = append(element(b), '{')
		b = strconv.AppendInt(member(b, "offset"), int64(from), 10)
		b = strconv.AppendInt(member(b, "end"), int64(to), 10)
		b = append(b, '}')
	}
	b = append(member(append(b, ']'), "properties"), '[')
	for p, err := range h.All() {
		if err != nil {
			break
		}
		for _, s := range removed {
			if p.Name != "headers" && s.From < p.End && p.Offset < s.To {
				b = typedjson.AppendString(element(b), p.Name)
				break
			}
		}
	}
	return append(b, ']', '}')
}
