package query

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
)

// numbered archives n messages over several segments, a second apart: n is the
// number, every third carries mod3, every tenth is damaged behind n.
func numbered(n int) archive.Snapshot { return numberedArchive(n).Snapshot() }

func numberedArchive(n int) *archive.Archive {
	a := archive.New(archive.Config{MaxBytes: 8 << 20, SegmentBytes: 64 << 10})
	for i := 1; i <= n; i++ {
		appendMessage(a.Writer(), &testMessage{
			received: testTime.Add(time.Duration(i) * time.Second),
			table: encode.Table(func(e *encode.Encoder) {
				e.Int32("n", int32(i))
				if i%3 == 0 {
					e.Str("mod3", fmt.Sprintf("v%d", i%4))
				}
				if i%10 == 0 {
					e.Value("bad", 'Z', nil)
				}
				e.Str("pad", "................................................................")
			}),
		})
	}
	return a
}

func seqs(messages []archive.Message) (s []uint64) {
	for _, m := range messages {
		s = append(s, m.Seq())
	}
	return s
}

func TestPageOrderAndCursors(t *testing.T) {
	s := numbered(2000)
	if s.Segments() < 3 {
		t.Fatalf("only %d segments", s.Segments())
	}
	var want []uint64
	for i := uint64(3); i <= 2000; i += 3 {
		want = append(want, i)
	}
	descending := slices.Clone(want)
	slices.Reverse(descending)
	for _, filter := range []string{"mod3", "mod3 LIKE 'v%'"} {
		q := compile(t, filter)
		for _, limit := range []int{1, 7, 100, 5000} {
			var got []uint64
			r := PageRequest{Limit: limit, Budget: time.Hour}
			for {
				p, err := q.Page(t.Context(), s, r)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, seqs(p.Messages)...)
				if p.Matched != uint64(len(p.Messages)) || p.Complete != (p.Next == 0) {
					t.Fatalf("%s: %+v", filter, p)
				}
				if r.Before = p.Next; p.Next == 0 {
					break
				}
			}
			if !slices.Equal(got, descending) {
				t.Errorf("%s, limit %d: newest first gives %v", filter, limit, got)
			}
			got = nil
			r = PageRequest{Limit: limit, Budget: time.Hour, Ascending: true}
			for {
				p, err := q.Page(t.Context(), s, r)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, seqs(p.Messages)...)
				if r.After = p.Next; p.Next == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, limit %d: oldest first gives %v", filter, limit, got)
			}
		}
	}
}

func TestPageRanges(t *testing.T) {
	s := numbered(1500)
	at := func(i int) time.Time { return testTime.Add(time.Duration(i) * time.Second) }
	for _, c := range []struct {
		name        string
		r           PageRequest
		first, last uint64
	}{
		{"all", PageRequest{}, 1500, 1},
		{"before", PageRequest{Before: 100}, 99, 1},
		{"after", PageRequest{After: 1400}, 1401, 1500},
		{"between, newest first", PageRequest{After: 700, Before: 710}, 709, 701},
		{"between, oldest first", PageRequest{After: 700, Before: 710, Ascending: true}, 701, 709},
		{"after the last", PageRequest{After: 1500}, 0, 0},
		{"before the first", PageRequest{Before: 1}, 0, 0},
		{"far", PageRequest{Before: 1 << 60}, 1500, 1},
		{"from", PageRequest{From: at(1490)}, 1500, 1490},
		{"to", PageRequest{To: at(10)}, 9, 1},
		{"from and to", PageRequest{From: at(600), To: at(900)}, 899, 600},
		{"from and to and before", PageRequest{From: at(600), To: at(900), Before: 700}, 699, 600},
		{"nothing at that time", PageRequest{From: at(1501)}, 0, 0},
		{"from after to", PageRequest{From: at(5), To: at(5)}, 0, 0},
	} {
		runCase(t, c.name, func(t *testing.T) {
			for _, filter := range []string{"", "n", "n > 0", "$seq > 0"} {
				q := compile(t, filter)
				c.r.Limit = 5000
				p, err := q.Page(t.Context(), s, c.r)
				if err != nil {
					t.Fatal(err)
				}
				got := seqs(p.Messages)
				n := uint64(0)
				if c.first != 0 {
					n = max(c.first, c.last) - min(c.first, c.last) + 1
				}
				if uint64(len(got)) != n || n > 0 && (got[0] != c.first || got[n-1] != c.last) || p.Next != 0 {
					t.Errorf(
						"%s, %q: %d messages, want %d … %d; next %d",
						c.name,
						filter,
						len(got),
						c.first,
						c.last,
						p.Next,
					)
				}
				count, err := q.Count(t.Context(), s, c.r)
				if err != nil || count.Matched != n || !count.Complete {
					t.Errorf("%s, %q: count %d, want %d: %v", c.name, filter, count.Matched, n, err)
				}
			}
		})
	}
}

