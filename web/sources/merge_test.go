package sources

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/budget"
)

// several is a set of sources with random numbers of messages, some at the same moment. all are the
// keys of the messages in the order of their receipt, then of their source. The tenant of one is t
// and its number in that order modulo 3.
func several(t testing.TB, seed uint64, names ...string) (set *Set, all []Key) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	var list []Source
	for _, name := range names {
		a := archive.New(archive.Config{MaxBytes: 1 << 20, Origin: archive.Origin{Source: name}})
		list = append(list, Source{Name: name, Archive: a})
	}
	set, err := New(Config{
		Sources: list,
		Queries: budget.NewLimiter(1, time.Second),
		Budget:  time.Minute,
		Now:     func() time.Time { return noon.Add(time.Hour) },
	})
	if err != nil {
		t.Fatal(err)
	}
	type arrival struct {
		second, source int
	}
	var arrivals []arrival
	for range 150 {
		arrivals = append(arrivals, arrival{random.IntN(60), random.IntN(len(names))})
	}
	slices.SortFunc(arrivals, func(a, b arrival) int {
		if a.second != b.second {
			return a.second - b.second
		}
		return a.source - b.source
	})
	for i, at := range arrivals {
		table := encode.Table(func(e *encode.Encoder) { e.Str("tenant", fmt.Sprint("t", i%3)) })
		header := wire.AppendContentHeaderPayload(nil, 0, wire.Property{Name: "headers", Raw: table})
		w := list[at.source].Archive.Writer()
		w.Begin(&wire.Delivery{RoutingKey: []byte("k"), Header: header}, noon.Add(time.Duration(at.second)*time.Second))
		all = append(all, Key{names[at.source], w.Commit()})
	}
	return set, all
}

func keys(v View, ms []archive.Message) (list []Key) {
	for _, m := range ms {
		list = append(list, v.Key(m))
	}
	return list
}

// Pages over several sources, one after the other in either direction, show every message that
// matches once, in the order of its receipt.
func TestPagesOfSeveral(t *testing.T) {
	for seed := range uint64(20) {
		set, all := several(t, seed, "a", "b", "c", "d")
		v := set.View()
		for _, tt := range []struct {
			filter  string
			matches func(i int) bool
		}{
			{"", func(int) bool { return true }},
			{"tenant = t1", func(i int) bool { return i%3 == 1 }},
			{"$source = b", func(i int) bool { return all[i].Source == "b" }},
			{"absent", func(int) bool { return false }},
		} {
			for _, limit := range []int{1, 7, 50, 1000} {
				t.Run(fmt.Sprintf("%d/%s/%d", seed, tt.filter, limit), func(t *testing.T) {
					var want []Key
					for i, k := range all {
						if tt.matches(i) {
							want = append(want, k)
						}
					}
					f := filter(t, tt.filter)
					for _, ascending := range []bool{true, false} {
						r := with(limited(limit), func(r *Request) { r.Ascending = ascending })
						var got []Key
						for pages := 0; ; pages++ {
							p, err := v.Find(t.Context(), f, r)
							if err != nil || pages > len(all) {
								t.Fatal(pages, err)
							}
							if p.Matched != uint64(len(p.Messages)) || len(p.Messages) > limit {
								t.Fatalf("%d of %d matched", len(p.Messages), p.Matched)
							}
							if !ascending {
								slices.Reverse(p.Messages)
								got = append(keys(v, p.Messages), got...)
							} else {
								slices.Reverse(p.Messages)
								got = append(got, keys(v, p.Messages)...)
							}
							if p.Next == nil {
								break
							}
							next, ok := v.Position(v.Text(p.Next), !ascending)
							if !ok || !slices.Equal(next, p.Next) {
								t.Fatalf("%v is read again as %v", p.Next, next)
							}
							if ascending {
								r.Over = next
							} else {
								r.Under = next
							}
						}
						if !slices.Equal(got, want) {
							t.Fatalf("ascending %v: %v, want %v", ascending, got, want)
						}
					}
				})
			}
		}
	}
}

