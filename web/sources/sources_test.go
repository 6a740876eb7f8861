package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/budget"
)

// noon is when the first message is received; each next one comes a second later.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type fixture struct {
	*Set
	archive *archive.Archive
	t       *testing.T
	stored  int
}

// newFixture has n messages. Their tenants are t1, t2 and t0 in turn.
func newFixture(t *testing.T, n int) *fixture {
	t.Helper()
	set, err := New(Config{
		Sources: []Source{{Name: "orders", Archive: archive.New(archive.Config{})}},
		Queries: budget.NewLimiter(1, time.Second),
		Budget:  time.Minute,
		Now:     func() time.Time { return noon.Add(30 * time.Second) },
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Set: set, archive: set.Sources[0].Archive, t: t}
	for range n {
		f.add("order", encode.Table(func(e *encode.Encoder) { e.Str("tenant", "t"+strconv.Itoa((f.stored+1)%3)) }))
	}
	return f
}

func (f *fixture) add(key string, table []byte) {
	w := f.archive.Writer()
	header := wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "headers", Raw: table})
	w.Begin(&wire.Delivery{RoutingKey: []byte(key), Header: header}, noon.Add(time.Duration(f.stored)*time.Second))
	w.Commit()
	f.stored++
}

// addDamaged adds a message whose table is damaged before its header tenant.
func (f *fixture) addDamaged() {
	table := encode.Table(func(e *encode.Encoder) {
		e.Str("before", "1")
		e.Str("tenant", "t1")
	})
	f.add("order", append(table[:len(table)-6], "Zxxxxx"...))
}

func filter(t *testing.T, src string) *query.Filter {
	t.Helper()
	f, err := query.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func seqs(ms []archive.Message) (all []uint64) {
	for _, m := range ms {
		all = append(all, m.Seq())
	}
	return all
}

func limited(n int) Request { return with(Request{}, func(r *Request) { r.Limit = n }) }

func below(seq uint64, r Request) Request {
	return with(r, func(r *Request) { r.Under = Position{seq} })
}

func above(seq uint64, r Request) Request {
	return with(r, func(r *Request) { r.Over, r.Ascending = Position{seq}, true })
}

func with(r Request, change func(*Request)) Request {
	change(&r)
	return r
}

func TestFind(t *testing.T) {
	f := newFixture(t, 9)
	f.addDamaged()
	for _, tt := range []struct {
		name, filter string
		r            Request
		want         string
		next         Position
	}{
		{"newest", "", limited(3), "[10 9 8]", Position{7}},
		{"older", "", below(3, limited(3)), "[3 2 1]", nil},
		{"next to a cursor", "", above(4, limited(3)), "[7 6 5]", Position{7}},
		{"oldest", "", above(0, limited(2)), "[2 1]", Position{2}},
		{"matches", "tenant = t1", limited(9), "[7 4 1]", nil},
		{"with the damaged", "tenant = t1", with(limited(9), func(r *Request) { r.IncludeDamaged = true }), "[10 7 4 1]", nil},
		{"a time", "", with(limited(9), func(r *Request) { r.From, r.To = noon.Add(2*time.Second), noon.Add(4*time.Second) }),
			"[4 3]", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := f.View().Find(t.Context(), filter(t, tt.filter), tt.r)
			if got := fmt.Sprint(seqs(p.Messages)); err != nil || got != tt.want || !slices.Equal(p.Next, tt.next) {
				t.Errorf("%s, next %v, %v; want %s, next %v", got, p.Next, err, tt.want, tt.next)
			}
		})
	}
}