func TestDamagedAreCountedAndCanBeShown(t *testing.T) {
	s := numbered(100)
	for _, filter := range []string{"pad", "pad LIKE '.%'"} {
		q := compile(t, filter)
		p, err := q.Page(t.Context(), s, PageRequest{})
		if err != nil || p.Matched != 90 || p.Damaged != 10 || len(p.Messages) != 90 {
			t.Errorf("%s: %d matched, %d damaged, %d shown: %v", filter, p.Matched, p.Damaged, len(p.Messages), err)
		}
		p, err = q.Page(t.Context(), s, PageRequest{IncludeDamaged: true})
		if err != nil || p.Matched != 90 || p.Damaged != 10 || len(p.Messages) != 100 {
			t.Errorf("%s: %d matched, %d damaged, %d shown: %v", filter, p.Matched, p.Damaged, len(p.Messages), err)
		}
		c, err := q.Count(t.Context(), s, PageRequest{})
		if err != nil || c.Matched != 90 || c.Damaged != 10 {
			t.Errorf("%s: %d matched, %d damaged: %v", filter, c.Matched, c.Damaged, err)
		}
	}
}

func TestPageStopsAtItsBudget(t *testing.T) {
	s := numbered(2000)
	q := compile(t, "n = 1")
	r := PageRequest{Budget: time.Nanosecond}
	pages := 0
	for {
		p, err := q.Page(t.Context(), s, r)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		if p.Next == 0 {
			if len(p.Messages) != 1 || p.Messages[0].Seq() != 1 || !p.Complete {
				t.Errorf("the last page is %+v", p)
			}
			break
		}
		if p.Scanned > betweenChecks || len(p.Messages) != 0 || p.Complete {
			t.Fatalf("%+v", p)
		}
		r.Before = p.Next
	}
	newest := s.Segment(s.Segments() - 1).Len()
	if want := newest/betweenChecks + s.Segments() - 1; newest%betweenChecks == 0 || pages != want {
		t.Errorf("%d pages, want %d", pages, want)
	}
}

