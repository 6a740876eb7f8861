package traffic

import (
	"bytes"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/demoserver"
)

func take(seed uint64, n int) []demoserver.Message {
	g := New(seed)
	messages := make([]demoserver.Message, n)
	for i := range messages {
		messages[i] = g.Next()
	}
	return messages
}

func same(a, b demoserver.Message) bool {
	return a.Exchange == b.Exchange && a.RoutingKey == b.RoutingKey && a.Redelivered == b.Redelivered &&
		bytes.Equal(a.Header, b.Header) && bytes.Equal(a.Body, b.Body)
}

func TestSameSeedSameOctets(t *testing.T) {
	a, b, other := take(7, 2000), take(7, 2000), take(8, 2000)
	differ := 0
	for i := range a {
		if !same(a[i], b[i]) {
			t.Fatalf("message %d differs between two generators of one seed", i)
		}
		if !same(a[i], other[i]) {
			differ++
		}
	}
	if differ < 1900 {
		t.Errorf("only %d of 2,000 messages differ between two seeds", differ)
	}
}

func table(t *testing.T, m demoserver.Message) (fieldtable.Table, bool) {
	t.Helper()
	h := wire.ViewContentHeader(m.Header)
	if h.ClassID() != 60 || h.BodySize() != uint64(len(m.Body)) {
		t.Fatalf("class %d, body size %d of %d", h.ClassID(), h.BodySize(), len(m.Body))
	}
	encoded, ok := h.HeaderTable()
	return fieldtable.View(encoded, fieldtable.Lenient()), ok
}

func TestFirstSixtyShowEverything(t *testing.T) {
	tags := map[byte]bool{}
	var walk func(v fieldtable.Value)
	walk = func(v fieldtable.Value) {
		tags[v.Tag()] = true
		if nested, ok := v.Table(); ok {
			for f, err := range nested.All() {
				if err == nil {
					walk(f.Value)
				}
			}
		}
		if array, ok := v.Array(); ok {
			for v, err := range array.All() {
				if err == nil {
					walk(v)
				}
			}
		}
	}
	var damaged, duplicates, headerless, longKeys, pastFrameMax, large int
	exchanges := map[string]bool{}
	for _, m := range take(1, 60) {
		exchanges[m.Exchange] = true
		if len(m.RoutingKey) == 255 {
			longKeys++
		}
		if len(m.Header) > 131064 {
			pastFrameMax++
		}
		tab, ok := table(t, m)
		if !ok {
			headerless++
			continue
		}
		names := map[string]bool{}
		twice := false
		for f, err := range tab.All() {
			if err != nil {
				continue
			}
			twice = twice || names[string(f.Name)]
			names[string(f.Name)] = true
			if len(f.Value.Raw()) == 64<<10 {
				large++
			}
			walk(f.Value)
		}
		if twice {
			duplicates++
		}
		if tab.Valid() != nil {
			damaged++
		}
	}
	for _, tag := range []byte("tbBsUuIilLfdDScCxkTVFA") {
		if !tags[tag] {
			t.Errorf("no value with tag %c", tag)
		}
	}
	for what, n := range map[string]int{
		"duplicate keys":        duplicates,
		"long routing key":      longKeys,
		"header past frame_max": pastFrameMax,
		"value of 64 KiB":       large,
	} {
		if n == 0 {
			t.Errorf("missing: %s", what)
		}
	}
	if damaged < 3 {
		t.Errorf("%d damaged tables", damaged)
	}
	if len(exchanges) < 8 {
		t.Errorf("%d exchanges", len(exchanges))
	}
}

func TestProportions(t *testing.T) {
	const n = 6000
	var damaged, redelivered, dead, bytes int
	g := New(3)
	for range n {
		m := g.Next()
		if len(m.RoutingKey) > 255 || len(m.Exchange) > 255 {
			t.Fatal("a name that a short string cannot hold")
		}
		bytes += len(m.Header)
		if m.Redelivered {
			redelivered++
		}
		tab, ok := table(t, m)
		if !ok {
			continue
		}
		if tab.Valid() != nil {
			damaged++
		}
		if _, ok := tab.Get("x-death"); ok {
			dead++
		}
	}
	between := func(what string, got int, low, high float64) {
		t.Helper()
		if p := 100 * float64(got) / n; p < low || p > high {
			t.Errorf("%s: %.2f %%, want %.1f to %.1f", what, p, low, high)
		}
	}
	between("damaged tables", damaged, 0.2, 1.5)
	between("redelivered", redelivered, 2, 4)
	between("dead-lettered", dead, 6, 10)
	if average := bytes / n; average < 300 || average > 2000 {
		t.Errorf("%d octets of content header on average", average)
	}
}