// A place beside a message parts the messages of all sources by their times.
func TestPlacesBesideAMessage(t *testing.T) {
	set, all := several(t, 3, "a", "b", "c")
	v := set.View()
	for i, k := range all {
		m, err := v.Get(k)
		if err != nil {
			t.Fatal(err)
		}
		var older, newer Key
		if i > 0 {
			older = all[i-1]
		}
		if i+1 < len(all) {
			newer = all[i+1]
		}
		got := []Key{{}, {}}
		if m := v.Older(t.Context(), nil, Request{}, m); !m.IsZero() {
			got[0] = v.Key(m)
		}
		if m := v.Newer(t.Context(), nil, Request{}, m); !m.IsZero() {
			got[1] = v.Key(m)
		}
		if got[0] != older || got[1] != newer {
			t.Errorf("beside %v are %v, want %v and %v", k, got, older, newer)
		}
		over, ok1 := v.Position(fmt.Sprintf("%s:%d", k.Source, k.Seq), false)
		under, ok2 := v.Position(fmt.Sprintf("%s:%d", k.Source, k.Seq), true)
		if !ok1 || !ok2 || !slices.Equal(over, v.Above(m)) || !slices.Equal(under, v.Below(m)) {
			t.Errorf("%v is the place %v or %v", k, under, over)
		}
	}
	for _, text := range []string{"", "~", "5", "a:0", "a:1000", "e:1", "~!", "a:x"} {
		if p, ok := v.Position(text, true); ok && text != "~" {
			t.Errorf("%q is the place %v", text, p)
		}
	}
}

// The messages of a range over several sources are its newest, oldest first.
func TestRangesOfSeveral(t *testing.T) {
	set, all := several(t, 5, "a", "b", "c")
	v := set.View()
	for _, most := range []int{1, 20, 150, 1000} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			over, err := v.Newest(t.Context(), nil, Request{}, most)
			if err != nil || over.Count != min(most, 150) || over.More != (most < 150) {
				t.Fatalf("%+v, %v", over, err)
			}
			var got []Key
			err = v.Each(t.Context(), nil, Request{}, over, nil, func(m archive.Message) error {
				got = append(got, v.Key(m))
				return nil
			})
			if want := all[len(all)-min(most, 150):]; err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %v, want %v", got, err, want)
			}
		})
	}
}

// What several sources add up to is what one source with the same messages says.
func TestSummaryOfSeveral(t *testing.T) {
	set, all := several(t, 7, "a", "b", "c")
	v := set.View()
	one, err := New(Config{
		Sources: []Source{{Archive: archive.New(archive.Config{})}},
		Queries: budget.NewLimiter(1, time.Second), Now: set.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := one.Sources[0].Archive.Writer()
	for _, k := range all {
		m, err := v.Get(k)
		if err != nil {
			t.Fatal(err)
		}
		w.Begin(&wire.Delivery{RoutingKey: m.RoutingKey(), Header: m.Header().Payload()}, m.Received())
		w.Commit()
	}
	tenant, err := query.CompileOperand("tenant")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, filter string
		split        *query.Operand
		r            Request
	}{
		{"everything", "", nil, Request{}},
		{"a filter", "tenant = t2", nil, Request{}},
		{"by shape", "tenant", nil, Request{}},
		{"values", "", tenant, Request{}},
		{"values of matches", "tenant IN (t1, t2)", tenant, Request{}},
		{"a time", "", tenant, with(Request{}, func(r *Request) { r.From = noon.Add(20 * time.Second) })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err1 := v.Summarise(t.Context(), filter(t, tt.filter), tt.r, tt.split, time.Minute)
			want, err2 := one.View().Summarise(t.Context(), filter(t, tt.filter), tt.r, tt.split, time.Minute)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Summary{&got, &want} {
				s.Histogram.Explain = query.Explain{}
				if s.Facet != nil {
					s.Facet.Explain = query.Explain{}
				}
			}
			if a, b := fmt.Sprintf("%+v", got.Histogram), fmt.Sprintf("%+v", want.Histogram); a != b {
				t.Errorf("bars %s, want %s", a, b)
			}
			if (got.Facet == nil) != (want.Facet == nil) || got.Facet != nil &&
				fmt.Sprintf("%+v", *got.Facet) != fmt.Sprintf("%+v", *want.Facet) {
				t.Errorf("values %+v, want %+v", got.Facet, want.Facet)
			}
			if (got.Total == nil) != (want.Total == nil) || got.Total != nil &&
				(got.Total.Matched != want.Total.Matched || got.Total.Complete != want.Total.Complete) {
				t.Errorf("total %+v, want %+v", got.Total, want.Total)
			}
		})
	}
	if a, b := fmt.Sprint(v.Names()), fmt.Sprint(one.View().Names()); a != b {
		t.Errorf("names %s, want %s", a, b)
	}
}

