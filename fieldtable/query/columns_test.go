package query

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// columnMessage has headers and properties with few values, and u and $message_id with many, most
// of which occur once, of all types.
func columnMessage(r *rand.Rand, i int) testMessage {
	m := testMessage{
		exchange:    pick(r, "", "shop", "audit"),
		key:         pick(r, "order", "order.paid", "5"),
		redelivered: r.Intn(2) == 0,
		bodySize:    uint64(r.Intn(3)),
		received:    testTime.Add(time.Duration(i)*time.Second/3 + time.Duration(r.Intn(1e9))),
	}
	add := func(name string, raw []byte) { m.props = append(m.props, wire.Property{Name: name, Raw: raw}) }
	if r.Intn(8) > 0 {
		add("message_id", []byte(pick(r, fmt.Sprint(i), fmt.Sprintf("id-%d", i), fmt.Sprintf("%d.0", i%50), "id-7")))
	}
	if r.Intn(3) > 0 {
		add("user_id", []byte(pick(r, "ann", "bob", "5")))
		add("priority", []byte{byte(r.Intn(4))})
		add("timestamp", binary.BigEndian.AppendUint64(nil, uint64(pick(r, 5, 1700000000, 1700000000123, int64(i)))))
	}
	if r.Intn(12) == 0 {
		return m
	}
	m.table = randomTable(r)
	if r.Intn(3) == 0 { // else there may be damage, and headers twice
		m.table = encode.Table(func(e *encode.Encoder) {
			randomField(r, e, 2)
			manyValued(r, e, "u", i)
			if r.Intn(9) == 0 {
				manyValued(r, e, "u", i+1)
			}
			randomField(r, e, 2)
			e.Nested("t", func(e *encode.Encoder) { manyValued(r, e, "u", i); randomField(r, e, 2) })
		})
	}
	return m
}

func manyValued(r *rand.Rand, e *encode.Encoder, name string, i int) {
	switch r.Intn(14) {
	case 0:
		e.Int64(name, int64(i))
	case 1:
		e.Timestamp(name, 1700000000+int64(i))
	case 2:
		e.Float64(name, float64(i)/10)
	case 3:
		e.Decimal(name, uint8(r.Intn(3)), int32(i))
	case 4:
		randomField(r, e, 2)
	case 5:
		e.Float32(name, float32(i)/10)
	case 6:
		e.Bytes(name, []byte{byte(i), byte(i >> 8)})
	case 7:
		e.Str(name, fmt.Sprintf("%300d", i)) // too long for a column
	default:
		e.Str(name, pick(r, fmt.Sprint(i), fmt.Sprintf("0%d", i), fmt.Sprintf("u-%d", i), fmt.Sprintf("%d.50", i)))
	}
}

func columnFilter(r *rand.Rand, depth, messages int) string {
	if depth > 0 && r.Intn(3) > 0 {
		left, right := columnFilter(r, depth-1, messages), columnFilter(r, depth-1, messages)
		return pick(r, "NOT ("+left+")", "("+left+" AND "+right+")", "("+left+" OR "+right+")")
	}
	i := r.Intn(messages + 50)
	value := pick(r, fmt.Sprint(i), fmt.Sprintf("'%d'", i), fmt.Sprintf("id-%d", i), fmt.Sprintf("u-%d", i),
		fmt.Sprintf("'%d.50'", i), fmt.Sprintf("%d.5", i), fmt.Sprintf(`"%d"`, 1700000000+i),
		fmt.Sprint(1700000000+i), fmt.Sprintf("%d.0", i%50), fmt.Sprintf("%dL", i),
		time.Unix(1700000000+int64(i), 0).UTC().Format(time.RFC3339), fmt.Sprintf("'0%d'", i),
		fmt.Sprintf("%g", float32(i)/10), "1700000000.123", fmt.Sprintf("0x%02x%02x", byte(i), byte(i>>8)),
		"void", "true", "ann", "5")
	name := pick(r, "u", "$message_id", `"t".u`, "$user_id", "$exchange", "$routing_key", "JMSMessageID", "a.u",
		"a", "b", `"t".a`, "a[0]")
	not := pick(r, "", "NOT ")
	switch r.Intn(12) {
	case 0, 1:
		return randomFilter(r, 1)
	case 2:
		return name + " " + not + "IN (" + value + ", 5, 'id-7', ann)"
	case 3:
		return name + " " + not + "LIKE " + pick(r, "'%7'", "'id-1%'", `"%5%"`, "'a%'")
	case 4:
		return name + pick(r, " IS NULL", " IS NOT NULL", "", " = 'id-7'", " <> ann")
	case 5:
		return pick(r, "$priority", "$timestamp", "$size", "$header_count", "JMSTimestamp", "h.priority") + " " +
			pick(r, "=", "<>", "<", ">=") + " " + pick(r, "0", "2", "1700000000", "1700000000123", fmt.Sprint(i))
	case 6:
		return "EXISTS(" + name + ")"
	case 7:
		return pick(r, "$redelivered", "type(u) = S", `type("t".u) <> int64`, "$received > 2023-11-14",
			"$timestamp > 2023-11-14T22:13:20Z", "malformed()", "duplicate(u)")
	default:
		return name + " " + pick(r, "=", "<>", "=", "<>", "<", ">=") + " " + value
	}
}

