package query

import (
	"sync"
	"testing"

	"github.com/headerglass/headerglass/fieldtable"
)

func TestMemosGiveTheSameVerdicts(t *testing.T) {
	s := numbered(300)
	filters := []string{"n > 100", "mod3 = v1", "mod3", "n = 5 OR mod3 = v2", "pad LIKE '.%'", "malformed()", "$seq > 10", "missing = 1"}
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
