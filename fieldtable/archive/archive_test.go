package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/specimens"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

var epoch = time.Unix(1_700_000_000, 0)

// headerOf makes a content header payload with this table; nil means no headers property.
func headerOf(table []byte, bodySize int) []byte {
	props := []wire.Property{{Name: "content_type", Raw: []byte("text/plain")}}
	if table != nil {
		props = append(props, wire.Property{Name: "headers", Raw: table})
	}
	return wire.AppendContentHeaderPayload(nil, uint64(bodySize), props...)
}

// put appends one message with this table and body and returns its number.
func put(a *Archive, table, body []byte) uint64 {
	w := a.Writer()
	w.Begin(&wire.Delivery{
		DeliveryTag: 1, Exchange: []byte("ex"), RoutingKey: []byte("key"),
		Header: headerOf(table, len(body)), BodySize: uint64(len(body)),
	}, epoch)
	w.Body(body)
	return w.Commit()
}

func keys(names ...string) []byte {
	return encode.Table(func(e *encode.Encoder) {
		for _, name := range names {
			e.Str(name, "v")
		}
	})
}

func TestMessageIsKeptAsDelivered(t *testing.T) {
	a := New(Config{})
	table := keys("tenant")
	d := wire.Delivery{
		Channel:     3,
		DeliveryTag: 1<<63 + 5,
		Redelivered: true,
		ConsumerTag: []byte("ctag"),
		Exchange:    []byte("amq.topic"),
		RoutingKey:  []byte("a.b.c"),
		Header:      headerOf(table, 6),
		BodySize:    6,
	}
	w := a.Writer()
	received := epoch.Add(123456789)
	w.Begin(&d, received)
	w.Body([]byte("abc"))
	w.Body(nil)
	w.Body([]byte("def"))
	if seq := w.Commit(); seq != 1 {
		t.Fatalf("the first number is %d", seq)
	}
	m, err := a.Snapshot().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf(
		"%d %v %d %t %s %s %s %d %d %s",
		m.Seq(),
		m.Received().Equal(received),
		m.DeliveryTag(),
		m.Redelivered(),
		m.ConsumerTag(),
		m.Exchange(),
		m.RoutingKey(),
		m.HeaderSize(),
		m.BodySize(),
		m.Body(),
	)
	want := fmt.Sprintf("1 true 9223372036854775813 true ctag amq.topic a.b.c %d 6 abcdef", len(d.Header))
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !bytes.Equal(m.Header().Payload(), d.Header) {
		t.Errorf("content header %x, want %x", m.Header().Payload(), d.Header)
	}
	if b, ok := m.HeaderTable(); !ok || !bytes.Equal(b, table) {
		t.Errorf("header table %x, %t", b, ok)
	}
}

func TestZeroMessage(t *testing.T) {
	var m Message
	if !m.IsZero() || m.Body() != nil || m.Exchange() != nil || m.HeaderSize() != 0 || m.BodySize() != 0 ||
		m.Redelivered() {
		t.Error("the zero Message has something")
	}
	if _, ok := m.HeaderTable(); ok {
		t.Error("the zero Message has a header table")
	}
}

func TestEmpty(t *testing.T) {
	s := New(Config{}).Snapshot()
	if s.First() != 1 || s.Last() != 0 || s.Len() != 0 {
		t.Errorf("first %d, last %d, %d messages", s.First(), s.Last(), s.Len())
	}
	for range s.Forward(0) {
		t.Error("Forward yields a message")
	}
	for range s.Backward(0) {
		t.Error("Backward yields a message")
	}
	for _, seq := range []uint64{0, 1, 1<<64 - 1} {
		if _, err := s.Get(seq); !errors.Is(err, ErrNotYet) {
			t.Errorf("Get(%d): %v", seq, err)
		}
	}
	if keys := s.Keys(); len(keys) > 0 {
		t.Error(keys)
	}
}