func TestNeighbours(t *testing.T) {
	v, t0 := newFixture(t, 9).View(), filter(t, "tenant = t0")
	for _, tt := range []struct{ seq, older, newer uint64 }{
		{3, 0, 6},
		{6, 3, 9},
		{9, 6, 0},
		{4, 3, 6},
	} {
		t.Run(fmt.Sprint(tt.seq), func(t *testing.T) {
			r := below(1, above(1, limited(50))) // of the page beside it
			m, err := v.Get(Key{Seq: tt.seq})
			if err != nil {
				t.Fatal(err)
			}
			older, newer := v.Older(t.Context(), t0, r, m).Seq(), v.Newer(t.Context(), t0, r, m).Seq()
			if older != tt.older || newer != tt.newer {
				t.Errorf("%d and %d, want %d and %d", older, newer, tt.older, tt.newer)
			}
		})
	}
	m, err := v.Get(Key{Seq: 5})
	if err != nil {
		t.Fatal(err)
	}
	if n := v.Older(t.Context(), nil, Request{}, m).Seq(); n != 4 {
		t.Errorf("without a filter %d is before 5", n)
	}
}

func TestAlike(t *testing.T) {
	f := newFixture(t, 2)
	f.add("invoice", nil)
	f.add("order", nil)
	v := f.View()
	for _, tt := range []struct {
		seq   uint64
		older bool
		want  uint64
	}{
		{4, true, 2},
		{2, false, 4},
		{3, true, 0},
		{3, false, 0},
	} {
		t.Run(fmt.Sprint(tt.seq, tt.older), func(t *testing.T) {
			m, err := v.Get(Key{Seq: tt.seq})
			if err != nil {
				t.Fatal(err)
			}
			if found, ok := v.Alike(t.Context(), m, tt.older); ok != (tt.want != 0) || ok && found.Seq() != tt.want {
				t.Errorf("%v, want %d", ok, tt.want)
			}
		})
	}
}

// A key of another source is not a message of this one.
func TestKeys(t *testing.T) {
	v := newFixture(t, 2).View()
	if m, err := v.Get(Key{"orders", 2}); err != nil || m.Seq() != 2 {
		t.Error(err)
	}
	if _, err := v.Get(Key{"payments", 2}); !errors.Is(err, ErrNoSource) {
		t.Errorf("a message of another source: %v", err)
	}
	if _, err := v.Get(Key{Seq: 3}); !errors.Is(err, archive.ErrNotYet) {
		t.Error(err)
	}
}

func TestRanges(t *testing.T) {
	f := newFixture(t, 450)
	f.addDamaged()
	for _, tt := range []struct {
		name, filter string
		r            Request
		most         int
		first, want  Range // first is the number of the first message, as From
	}{
		{"all", "", Request{}, 1000, Range{}, Range{Last: 451, Count: 451}},
		{"exactly all", "", Request{}, 451, Range{}, Range{Last: 451, Count: 451}},
		{"the newest", "", Request{}, 7, Range{From: Position{445}}, Range{Last: 451, Count: 7, More: true}},
		{"matches", "tenant = t1", with(Request{}, func(r *Request) { r.IncludeDamaged = true }), 1000,
			Range{From: Position{1}}, Range{Last: 448, Count: 150}},
		{"after", "", above(449, Request{}), 9, Range{From: Position{450}}, Range{Last: 451, Count: 2}},
		{"between", "", below(7, with(Request{}, func(r *Request) { r.Over = Position{5} })), 9,
			Range{From: Position{6}}, Range{Last: 7, Count: 2}},
		{"nothing", "absent", Request{}, 9, Range{}, Range{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.View().Newest(t.Context(), filter(t, tt.filter), tt.r, tt.most)
			if err != nil || got.Last != tt.want.Last || got.Count != tt.want.Count || got.More != tt.want.More {
				t.Fatalf("%+v, %v, want %+v", got, err, tt.want)
			}
			if first := tt.first.From; first != nil && got.From[0]+1 != first[0] {
				t.Errorf("it begins above %d, want above %d", got.From[0], first[0]-1)
			}
			var last uint64
			n := 0
			err = f.View().Each(t.Context(), filter(t, tt.filter), tt.r, got, nil, func(m archive.Message) error {
				if m.Seq() <= last || m.Seq() > got.Last {
					t.Errorf("message %d after %d", m.Seq(), last)
				}
				last = m.Seq()
				n++
				return nil
			})
			if err != nil || n != got.Count {
				t.Errorf("%d messages, %v", n, err)
			}
		})
	}
	stop := errors.New("no more")
	all := Range{From: Position{0}, To: Position{451}, Count: 451}
	err := f.View().Each(t.Context(), nil, Request{}, all, nil, func(archive.Message) error { return stop })
	if err != stop {
		t.Errorf("%v, want %v", err, stop)
	}
}