func TestCancelledQueries(t *testing.T) {
	s := numbered(2000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := compile(t, "n > 0")
	if p, err := q.Page(ctx, s, PageRequest{Limit: 5000}); !errors.Is(err, context.Canceled) || p.Complete {
		t.Errorf("Page: %v, complete %v", err, p.Complete)
	}
	if c, err := q.Count(ctx, s, PageRequest{}); !errors.Is(err, context.Canceled) || c.Complete {
		t.Errorf("Count: %v, complete %v", err, c.Complete)
	}
}

func TestEmptyArchive(t *testing.T) {
	s := archived(archive.Config{})
	for _, filter := range []string{"", "a", "a = 1"} {
		q := compile(t, filter)
		p, err := q.Page(t.Context(), s, PageRequest{})
		if err != nil || len(p.Messages) > 0 || !p.Complete {
			t.Errorf("Page: %+v, %v", p, err)
		}
		c, err := q.Count(t.Context(), s, PageRequest{})
		if err != nil || c.Matched != 0 || !c.Complete {
			t.Errorf("Count: %+v, %v", c, err)
		}
	}
}

// TestPageAgreesWithMatch checks every plan, by shape or not, against one match
// after the other.
func TestPageAgreesWithMatch(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for _, cfg := range []archive.Config{
		{MaxBytes: 4 << 20, SegmentBytes: 64 << 10},
		// many without a shape
		{MaxBytes: 4 << 20, SegmentBytes: 64 << 10, MaxShapes: 20},
		// shapes of another dialect
		{MaxBytes: 4 << 20, SegmentBytes: 64 << 10, Dialect: fieldtable.QpidJava()},
		// most are evicted
		{MaxBytes: 256 << 10, SegmentBytes: 64 << 10},
	} {
		var messages []testMessage
		for i := range 3000 {
			m := testMessage{received: testTime.Add(time.Duration(i) * time.Second), redelivered: i%2 == 0}
			if i%20 > 0 {
				m.table = randomTable(r)
			}
			messages = append(messages, m)
		}
		s := archived(cfg, messages...)
		for range 60 {
			q := compile(t, randomFilter(r, 2))
			req := PageRequest{
				Limit:          5000,
				Budget:         time.Hour,
				ArchiveDialect: cfg.Dialect,
				Dialect:        fieldtable.Lenient(),
			}
			var scratch Scratch
			var want []uint64
			damaged := uint64(0)
			for m := range s.Forward(0) {
				switch q.Match(m, req.Dialect, &scratch) {
				case Yes:
					want = append(want, m.Seq())
				case Damaged:
					damaged++
				}
			}
			req.Ascending = true
			p, err := q.Page(t.Context(), s, req)
			if err != nil || !slices.Equal(seqs(p.Messages), want) || p.Damaged != damaged {
				t.Fatalf(
					"%s: page of %d and %d damaged, want %d and %d: %v",
					q,
					len(p.Messages),
					p.Damaged,
					len(want),
					damaged,
					err,
				)
			}
			c, err := q.Count(t.Context(), s, req)
			if err != nil || c.Matched != uint64(len(want)) || c.Damaged != damaged {
				t.Fatalf(
					"%s: count of %d and %d damaged, want %d and %d: %v",
					q,
					c.Matched,
					c.Damaged,
					len(want),
					damaged,
					err,
				)
			}
			if c.Scanned+c.Skipped+c.Answered != uint64(s.Len()) {
				t.Fatalf("%s: %d scanned, %d skipped and %d answered of %d", q, c.Scanned, c.Skipped, c.Answered, s.Len())
			}
		}
	}
}

// TestMatcherOutlivesShapes keeps matchers while an archive gives the numbers of
// its shapes to others.
func TestMatcherOutlivesShapes(t *testing.T) {
	a := archive.New(archive.Config{MaxBytes: 256 << 10, SegmentBytes: 64 << 10, MaxShapes: 8})
	var matchers []*Matcher
	for _, filter := range []string{"k1", "k2 = 1", "NOT k3", "type(k4) = int32"} {
		matchers = append(matchers, compile(t, filter).Matcher(nil, nil))
	}
	var scratch Scratch
	reused := map[uint16]map[*archive.Shape]bool{}
	for i := range 20_000 {
		seq := appendMessage(a.Writer(), &testMessage{table: encode.Table(func(e *encode.Encoder) {
			e.Int32(fmt.Sprintf("k%d", i/500%50), 1)
			e.Int32(fmt.Sprintf("k%d", i%5), 1)
		})})
		s := a.Snapshot()
		m, err := s.Get(seq)
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := m.ShapeID(); ok {
			if reused[id] == nil {
				reused[id] = map[*archive.Shape]bool{}
			}
			reused[id][s.Shape(id)] = true
		}
		for _, x := range matchers {
			if got, want := x.Match(s, m), x.filter.Match(m, nil, &scratch); got != want &&
				!(noMatch(got) && noMatch(want)) {
				t.Fatalf("%s, message %d: %v, want %v", x.filter, seq, got, want)
			}
		}
	}
	most := 0
	for _, shapes := range reused {
		most = max(most, len(shapes))
	}
	if most < 2 {
		t.Error("no number of a shape was used twice")
	}
}

// The newest 166 messages are in a segment that still grows: no column has them.
func TestExplain(t *testing.T) {
	s := numbered(1000)
	if newest := s.Segment(s.Segments() - 1); newest.Len() != 166 {
		t.Fatalf("%d messages in the newest segment", newest.Len())
	}
	for _, c := range []struct {
		filter                     string
		scanned, skipped, answered uint64
		shapesMatched              int
	}{
		// Of the four shapes, one without mod3 is damaged: it may be behind that.
		{"mod3", 0, 1000, 0, 3},
		// Of the newest, 11 are damaged before mod3 and 55 have it.
		{"mod3 = v1", 11 + 55, 166 - 55 - 11, 834, 3},
		// Of the newest, 17 are damaged.
		{"mod3 = v1 AND missing", 17, 166 - 17, 834, 2},
		{"$size = 0", 166, 0, 834, 4},
	} {
		runCase(t, c.filter, func(t *testing.T) {
			q := compile(t, c.filter)
			n, err := q.Count(t.Context(), s, PageRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if n.Scanned != c.scanned || n.Skipped != c.skipped || n.Answered != c.answered || n.Shapes != 4 ||
				n.ShapesMatched != c.shapesMatched ||
				n.Decoded != 0 ||
				n.Filter != q.String() {
				t.Errorf("%s: %+v", c.filter, n.Explain)
			}
			if reads := n.BytesRead > 0; reads != (len(q.Keys()) > 0 && c.scanned > 0) {
				t.Errorf("%s: %d bytes read", c.filter, n.BytesRead)
			}
		})
	}
}

func TestNoAllocationPerMessage(t *testing.T) {
	s := archived(archive.Config{}, testMessage{key: "a", table: encode.Table(func(e *encode.Encoder) {
		e.Int32("n", 3)
		e.Str("mod3", "v2")
		e.Array("x-death", func(e *encode.Encoder) {
			for range 3 {
				e.Nested("", func(e *encode.Encoder) { e.Str("reason", "rejected") })
			}
		})
		e.Nested("map", func(e *encode.Encoder) { e.Float64("f", 0.5) })
	})})
	m, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, filter := range []string{
		"mod3 = 'v1'", "mod3 = v1 OR n > 5.5", `n = "5"`, "n LIKE \"5%\"", "mod3 IN (v1, 'v2')", "n BETWEEN 1 AND 5", "mod3 LIKE '%_1'",
		"$routing_key = a AND $received > 2026-01-01", "$message_id = x", "duplicate()", "duplicate(n)", "malformed()", "type(n) = int32",
		"anywhere('none')", "anywhere(99)", "anywhere(eject)", "$body CONTAINS x", "n CONTAINS 7",
		"x-death[*].reason = expired", "x-death[1].reason LIKE '%t%d'", `"map".f > 0.25`, "n[*] = 1",
	} {
		x := compile(t, filter).Matcher(nil, nil)
		id, _ := m.ShapeID()
		x.read(m, x.shape(s, id), nil)
		if n := testing.AllocsPerRun(100, func() {
			x.Match(s, m)
			x.read(m, x.shape(s, id), nil)
		}); n != 0 {
			t.Errorf("%s: %v allocations", filter, n)
		}
	}
}
