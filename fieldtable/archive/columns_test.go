package archive

import (
	"fmt"
	"hash/maphash"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
)

// built is the column that collects these values; "" is none, "?" one that only reading tells,
// "!" one that damage hides.
func built(b *ColumnBuilder, values ...string) *Column {
	b.begin(len(values), maphash.MakeSeed())
	for _, v := range values {
		switch v {
		case "":
			b.None()
		case "?":
			b.Unread()
		case "!":
			b.Hidden()
		default:
			b.Value([]byte(v))
		}
	}
	return b.column()
}

func TestColumnWithDictionary(t *testing.T) {
	c := built(new(ColumnBuilder), "a", "", "b", "b", "?", "a", "!")
	if got := fmt.Sprint(c.Codes(), c.Counts(), c.Keyed()); got != "[3 0 4 4 2 3 1] [1 1 1 2 2] false" {
		t.Error(got)
	}
	if a, b := string(c.Value(3)), string(c.Value(4)); a != "a" || b != "b" {
		t.Errorf("%q and %q", a, b)
	}
}

// A value with many others is found by its key; those that no message has are not found.
func TestKeyedColumn(t *testing.T) {
	b := ColumnBuilder{Entries: 2, Key: func(dst, value []byte) ([]byte, bool) {
		return append(dst, strings.ToLower(string(value))...), string(value) != "none"
	}}
	c := built(&b, "a", "", "B", "?", "A", "c", "none", "b")
	codes := c.Codes()
	if !c.Keyed() || fmt.Sprint(c.Counts(), codes[1], codes[3], codes[6]) != "[1 0 2] 0 2 2" {
		t.Fatalf("keyed %v, %v, %v", c.Keyed(), c.Counts(), codes)
	}
	if codes[0] != codes[4] || codes[2] != codes[7] {
		t.Errorf("equal keys have different codes: %v", codes)
	}
	for i, key := range map[int]string{0: "a", 2: "b", 5: "c"} {
		if code, ok := c.Find([]byte(key)); !ok || code != codes[i] {
			t.Errorf("%s: %d, %v, want %d", key, code, ok, codes[i])
		}
	}
	found := 0
	for i := range 1000 {
		if _, ok := c.Find(fmt.Append(nil, "absent", i)); ok {
			found++
		}
	}
	if found > 100 {
		t.Errorf("%d absent keys of 1000 are found", found)
	}
}

func TestFilter(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, n := range []int{0, 1, 10_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = r.Uint64()
			}
			f := newFilter(hashes)
			for _, h := range hashes {
				if !f.has(h) {
					t.Fatalf("%x is missing", h)
				}
			}
			wrong := 0
			for range 100_000 {
				if f.has(r.Uint64()) {
					wrong++
				}
			}
			if wrong > 100_000/100 {
				t.Errorf("%d of 100,000 absent hashes are taken for present", wrong)
			}
		})
	}
}

// columned is an archive with some sealed segments.
func columned(t *testing.T, limit int64) *Archive {
	t.Helper()
	a := New(Config{MaxBytes: limit, SegmentBytes: 16 << 10})
	for a.Snapshot().Segments() < 5 {
		put(a, keys("a"), nil)
	}
	return a
}

// ask asks for a column in all segments, and returns in how many it had to be built and in how many
// there is none.
func ask(s Snapshot, name string) (builds, none int) {
	var b ColumnBuilder
	q := s.Columns()
	for i := range s.Segments() {
		g := s.Segment(i)
		c := q.Of(g, ColumnName{Name: name}, &b, func(b *ColumnBuilder) {
			builds++
			for range g.Len() {
				b.Value([]byte(name))
			}
		})
		if c == nil {
			none++
		}
	}
	return builds, none
}

func TestColumnsAreKept(t *testing.T) {
	a := columned(t, 1<<20)
	s := a.Snapshot()
	for i, want := range []string{"4 1", "0 1"} { // the newest segment has none
		builds, none := ask(s, "a")
		if got := fmt.Sprint(builds, none); got != want {
			t.Errorf("question %d: %s, want %s", i, got, want)
		}
	}
	// Names under another dialect are others.
	g := s.Segment(0)
	c := s.Columns().Of(g, ColumnName{"a", fieldtable.QpidJava()}, new(ColumnBuilder), func(b *ColumnBuilder) {
		for range g.Len() {
			b.None()
		}
	})
	if c == nil || c.Counts()[NoValue] == 0 {
		t.Errorf("%+v", c)
	}
}

// Of the names that there is no room for, those go that were not asked for the longest; what one
// question uses stays while it lasts.
func TestColumnsNotUsedGoFirst(t *testing.T) {
	a := columned(t, 256<<10) // 32 KiB for columns
	s := a.Snapshot()
	_, _ = ask(s, "a")
	size := a.Stats().Columns
	fit := int(a.Stats().MaxBytes / columnShare / size)
	if size == 0 || fit < 2 {
		t.Fatalf("columns take %d bytes", size)
	}
	for i := range fit {
		_, _ = ask(s, fmt.Sprint(i))
		if builds, _ := ask(s, "a"); builds > 0 {
			t.Fatalf("a is built again beside %d others", i+1)
		}
	}
	if builds, _ := ask(s, "0"); builds == 0 {
		t.Error("what was used longest ago is still there")
	}
	q := s.Columns()
	none := 0
	for i := range 3 * fit {
		for j := range s.Segments() - 1 {
			g := s.Segment(j)
			if q.Of(g, ColumnName{Name: fmt.Sprint("same question", i)}, new(ColumnBuilder), func(b *ColumnBuilder) {
				for range g.Len() {
					b.None()
				}
			}) == nil {
				none++
			}
		}
	}
	if none == 0 {
		t.Error("one question dropped its own columns")
	}
	if st := a.Stats(); st.Columns > st.MaxBytes/columnShare || st.Bytes > st.MaxBytes {
		t.Errorf("%d bytes of columns, %d in all, of %d", st.Columns, st.Bytes, st.MaxBytes)
	}
}

// Any number of names takes bounded memory.
func TestColumnNamesAreBounded(t *testing.T) {
	a := columned(t, 64<<20)
	s := a.Snapshot()
	for i := range 2 * maxColumnNames {
		_, _ = ask(s, fmt.Sprint(i))
	}
	if n := len(a.columns.names); n > maxColumnNames {
		t.Errorf("%d names", n)
	}
}

// With a segment go its columns, while questions go on.
func TestColumnsGoWithTheirSegment(t *testing.T) {
	a := columned(t, 256<<10)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for i := range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_, _ = ask(a.Snapshot(), fmt.Sprint(i))
				}
			}
		})
	}
	old := a.Snapshot()
	for range 20_000 {
		put(a, keys("a"), nil)
	}
	close(done)
	wg.Wait()
	if _, none := ask(old, "old"); none != old.Segments() {
		t.Errorf("%d of %d evicted segments have no column", none, old.Segments())
	}
	first := a.Snapshot().First()
	var total int64
	for name, n := range a.columns.names {
		total += n.bytes
		for base := range n.segments {
			if base < first {
				t.Errorf("%s is kept of a segment that began with %d; the oldest message is %d", name.Name, base, first)
			}
		}
	}
	if total != a.columns.bytes {
		t.Errorf("%d bytes are counted, %d are there", a.columns.bytes, total)
	}
}
