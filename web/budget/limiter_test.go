package budget

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(2, time.Second)
		first, err := l.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := l.Acquire(t.Context()); !errors.Is(err, ErrBusy) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a query whose browser is gone: %v", err)
		}
		got := make(chan error)
		go func() {
			_, err := l.Acquire(t.Context())
			got <- err
		}()
		synctest.Wait()
		first()
		first()
		if err := <-got; err != nil {
			t.Errorf("a place became free: %v", err)
		}
		if _, err := l.Acquire(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("one place was given back twice: %v", err)
		}
	})
}

// However many one address asks for, another gets a place.
func TestPlacesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(8, time.Second)
		hog, other := For(t.Context(), "hog"), For(t.Context(), "other")
		for range 6 {
			if _, err := l.Acquire(hog); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.Acquire(hog); !errors.Is(err, ErrBusy) {
			t.Errorf("one address got more than its places: %v", err)
		}
		begin := time.Now()
		if _, err := l.Acquire(other); err != nil || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if st := l.Stats(); st.Running != 7 || st.Waiting != 0 || st.Refused != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// A place that becomes free goes to the address with the fewest running, and there to who has
// waited longest.
func TestWhoIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewTurns(Limits{All: 2, Each: 2, Line: 2})
		first, err := l.Acquire(For(t.Context(), "hog"))
		if err != nil {
			t.Fatal(err)
		}
		second, err := l.Acquire(For(t.Context(), "hog"))
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan string, 3)
		ask := func(addr, name string) {
			go func() {
				if _, err := l.Acquire(For(t.Context(), addr)); err != nil {
					t.Error(err)
				}
				got <- name
			}()
			synctest.Wait()
		}
		ask("hog", "hog's third")
		ask("hog", "hog's fourth")
		ask("little", "little's first")
		if _, err := l.Acquire(For(t.Context(), "hog")); !errors.Is(err, ErrBusy) {
			t.Errorf("the line is full: %v", err)
		}
		first()
		if name := <-got; name != "little's first" {
			t.Errorf("%s came first", name)
		}
		second()
		if name := <-got; name != "hog's third" {
			t.Errorf("%s came second", name)
		}
		gone, cancel := context.WithCancel(For(t.Context(), "little"))
		time.AfterFunc(time.Hour, cancel)
		if _, err := l.Again(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("who is gone: %v", err)
		}
		if st := l.Stats(); st.Running != 2 || st.Waiting != 1 || st.Refused != 1 {
			t.Errorf("%+v", st)
		}
		l.leave("hog")
		<-got
	})
}