// sameAnswers compares what columns answer with what reading every message does.
func sameAnswers(t *testing.T, s archive.Snapshot, q *Filter, o *Operand, r PageRequest) {
	t.Helper()
	plain := r
	plain.plain = true
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s, %s, under %s: %s is %+v, want %+v", q, o, orLenient(r.Dialect).Name(), what, got, want)
		}
	}
	page := func(r PageRequest) []any {
		p, err := q.Page(t.Context(), s, r)
		return []any{seqs(p.Messages), p.Matched, p.Damaged, p.Next, p.Complete, err}
	}
	same("the page", page(r), page(plain))
	count := func(r PageRequest) []any {
		n, err := q.Count(t.Context(), s, r)
		return []any{n.Matched, n.Damaged, n.Complete, err}
	}
	same("the count", count(r), count(plain))
	facet := func(r PageRequest) []any {
		f, err := q.Facet(t.Context(), s, r, o, math.MaxInt)
		return []any{f.Values, f.Matched, f.With, f.Other, f.Tags, f.Bounded, f.Damaged, err}
	}
	same("the facet", facet(r), facet(plain))
	histogram := func(r PageRequest, split *Operand) []any {
		h, err := q.Histogram(t.Context(), s, r, 100, split, math.MaxInt)
		if len(h.Series) >= maxSeries { // then it depends on which are seen first
			h.Series, h.Other = nil, nil
		}
		return []any{h.Counts, h.Series, h.Other, h.None, h.Start, h.Width, h.Matched, h.Damaged, err}
	}
	top := func(r PageRequest, descending bool) []any {
		r.Limit = min(r.Limit, 20)
		p, err := q.Top(t.Context(), s, r, o, descending)
		return []any{seqs(p.Messages), p.Matched, p.Damaged, p.Complete, err}
	}
	same("the top", top(r, true), top(plain, true))
	same("the bottom", top(r, false), top(plain, false))
	same("the histogram", histogram(r, nil), histogram(plain, nil))
	same("the histogram by value", histogram(r, o), histogram(plain, o))
}

// Whatever is asked, of whatever archive, under whatever dialect: columns answer as reading does,
// also while they are let go of and messages are evicted.
func TestColumnsAnswerAsReadingDoes(t *testing.T) {
	redact, err := archive.ParseRedaction("b,$user_id")
	if err != nil {
		t.Fatal(err)
	}
	for i, cfg := range []archive.Config{
		{MaxBytes: 4 << 20, SegmentBytes: 32 << 10},
		{MaxBytes: 4 << 20, SegmentBytes: 32 << 10, Redact: redact},
		{MaxBytes: 4 << 20, SegmentBytes: 64 << 10, MaxShapes: 20},
		{MaxBytes: 4 << 20, SegmentBytes: 32 << 10, Dialect: fieldtable.QpidJava()},
		{MaxBytes: 160 << 10, SegmentBytes: 20 << 10}, // columns have 20 KiB
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewSource(int64(i)))
			a := archive.New(cfg)
			messages := 0
			arrive := func(n int) {
				for range n {
					m := columnMessage(r, messages)
					appendMessage(a.Writer(), &m)
					messages++
				}
			}
			arrive(1500)
			answered := uint64(0)
			for range 30 {
				arrive(r.Intn(40))
				q := compile(t, columnFilter(r, 2, messages))
				o := operand(t, pick(r, "u", "a", "b", "$message_id", "$routing_key", "$user_id", `"t".u`, `"t".a`,
					"a[*]", "a[0]", "JMSMessageID", "$timestamp"))
				req := PageRequest{Limit: 5000, Budget: time.Hour, ArchiveDialect: cfg.Dialect}
				req.Dialect = pick(r, fieldtable.Dialects()...)
				switch r.Intn(4) {
				case 0:
					req.From = testTime.Add(time.Duration(r.Intn(500)) * time.Second)
					req.To = req.From.Add(time.Duration(r.Intn(300e9)))
				case 1:
					req.Ascending, req.Limit = true, 1+r.Intn(200)
					req.After = uint64(r.Intn(messages))
				}
				s := a.Snapshot()
				for range 2 { // first they are built
					sameAnswers(t, s, q, o, req)
				}
				if n, err := q.Count(t.Context(), s, req); err == nil {
					answered += n.Answered
				}
				if st := a.Stats(); st.Bytes > st.MaxBytes {
					t.Fatalf("%d bytes, %d of them columns, of %d", st.Bytes, st.Columns, st.MaxBytes)
				}
			}
			if answered == 0 {
				t.Error("columns answered nothing")
			}
		})
	}
}

