package budget

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What is evicted while work reads is charged to it, and given back when it has read.
func TestReadingIsCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var evicted atomic.Int64
		evicted.Store(1000)
		b := New(100)
		b.Reads(evicted.Load)
		s, told := take(t, b, Page, "a", 10)
		for range 2 {
			end := BeginReading(s.With(t.Context()))
			if n := b.Stats().Pinned; n != 0 {
				t.Errorf("%d bytes before anything is evicted", n)
			}
			evicted.Add(60)
			time.Sleep(readingTick + 1)
			if n := b.Stats().Pinned; n != 60 {
				t.Errorf("%d bytes are kept, want 60", n)
			}
			if _, err := b.Take(t.Context(), Page, "a", 31, nil); !errors.Is(err, ErrFull) {
				t.Errorf("more than is left: %v", err)
			}
			ended := time.AfterFunc(Wait/2, end)
			other, err := b.Take(t.Context(), Page, "a", 31, nil)
			if err != nil || ended.Stop() {
				t.Errorf("when it has read: %v", err)
			}
			other.Release()
			end()
			if n := b.Stats().Pinned; n != 0 || len(b.readers) != 0 {
				t.Errorf("%d bytes are kept afterwards", n)
			}
		}
		if *told {
			t.Error("work that stayed within the budget had to give way")
		}
		BeginReading(context.Background())()
	})
}

// Readings at one time keep the same memory: the largest counts.
func TestReadingsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var evicted atomic.Int64
		b := New(100)
		b.Reads(evicted.Load)
		older, _ := take(t, b, Page, "a", 1)
		older.BeginReading()
		evicted.Add(20)
		newer, _ := take(t, b, Page, "b", 1)
		newer.BeginReading()
		evicted.Add(30)
		time.Sleep(readingTick + 1)
		if n := b.Stats().Pinned; n != 50 {
			t.Errorf("%d bytes are kept, want 50", n)
		}
		older.EndReading()
		if n := b.Stats().Pinned; n != 30 {
			t.Errorf("%d bytes are kept, want 30", n)
		}
		newer.EndReading()
	})
}

// Where evicted memory fills the budget, what others hold gives way as for any other work, and else
// whoever keeps it.
func TestReadingGivesWay(t *testing.T) {
	for _, tt := range []struct {
		name       string
		hog        int64 // bytes that another address holds
		reader     bool  // gives way
		hogGivesIt bool
	}{
		{"alone", 0, true, false},
		{"beside one that holds more", 60, false, true},
		{"beside one that holds less", 5, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var evicted atomic.Int64
				b := New(100)
				b.Reads(evicted.Load)
				hogTold := new(bool)
				if tt.hog > 0 {
					_, hogTold = take(t, b, Page, "hog", tt.hog)
				}
				readerTold := false
				var s *Share
				s, err := b.Take(t.Context(), Page, "a", 10, func() {
					readerTold = true
					go func() { s.EndReading() }()
				})
				if err != nil {
					t.Fatal(err)
				}
				s.BeginReading()
				for range 10 {
					evicted.Add(10)
					time.Sleep(readingTick + 1)
					if n := b.Stats().Pinned + held(b); n > 100+10 {
						t.Fatalf("%d bytes are held and kept", n)
					}
					if readerTold || *hogTold {
						break
					}
				}
				if readerTold != tt.reader || *hogTold != tt.hogGivesIt {
					t.Errorf("told: the reader %v, the other %v", readerTold, *hogTold)
				}
				s.EndReading()
			})
		})
	}
}