// The bars add up to what matches, and stand where the messages were received.
func TestSummary(t *testing.T) {
	v := newFixture(t, 30).View()
	for _, tt := range []struct {
		name, filter, split string
		r                   Request
		want                map[int]uint64 // bars by seconds after noon
		total               string
	}{
		{"everything", "", "", Request{}, map[int]uint64{0: 1, 1: 1, 29: 1, -1: 0}, ""},
		{"matches", "tenant = t1", "", Request{}, map[int]uint64{0: 1, 1: 0, 27: 1, 29: 0}, "10"},
		{"split", "", "tenant", Request{}, map[int]uint64{0: 1, 29: 1}, ""},
		{"both", "tenant = t1", "$exchange", Request{}, map[int]uint64{0: 1, 1: 0}, "10"},
		{
			"a time", "", "", with(Request{}, func(r *Request) { r.From, r.To = noon.Add(10*time.Second), noon.Add(12*time.Second) }),
			map[int]uint64{0: 1, 10: 1, 29: 1}, "2",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var split *query.Operand
			if tt.split != "" {
				split, _ = query.CompileOperand(tt.split)
			}
			sum, err := v.Summarise(t.Context(), filter(t, tt.filter), tt.r, split, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			h := sum.Histogram
			if len(h.Counts) != bars || h.Width != time.Second || !h.Complete || sum.Filtered != (tt.filter != "") {
				t.Fatalf("%d bars of %v, complete %v, filtered %v", len(h.Counts), h.Width, h.Complete, sum.Filtered)
			}
			for second, want := range tt.want {
				i := int(noon.Add(time.Duration(second)*time.Second).Sub(h.Start) / h.Width)
				if h.Counts[i] != want {
					t.Errorf("%d at second %d, want %d", h.Counts[i], second, want)
				}
			}
			total := ""
			if sum.Total != nil && sum.Total.Complete {
				total = fmt.Sprint(sum.Total.Matched)
			}
			if total != tt.total {
				t.Errorf("total %q, want %q", total, tt.total)
			}
			if (sum.Facet == nil) != (split == nil) {
				t.Errorf("facet %+v", sum.Facet)
			}
			for i, n := range h.Counts {
				parts := uint64(0)
				for _, s := range h.Series {
					parts += s.Counts[i]
				}
				if split != nil && parts != n {
					t.Errorf("%d in parts of %d", parts, n)
				}
			}
		})
	}
}