func TestUncommittedIsInvisible(t *testing.T) {
	a := New(Config{})
	w := a.Writer()
	if w.Commit() != 0 {
		t.Error("a message that was not begun has a number")
	}
	put(a, keys("a"), []byte("first"))
	before := a.Stats()
	for _, end := range []func(){w.Abort, func() {}} {
		w.Begin(&wire.Delivery{Header: headerOf(keys("b"), 4), BodySize: 4}, epoch)
		w.Body([]byte("half"))
		if s := a.Snapshot(); s.Last() != 1 {
			t.Errorf("%d messages before Commit", s.Last())
		}
		end()
	}
	w.Abort()
	w.Body([]byte("nowhere"))
	if seq := put(a, keys("a"), []byte("second")); seq != 2 {
		t.Errorf("number %d after the first", seq)
	}
	m, err := a.Snapshot().Get(2)
	if err != nil || string(m.Body()) != "second" {
		t.Errorf("%q, %v", m.Body(), err)
	}
	after := a.Stats()
	before.Stored = 2
	if before != after {
		t.Errorf("left behind: %+v, before %+v", after, before)
	}
	if got := a.Snapshot().Keys(); len(got) != 1 || got[0].Key != "a" {
		t.Errorf("keys %v", got)
	}
}

func TestBodyLimit(t *testing.T) {
	for _, test := range []struct {
		limit int
		want  string
	}{{4, "abcd"}, {6, "abcdef"}, {7, "abcdef"}, {0, "abcdef"}, {-1, ""}} {
		a := New(Config{BodyLimit: test.limit})
		w := a.Writer()
		w.Begin(&wire.Delivery{Header: headerOf(nil, 6), BodySize: 6}, epoch)
		for _, c := range "abcdef" {
			w.Body([]byte(string(c)))
		}
		w.Commit()
		m, _ := a.Snapshot().Get(1)
		if string(m.Body()) != test.want || m.BodySize() != 6 {
			t.Errorf("limit %d: kept %q of %d", test.limit, m.Body(), m.BodySize())
		}
	}
}

// TestBodyClaims: a body size is only a claim until the octets are there.
func TestBodyClaims(t *testing.T) {
	a := New(Config{MaxBytes: 1 << 20, BodyLimit: 1 << 40 >> 10})
	w := a.Writer()
	for i, claim := range []uint64{1 << 63, 1<<64 - 1, 128 << 20} {
		before := a.Stats().Bytes
		w.Begin(&wire.Delivery{Header: headerOf(nil, 0), BodySize: claim}, epoch)
		w.Body([]byte("x"))
		if got := a.Stats().Bytes; got != before {
			t.Errorf("claim %d: %d octets more", claim, got-before)
		}
		seq := w.Commit()
		m, err := a.Snapshot().Get(seq)
		if err != nil || m.BodySize() != claim || string(m.Body()) != "x" || seq != uint64(i+1) {
			t.Errorf("claim %d: %d of %d kept, %v", claim, len(m.Body()), m.BodySize(), err)
		}
	}
}

func TestMessagesLargerThanSegmentAndBound(t *testing.T) {
	const bound = 1 << 20
	a := New(Config{MaxBytes: bound, SegmentBytes: 16 << 10, BodyLimit: 64 << 20})
	small := put(a, keys("small"), []byte("small"))

	body := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	seq := put(a, keys("k"), body)
	m, err := a.Snapshot().Get(seq)
	if err != nil || !bytes.Equal(m.Body(), body) {
		t.Fatalf("larger than a segment: %d octets kept, %v", len(m.Body()), err)
	}
	if _, err := a.Snapshot().Get(small); err != nil {
		t.Error("a message that there was room for is gone:", err)
	}

	huge := bytes.Repeat(body, 32)
	seq = put(a, keys("k"), huge)
	m, err = a.Snapshot().Get(seq)
	if err != nil || m.BodySize() != uint64(len(huge)) || !bytes.HasPrefix(huge, m.Body()) {
		t.Fatalf("larger than the bound: %d of %d octets kept, %v", len(m.Body()), m.BodySize(), err)
	}
	// An eighth is for columns, a 32nd for shapes.
	if len(m.Body()) < bound*8/10 || a.Stats().Bytes > bound {
		t.Errorf("%d octets of the body kept, %d in use", len(m.Body()), a.Stats().Bytes)
	}
	if table, ok := m.HeaderTable(); !ok || !bytes.Equal(table, keys("k")) {
		t.Error("the header is not whole")
	}

	table := encode.Table(func(e *encode.Encoder) { e.Bytes("huge", huge) })
	seq = put(a, table, []byte("body"))
	m, err = a.Snapshot().Get(seq)
	if err != nil || m.HeaderSize() != len(headerOf(table, 4)) ||
		!bytes.HasPrefix(headerOf(table, 4), m.Header().Payload()) {
		t.Fatalf(
			"header larger than the bound: %d of %d octets kept, %v",
			len(m.Header().Payload()),
			m.HeaderSize(),
			err,
		)
	}
	if len(m.Body()) != 0 || m.BodySize() != 4 || !m.Marks().Damaged || string(m.RoutingKey()) != "key" {
		t.Errorf("%d octets of the body, marks %+v", len(m.Body()), m.Marks())
	}
	if got := a.Stats().Bytes; got > bound {
		t.Errorf("%d octets in use", got)
	}
	if seq = put(a, keys("k"), []byte("after")); a.Snapshot().Last() != seq {
		t.Error("nothing can be appended any more")
	}
}