// Sources have names of their own, fit for addresses; one that comes later is above every place
// that was written before.
func TestSet(t *testing.T) {
	set, all := several(t, 9, "a", "b")
	end := set.View().Text(set.View().End())
	other := archive.New(archive.Config{Origin: archive.Origin{Source: "c"}})
	for _, tt := range []struct {
		source Source
		want   string
	}{
		{Source{Name: "a", Archive: other}, "two sources of one name: a"},
		{Source{Name: "x/y", Archive: other}, `"x/y" cannot be the name of a source: it holds letters, digits and -._ only`},
		{Source{Name: "c"}, "sources: no archive"},
	} {
		if err := set.Add(tt.source); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if err := set.Add(Source{Name: "c", Archive: other}); err != nil {
		t.Fatal(err)
	}
	w := other.Writer()
	w.Begin(&wire.Delivery{Header: wire.AppendContentHeaderPayload(nil, 0)}, noon)
	w.Commit()
	v := set.View()
	over, ok := v.Position(end, false)
	if !ok || over[2] != 0 {
		t.Fatalf("the place is %v", over)
	}
	p, err := v.Find(t.Context(), nil, with(limited(9), func(r *Request) { r.Over, r.Ascending = over, true }))
	if got := fmt.Sprint(keys(v, p.Messages)); err != nil || got != "[{c 1}]" {
		t.Errorf("after it came %s, %v", got, err)
	}
	set.Remove("a")
	v = set.View()
	if n := fmt.Sprint(set.Names()); n != "[b c]" {
		t.Errorf("left are %s", n)
	}
	if _, err := v.Get(all[0]); all[0].Source == "a" && !errors.Is(err, ErrNoSource) {
		t.Errorf("a message of a source that is gone: %v", err)
	}
	if over, ok := v.Position(end, false); !ok || len(over) != 2 || over[1] != 0 {
		t.Errorf("the place is %v", over)
	}
}

func TestName(t *testing.T) {
	for _, tt := range []struct{ from, want string }{
		{"orders.dlq", "orders.dlq"},
		{"orders/eu west", "orders-eu-west"},
		{"..", "x-2e2e"},
		{".hidden", "hidden"},
		{"ж", "x-d0b6"},
		{"a:b%2F", "a-b-2F"},
		{"", ""},
	} {
		t.Run(tt.from, func(t *testing.T) {
			if got := Name(tt.from); got != tt.want || Name(got) != got {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// One source that fails shows in the state of all, and does not hide what the others are doing.
func TestStateOfSeveral(t *testing.T) {
	set, _ := several(t, 11, "a", "b", "c")
	states := []source.Status{{State: source.Consuming}, {State: source.Consuming}, {State: source.WindowFull}}
	for i, m := range *set.members.Load() {
		m.Status = func() source.Status { return states[i] }
	}
	v := set.View()
	if s := v.Status(); s.Name != "3 sources" || s.State != source.Consuming || !v.Ready() || s.Kept.Messages != 150 {
		t.Errorf("%+v, ready %t", s, v.Ready())
	}
	states[1] = source.Status{State: source.Stopped, Error: "The queue was deleted."}
	if s := v.Status(); s.State != source.Stopped || s.Error != "b: The queue was deleted." || v.Ready() {
		t.Errorf("%+v, ready %t", s, v.Ready())
	}
	states[1] = source.Status{State: source.Paused}
	if !v.Ready() {
		t.Error("one that rests as it is meant to is not ready")
	}
}