// Where a page holds all that matches, it says the same as a count of everything.
func TestPageThatHoldsAll(t *testing.T) {
	f := newFixture(t, 30)
	f.Now = func() time.Time { return noon.Add(time.Hour) }
	f.addDamaged()
	for _, src := range []string{"tenant = 't1'", "tenant = 'none'", "tenant"} {
		t.Run(src, func(t *testing.T) {
			v, all := f.View(), filter(t, src)
			found, err := v.Find(t.Context(), all, limited(50))
			if err != nil {
				t.Fatal(err)
			}
			quick, ok := v.Whole(found)
			if !ok {
				t.Fatalf("%d matches are not all on the page", found.Matched)
			}
			slow, err := v.Summarise(t.Context(), all, Request{}, nil, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			a, b := quick.Histogram, slow.Histogram
			n := quick.Total
			got := fmt.Sprint(n.Matched, n.Damaged, n.Complete, a.Start, a.Width, a.Counts)
			want := fmt.Sprint(slow.Total.Matched, slow.Total.Damaged, slow.Total.Complete, b.Start, b.Width, b.Counts)
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
			found.Complete = false
			if _, ok := v.Whole(found); ok {
				t.Error("a page that was cut short is taken for everything")
			}
		})
	}
}

// What the time does not suffice for is said.
func TestSummaryIsBoundedInTime(t *testing.T) {
	v := newFixture(t, 3000).View()
	tenant, err := query.CompileOperand("tenant")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := v.Summarise(t.Context(), filter(t, ""), Request{}, tenant, time.Nanosecond)
	if errors.Is(err, budget.ErrBusy) {
		return // the time was over before it was its turn
	}
	if err != nil || sum.Facet.Complete || sum.Facet.Scanned >= 3000 || sum.Histogram.Complete {
		t.Errorf("%v; facet %+v, complete histogram %v", err, sum.Facet, sum.Histogram.Complete)
	}
}

// Where others are being answered, a question waits for its turn, and in the end is refused.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, 3)
		release, err := f.Queries.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v, t1 := f.View(), filter(t, "tenant = t1")
		if _, err := v.Find(t.Context(), t1, Request{}); !errors.Is(err, budget.ErrBusy) {
			t.Errorf("a page: %v", err)
		}
		_, err = v.Summarise(t.Context(), t1, Request{}, nil, time.Millisecond)
		if !errors.Is(err, budget.ErrBusy) {
			t.Errorf("a summary: %v", err)
		}
		if _, err := v.CountNames(t.Context()); !errors.Is(err, budget.ErrBusy) {
			t.Errorf("the names: %v", err)
		}
		if _, err := v.Summarise(t.Context(), filter(t, ""), Request{}, nil, time.Second); err != nil {
			t.Errorf("what reads nothing has to wait: %v", err)
		}
		// What has been begun waits for as long as it must.
		time.AfterFunc(time.Minute, release)
		n := 0
		all := Range{From: Position{0}, To: Position{3}, Count: 3}
		err = f.View().Each(t.Context(), nil, Request{}, all, nil, func(archive.Message) error {
			n++
			return nil
		})
		if err != nil || n != 3 {
			t.Errorf("%d messages, %v", n, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := v.Find(ctx, t1, Request{}); !errors.Is(err, context.Canceled) {
			t.Errorf("whoever is gone: %v", err)
		}
	})
}

// Names are counted once a second, or not again while nothing arrives.
func TestNames(t *testing.T) {
	f := newFixture(t, 3)
	now := noon
	(*f.members.Load())[0].names.now = func() time.Time { return now }
	count := func() uint64 { return f.View().Names()[0].Count }
	if n := count(); n != 3 {
		t.Fatalf("tenant is counted %d times", n)
	}
	f.add("order", encode.Table(func(e *encode.Encoder) { e.Str("tenant", "t1") }))
	if n := count(); n != 3 {
		t.Errorf("%d within the same second", n)
	}
	now = now.Add(namesFor)
	if n := count(); n != 4 {
		t.Errorf("%d after a second", n)
	}
	all, err := f.View().CountNames(t.Context())
	if err != nil || len(all) != 1 || all[0].Key != "tenant" {
		t.Errorf("%v, %v", all, err)
	}
	m, _ := f.View().Get(Key{Seq: 1})
	if got := fmt.Sprint(f.View().Preview(m, 6)); got != "[{tenant 1}]" {
		t.Errorf("the preview is %s", got)
	}
}

func TestStatus(t *testing.T) {
	f := newFixture(t, 3)
	replayed := source.Status{State: source.Replayed, Name: "orders"}
	(*f.members.Load())[0].Status = func() source.Status { return replayed }
	s := f.View().Status()
	if s.State != source.Replayed || s.Name != "orders" || s.Kept.Messages != 3 || s.Kept.MaxBytes == 0 {
		t.Errorf("%+v", s)
	}
	// The axis of what was replayed ends with the newest message.
	h := f.View().Arrivals(Request{})
	if end := h.Start.Add(time.Duration(len(h.Counts)) * h.Width); end.Sub(noon.Add(2*time.Second)) > h.Width {
		t.Errorf("it ends at %v", end)
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a set without an archive")
	}
}