func TestLongNamesAreCut(t *testing.T) {
	a := New(Config{})
	long := bytes.Repeat([]byte("n"), 300)
	w := a.Writer()
	w.Begin(&wire.Delivery{
		ConsumerTag: long,
		Exchange:    long,
		RoutingKey:  long,
		Header:      headerOf(nil, 1),
		BodySize:    1,
	}, epoch)
	w.Body([]byte("x"))
	w.Commit()
	m, _ := a.Snapshot().Get(1)
	if !bytes.Equal(m.RoutingKey(), long[:255]) || string(m.Body()) != "x" {
		t.Errorf("%d octets of routing key, body %q", len(m.RoutingKey()), m.Body())
	}
}

// TestAgainstModel appends random messages to a small archive and compares all of what a snapshot
// says with a plain list.
func TestAgainstModel(t *testing.T) {
	type kept struct {
		key   string
		table []byte
		body  []byte
	}
	r := rand.New(rand.NewSource(1))
	a := New(Config{MaxBytes: 256 << 10, SegmentBytes: 8 << 10, BodyLimit: 1 << 20, MaxShapes: 20})
	var model []kept // message n is at n-1
	w := a.Writer()
	for i := range 4000 {
		k := kept{key: fmt.Sprint("key", i), body: make([]byte, r.Intn(1<<r.Intn(15)))}
		r.Read(k.body)
		names := make([]string, r.Intn(4))
		for j := range names {
			names[j] = string(rune('a' + r.Intn(6)))
		}
		k.table = keys(names...)
		d := wire.Delivery{
			RoutingKey: []byte(k.key),
			Header:     headerOf(k.table, len(k.body)),
			BodySize:   uint64(len(k.body)),
		}
		w.Begin(&d, epoch)
		for chunk := range slices.Chunk(k.body, 1000) {
			w.Body(chunk)
		}
		if r.Intn(5) == 0 {
			w.Abort()
			continue
		}
		model = append(model, k)
		if seq := w.Commit(); seq != uint64(len(model)) {
			t.Fatalf("number %d for message %d", seq, len(model))
		}
		if stats := a.Stats(); stats.Bytes > stats.MaxBytes {
			t.Fatalf("%d octets in use of %d", stats.Bytes, stats.MaxBytes)
		}
		if i%50 != 0 {
			continue
		}

		s := a.Snapshot()
		if s.Last() != uint64(len(model)) {
			t.Fatalf("last %d of %d", s.Last(), len(model))
		}
		want := slices.Collect(func(yield func(uint64) bool) {
			for seq := s.First(); seq <= s.Last(); seq++ {
				if !yield(seq) {
					return
				}
			}
		})
		var forward, backward []uint64
		for m := range s.Forward(0) {
			forward = append(forward, m.Seq())
			k := model[m.Seq()-1]
			table, _ := m.HeaderTable()
			if string(m.RoutingKey()) != k.key || !bytes.Equal(m.Body(), k.body) || !bytes.Equal(table, k.table) {
				t.Fatalf("message %d is not as it was put", m.Seq())
			}
		}
		for m := range s.Backward(0) {
			backward = append(backward, m.Seq())
		}
		slices.Reverse(backward)
		if !slices.Equal(forward, want) || !slices.Equal(backward, want) {
			t.Fatalf("forward %v\nbackward %v\nwant %v", forward, backward, want)
		}
		at := s.First() + uint64(r.Intn(s.Len()+4))
		for m := range s.Backward(at) {
			if m.Seq() != min(at-1, s.Last()) {
				t.Fatalf("before %d comes %d", at, m.Seq())
			}
			break
		}
		for m := range s.Forward(at) {
			if m.Seq() != at+1 {
				t.Fatalf("after %d comes %d", at, m.Seq())
			}
			break
		}
		if first := s.First(); first > 1 {
			if _, err := s.Get(first - 1); !errors.Is(err, ErrEvicted) {
				t.Fatal(err)
			}
		}
		if _, err := s.Get(s.Last() + 1); !errors.Is(err, ErrNotYet) {
			t.Fatal(err)
		}
		checkCounts(t, s)
	}
	if a.Snapshot().First() == 1 {
		t.Error("nothing was evicted")
	}
}

