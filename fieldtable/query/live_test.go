package query

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/fttest"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

func TestMemosGiveTheSameVerdicts(t *testing.T) {
	s := numbered(300)
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
	var shared Memos
	var wg sync.WaitGroup
	for _, filter := range filters {
		q := compile(t, filter)
		for _, d := range []*fieldtable.Dialect{fieldtable.Lenient(), fieldtable.RabbitMQ()} {
			wg.Go(func() {
				live, alone := q.Matcher(nil, d), q.Matcher(nil, d)
				for m := range s.Forward(0) {
					if got, want := live.MatchLive(s, m, &shared), alone.Match(s, m); got != want {
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
	s := numbered(liveMessages + 1)
	first, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	later, err := s.Get(liveMessages + 1)
	if err != nil {
		t.Fatal(err)
	}
	d := fieldtable.Lenient()
	var shared Memos
	memo := shared.of(first, d)
	if memo == nil || shared.of(first, d) != memo {
		t.Error("one message, one dialect, two memos")
	}
	if shared.of(first, fieldtable.RabbitMQ()) == memo || shared.of(later, d) == memo {
		t.Error("a memo is shared with another dialect or message")
	}
}

// A memo refers to no byte of the archive, which would keep a segment of what is evicted.
func TestMemosHoldNoSegment(t *testing.T) {
	a := archive.New(archive.Config{MaxBytes: 512 << 10, SegmentBytes: 16 << 10})
	w := a.Writer()
	header := wire.AppendContentHeaderPayload(nil, 0, wire.Property{
		Name: "headers",
		Raw:  fttest.Table(func(e *fttest.Encoder) { e.Int32("n", 1) }),
	})
	put := func() {
		w.Begin(&wire.Delivery{Header: header, BodySize: 1000}, time.Now())
		w.Body(make([]byte, 1000))
		w.Commit()
	}
	var shared Memos
	x := compile(t, "n = 2").Matcher(nil, nil)
	put()
	s := a.Snapshot()
	m, err := s.Get(1)
	if err != nil {
		t.Fatal(err)
	}
	x.MatchLive(s, m, &shared)
	x, s, m = nil, archive.Snapshot{}, archive.Message{}
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
	runtime.KeepAlive(&shared)
}
