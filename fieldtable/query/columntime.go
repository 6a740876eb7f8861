package query

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
)

// secondsReader builds the columns of the seconds in which messages were received.
type secondsReader struct {
	columns archive.Columns
	builder archive.ColumnBuilder
	second  [8]byte
}

func newSecondsReader(columns archive.Columns) *secondsReader {
	return &secondsReader{columns: columns, builder: archive.ColumnBuilder{Entries: math.MaxInt}}
}

// of returns the column of a segment, nil where there is none.
func (r *secondsReader) of(g archive.Segment) *archive.Column {
	name := archive.ColumnName{Name: "received, in seconds"} // no operand is written like this
	return r.columns.Of(g, name, &r.builder, func(b *archive.ColumnBuilder) {
		var m archive.Message
		for i := range g.Len() {
			if i%archive.WarmMessages == 0 {
				g.Warm(i, g.Len(), func(uint16) (int, bool) { return -1, true })
			}
			g.Load(i, &m)
			// #nosec G115 -- secondOf turns it back
			binary.BigEndian.PutUint64(r.second[:], uint64(m.Received().Unix()))
			b.Value(r.second[:])
		}
	})
}

// secondOf is a value of such a column.
func secondOf(value []byte) time.Time {
	return time.Unix(int64(binary.BigEndian.Uint64(value)), 0) // #nosec G115 -- of newSecondsReader
}