// checkCounts compares the shapes, counts and keys of a snapshot with those of its messages.
func checkCounts(t *testing.T, s Snapshot) {
	t.Helper()
	counts := make([]uint64, len(s.ShapeCounts()))
	byKey := map[string]uint64{}
	for m := range s.Forward(0) {
		table, _ := m.HeaderTable()
		id, shaped := m.ShapeID()
		counts[id]++
		names := map[string]bool{}
		var fields []ShapeField
		for f := range fieldtable.View(table, nil).All() {
			if f.Value.IsZero() {
				break
			}
			fields = append(fields, ShapeField{string(f.Name), f.Value.Tag()})
			if !names[string(f.Name)] {
				names[string(f.Name)] = true
				byKey[string(f.Name)]++
			}
		}
		marks := m.Marks()
		if marks.HeaderCount != len(fields) || marks.Duplicates != (len(names) < len(fields)) {
			t.Fatalf("message %d with %v has marks %+v", m.Seq(), fields, marks)
		}
		if shaped {
			sh := s.Shape(id)
			if sh == nil || !slices.Equal(sh.Fields, fields) || sh.Duplicates != marks.Duplicates {
				t.Fatalf("message %d with %v has shape %d: %+v", m.Seq(), fields, id, sh)
			}
		}
	}
	if got := s.ShapeCounts(); !slices.Equal(got, counts) {
		t.Fatalf("shape counts %v, want %v", got, counts)
	}
	got := s.Keys()
	for _, k := range got {
		if byKey[k.Key] != k.Count {
			t.Fatalf("key %q: %d, want %d", k.Key, k.Count, byKey[k.Key])
		}
	}
	if len(got) != len(byKey) {
		t.Fatalf("%d keys, want %d", len(got), len(byKey))
	}
	if !slices.IsSortedFunc(got, func(a, b KeyCount) int {
		if a.Count != b.Count {
			return int(b.Count) - int(a.Count)
		}
		return strings.Compare(a.Key, b.Key)
	}) {
		t.Fatalf("keys are not in order: %v", got)
	}
}

// The invariants of segment and state, under the race detector: one writer, readers of several
// kinds, constant eviction. Every message says in its body and its table which one it is.

func numbered(seq uint64) (table, body []byte) {
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	table = encode.Table(func(e *encode.Encoder) {
		e.Int64("seq", int64(seq))
		for i, name := range names {
			if seq>>(i+1)&1 == 1 {
				e.Str(name, "v")
			}
		}
	})
	return table, bytes.Repeat(binary.BigEndian.AppendUint64(nil, seq), int(seq%100))
}

func checkNumbered(m Message) error {
	table, body := numbered(m.Seq())
	if got, ok := m.HeaderTable(); !ok || !bytes.Equal(got, table) {
		return fmt.Errorf("message %d has the table %x", m.Seq(), got)
	}
	if !bytes.Equal(m.Body(), body) {
		return fmt.Errorf("message %d has the body %x", m.Seq(), m.Body())
	}
	return nil
}

