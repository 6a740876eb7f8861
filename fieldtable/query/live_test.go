package query

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/encode"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestMemosGiveTheSameVerdicts(t *testing.T) {
	shared := NewMemos(numberedArchive(300))
	filters := []string{
		"n > 100",
		"mod3 = v1",
		"mod3",
		"n = 5 OR mod3 = v2",
		"pad LIKE '.%'",
		"malformed()",
		"$seq > 10",
		"missing = 1",
	}
	var wg sync.WaitGroup
	for _, filter := range filters {
		q := compile(t, filter)
		for _, d := range []*fieldtable.Dialect{fieldtable.Lenient(), fieldtable.RabbitMQ()} {
			wg.Go(func() {
				live, alone := q.Matcher(nil, d), q.Matcher(nil, d)
				s := shared.Snapshot()
				for m := range s.Forward(0) {
					if got, want := live.MatchLive(m), alone.Match(s.Snapshot, m.Message); got != want {
						t.Errorf("%s, message %d: %v, want %v", filter, m.Seq(), got, want)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestMemosAreShared(t *testing.T) {
	shared := NewMemos(numberedArchive(liveMessages + 1))
	s := shared.Snapshot()
	first, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	later, err := s.Get(liveMessages + 1)
	if err != nil {
		t.Fatal(err)
	}
	d := fieldtable.Lenient()
	memo := shared.of(first, d)
	if memo == nil || shared.of(first, d) != memo {
		t.Error("one message, one dialect, two memos")
	}
	if shared.of(first, fieldtable.RabbitMQ()) == memo || shared.of(later, d) == memo {
		t.Error("a memo is shared with another dialect or message")
	}
}

// Neither a memo nor a matcher that rests refers to a byte of the archive, which would keep a
// segment of what is evicted.
func TestMemosHoldNoSegment(t *testing.T) {
	a := archive.New(archive.Config{MaxBytes: 512 << 10, SegmentBytes: 16 << 10})
	w := a.Writer()
	header := wire.AppendContentHeaderPayload(nil, 0, wire.Property{
		Name: "headers",
		Raw:  encode.Table(func(e *encode.Encoder) { e.Int32("n", 1) }),
	})
	put := func() {
		w.Begin(&wire.Delivery{Header: header, BodySize: 1000}, time.Now())
		w.Body(make([]byte, 1000))
		w.Commit()
	}
	shared := NewMemos(a)
	x := compile(t, "n = 2").Matcher(nil, nil)
	put()
	for m := range shared.Snapshot().Forward(0) {
		x.MatchLive(m)
	}
	x.Rest()
	for range 1000 {
		put()
	}
	deadline := time.Now().Add(10 * time.Second)
	for a.Stats().Pinned > 0 && time.Now().Before(deadline) {
		runtime.GC()
		runtime.Gosched()
	}
	if n := a.Stats().Pinned; n > 0 {
		t.Errorf("%d bytes of what is evicted are kept", n)
	}
	runtime.KeepAlive(shared)
	runtime.KeepAlive(x)
}

// Two archives count from 1 each: the answer for a message of one says nothing about the other's.
func TestMemosOfTwoArchives(t *testing.T) {
	q := compile(t, "n = 1 AND NOT gone")
	for _, n := range []int32{1, 2} {
		a := archive.New(archive.Config{MaxBytes: 1 << 20})
		table := encode.Table(func(e *encode.Encoder) { e.Int32("n", n) })
		appendMessage(a.Writer(), &testMessage{table: table})
		x, memos := q.Matcher(nil, nil), NewMemos(a)
		for m := range memos.Snapshot().Forward(0) {
			if got, want := x.MatchLive(m), x.Match(m.from.Snapshot, m.Message); got != want {
				t.Errorf("n = %d: %v, want %v", n, got, want)
			}
		}
	}
}