func FuzzColumns(f *testing.F) {
	r := rand.New(rand.NewSource(8))
	for range 20 {
		f.Add(columnFilter(r, 2, 500), "u", randomTable(r), "id-7", int64(5))
	}
	f.Fuzz(func(t *testing.T, filter, by string, table []byte, id string, seed int64) {
		q, err := Compile(filter)
		if err != nil || len(filter) > 300 || len(table) > 1000 || len(id) > 255 {
			return
		}
		o, err := CompileOperand(by)
		if err != nil {
			return
		}
		r := rand.New(rand.NewSource(seed))
		a := archive.New(archive.Config{MaxBytes: 256 << 10, SegmentBytes: 16 << 10})
		for i := range 300 {
			m := columnMessage(r, i)
			if i%3 == 0 {
				m.table = table
				m.props = []wire.Property{{Name: "message_id", Raw: []byte(id)}}
			}
			appendMessage(a.Writer(), &m)
		}
		for range 2 {
			sameAnswers(t, a.Snapshot(), q, o, PageRequest{Limit: 500, Budget: time.Hour})
		}
	})
}

// A condition that shapes settle reads the table of a message without a shape once, and then a
// column tells.
func TestLargeTablesAreReadOnce(t *testing.T) {
	a := archive.New(archive.Config{MaxBytes: 4 << 20})
	large := encode.Table(func(e *encode.Encoder) {
		for range 50_000 {
			e.Void("")
		}
		e.Str("tenant", "t1")
		for i := range 20_000 {
			e.Void(fmt.Sprint("n", i))
		}
	})
	small := encode.Table(func(e *encode.Encoder) { e.Str("tenant", "t1") })
	other := encode.Table(func(e *encode.Encoder) { e.Nested("x", func(e *encode.Encoder) { e.Void("y") }) })
	for _, table := range [][]byte{small, large, other, small} {
		appendMessage(a.Writer(), &testMessage{table: table})
	}
	appendMessage(a.Writer(), &testMessage{table: encode.Table(func(e *encode.Encoder) {
		e.Bytes("fills the segment", make([]byte, 300<<10)) // so that the last of the small is in one that is sealed
	})})
	s := a.Snapshot()
	if m, err := s.Get(2); err != nil {
		t.Fatal(err)
	} else if _, ok := m.ShapeID(); ok {
		t.Fatal("the large table has a shape")
	}
	for _, tt := range []struct {
		filter  string
		matched uint64
	}{
		{"tenant", 3},
		{"NOT tenant", 2},
		{"tenant OR x", 4},
		{"tenant AND NOT x", 3},
		{"x IS NULL", 4},
		{"n19999 AND tenant", 1},
	} {
		t.Run(tt.filter, func(t *testing.T) {
			q := compile(t, tt.filter)
			for try := range 2 {
				n, err := q.Count(t.Context(), s, PageRequest{})
				if err != nil || n.Matched != tt.matched {
					t.Errorf("%d match, want %d: %v", n.Matched, tt.matched, err)
				}
				if try > 0 && n.BytesRead > 1000 {
					t.Errorf("%d bytes are read again", n.BytesRead)
				}
			}
		})
	}
}