func TestInvariantsWithReadersAndEviction(t *testing.T) {
	a := New(Config{MaxBytes: 512 << 10, SegmentBytes: 16 << 10, MaxShapes: 100})
	const messages = 30_000
	var done atomic.Bool
	var readers sync.WaitGroup
	check := func(read func(*rand.Rand, Snapshot) error) {
		seed := rand.Int63()
		readers.Go(func() {
			r := rand.New(rand.NewSource(seed))
			for last := false; !last; {
				last = done.Load()
				if err := read(r, a.Snapshot()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	messagesAreWholeAndConsecutive := func(_ *rand.Rand, s Snapshot) error {
		want := s.First()
		for m := range s.Forward(0) {
			if m.Seq() != want {
				return fmt.Errorf("%d follows %d", m.Seq(), want-1)
			}
			if err := checkNumbered(m); err != nil {
				return err
			}
			want++
		}
		if want != s.Last()+1 {
			return fmt.Errorf("Forward ended before %d of %d", want, s.Last())
		}
		return nil
	}
	shapesAgreeWithMessages := func(_ *rand.Rand, s Snapshot) error {
		counts := s.ShapeCounts()
		for i := range s.Segments() {
			g := s.Segment(i)
			for j := range g.Len() {
				id := g.ShapeAt(j)
				counts[id]--
				if id == Unshaped {
					continue
				}
				sh := s.Shape(id)
				if sh == nil || len(sh.Fields) != g.At(j).Marks().HeaderCount {
					return fmt.Errorf("message %d: shape %d is %+v", g.First()+uint64(j), id, sh)
				}
				for i, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
					if _, has := sh.Tag(name); has != ((g.First()+uint64(j))>>(i+1)&1 == 1) {
						return fmt.Errorf("message %d: shape %d is %+v", g.First()+uint64(j), id, sh)
					}
				}
			}
		}
		if slices.ContainsFunc(counts, func(n uint64) bool { return n != 0 }) {
			return fmt.Errorf("the counts are off by %v", counts)
		}
		return nil
	}
	// What is held stays the same while the writer evicts it.
	var held []Snapshot
	snapshotsDoNotChange := func(r *rand.Rand, s Snapshot) error {
		if r.Intn(20) == 0 && len(held) < 8 {
			held = append(held, s)
		}
		for _, old := range held {
			if err := messagesAreWholeAndConsecutive(r, old); err != nil {
				return err
			}
			if err := shapesAgreeWithMessages(r, old); err != nil {
				return err
			}
		}
		if len(held) == 8 {
			held = nil
		}
		return nil
	}
	firstAndLastNeverGoBack := func() func(*rand.Rand, Snapshot) error {
		var first, last uint64
		return func(_ *rand.Rand, s Snapshot) error {
			if s.First() < first || s.Last() < last || s.First() > s.Last()+1 {
				return fmt.Errorf("%d…%d after %d…%d", s.First(), s.Last(), first, last)
			}
			first, last = s.First(), s.Last()
			return nil
		}
	}
	check(messagesAreWholeAndConsecutive)
	check(messagesAreWholeAndConsecutive)
	check(shapesAgreeWithMessages)
	check(shapesAgreeWithMessages)
	check(snapshotsDoNotChange)
	check(firstAndLastNeverGoBack())
	check(func(r *rand.Rand, s Snapshot) error {
		seq := 1 + uint64(r.Intn(messages))
		m, err := s.Get(seq)
		switch {
		case seq < s.First() && !errors.Is(err, ErrEvicted), seq > s.Last() && !errors.Is(err, ErrNotYet):
			return fmt.Errorf("Get(%d) in %d…%d: %v", seq, s.First(), s.Last(), err)
		case err == nil:
			return checkNumbered(m)
		}
		return nil
	})
	check(func(_ *rand.Rand, s Snapshot) error {
		if stats := a.Stats(); stats.Bytes > stats.MaxBytes {
			return fmt.Errorf("%d octets in use of %d", stats.Bytes, stats.MaxBytes)
		}
		s.Keys()
		s.Histogram(epoch, epoch.Add(time.Hour), 100)
		return nil
	})

	for seq := uint64(1); seq <= messages; seq++ {
		table, body := numbered(seq)
		if got := put(a, table, body); got != seq {
			t.Fatalf("number %d for message %d", got, seq)
		}
	}
	done.Store(true)
	readers.Wait()
	if stats := a.Stats(); stats.Evicted == 0 || stats.Stored != messages {
		t.Errorf("%+v", stats)
	}
}

func TestPinned(t *testing.T) {
	a := New(Config{MaxBytes: 512 << 10, SegmentBytes: 16 << 10})
	for range 100 {
		put(a, nil, make([]byte, 1000))
	}
	m, err := a.Snapshot().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		put(a, nil, make([]byte, 1000))
	}
	// A slice of one message keeps its segment, and only that.
	body := m.Body()
	m = Message{}
	settle := func(want int64) {
		t.Helper()
		deadline := time.Now().Add(10 * time.Second)
		for a.Stats().Pinned != want && time.Now().Before(deadline) {
			runtime.GC()
			runtime.Gosched()
		}
		if got := a.Stats().Pinned; got != want {
			t.Errorf("%d octets pinned, want %d", got, want)
		}
	}
	settle(16 << 10)
	runtime.KeepAlive(body)
	settle(0)
}

func TestStats(t *testing.T) {
	a := New(Config{MaxBytes: 512 << 10, SegmentBytes: 16 << 10})
	if s := a.Stats(); s.Stored != 0 || !s.Oldest.IsZero() || s.MaxBytes != 512<<10 {
		t.Errorf("%+v", s)
	}
	w := a.Writer()
	for i := range 1000 {
		w.Begin(&wire.Delivery{Header: headerOf(nil, 1000), BodySize: 1000}, epoch.Add(time.Duration(i)*time.Second))
		w.Body(make([]byte, 1000))
		w.Commit()
	}
	s := a.Stats()
	if s.Stored != 1000 || s.Evicted == 0 || !s.Oldest.Equal(epoch.Add(time.Duration(s.Evicted)*time.Second)) {
		t.Errorf("%+v", s)
	}
}

func TestSegmentReceived(t *testing.T) {
	a := New(Config{})
	w := a.Writer()
	for _, s := range []time.Duration{5, 2, 9, 7} {
		w.Begin(&wire.Delivery{Header: headerOf(nil, 0)}, epoch.Add(s))
		w.Commit()
	}
	oldest, newest := a.Snapshot().Segment(0).Received()
	if !oldest.Equal(epoch.Add(2)) || !newest.Equal(epoch.Add(9)) {
		t.Errorf("%v … %v", oldest, newest)
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	a := New(Config{MaxBytes: 64 << 20})
	r := rand.New(rand.NewSource(1))
	var headers [][]byte
	for range 500 {
		headers = append(headers, headerOf(specimens.Mix(r), 1024))
	}
	body := make([]byte, 1024)
	d := wire.Delivery{Exchange: []byte("amq.topic"), RoutingKey: []byte("orders.created"), BodySize: 1024}
	w := a.Writer()
	i := 0
	if n := testing.AllocsPerRun(20_000, func() {
		d.Header = headers[i%len(headers)]
		i++
		w.Begin(&d, epoch)
		w.Body(body)
		w.Commit()
	}); n > 0 {
		t.Errorf("%v allocations a message", n)
	}
}

// TestMemoryOverhead holds the archive to what its readers are promised: 12 % and 24 octets a
// message over the encoded content headers and names, and few objects.
func TestMemoryOverhead(t *testing.T) {
	const messages = 100_000
	bytesPer, encodedPer, objects := memoryFigures(messages)
	if limit := encodedPer*1.12 + 24; bytesPer > limit {
		t.Errorf("%.1f octets of heap a message for %.1f encoded; the limit is %.1f", bytesPer, encodedPer, limit)
	}
	if objects > 20_000 {
		t.Errorf("%d heap objects", objects)
	}
}

// memoryFigures fills an archive with tables of the mix, without bodies, and measures the heap.
func memoryFigures(messages int) (bytesPer, encodedPer float64, objects uint64) {
	r := rand.New(rand.NewSource(1))
	headers := make([][]byte, 2000)
	for i := range headers {
		headers[i] = headerOf(specimens.Mix(r), 0)
	}
	d := wire.Delivery{
		Exchange:    []byte("amq.topic"),
		RoutingKey:  []byte("orders.created"),
		ConsumerTag: []byte("headerglass"),
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	a := New(Config{MaxBytes: 2 << 30, SegmentBytes: maxSegment})
	w := a.Writer()
	encoded := 0
	for i := range messages {
		d.Header = headers[i%len(headers)]
		encoded += len(d.Header) + len(d.Exchange) + len(d.RoutingKey) + len(d.ConsumerTag)
		w.Begin(&d, epoch)
		w.Commit()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(headers)
	if a.Snapshot().Len() != messages {
		panic("messages were evicted")
	}
	return float64(
			after.HeapAlloc-before.HeapAlloc,
		) / float64(
			messages,
		), float64(
			encoded,
		) / float64(
			messages,
		), after.HeapObjects - before.HeapObjects
}
