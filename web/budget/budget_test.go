package budget

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// take takes n bytes that give way by being released.
func take(t *testing.T, b *Budget, kind Kind, addr string, n int64) (*Share, *bool) {
	t.Helper()
	var s *Share
	told := new(bool)
	s, err := b.Take(t.Context(), kind, addr, n, func() {
		*told = true
		go func() { s.Release() }()
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, told
}

func held(b *Budget) (n int64) {
	for _, kind := range Kinds() {
		n += b.Stats().Held[kind]
	}
	return n
}

func TestTakeAndGiveBack(t *testing.T) {
	b := New(100)
	s, _ := take(t, b, Page, "a", 60)
	if err := s.Grow(t.Context(), 40); err != nil {
		t.Fatal(err)
	}
	if n := held(b); n != 100 {
		t.Errorf("%d bytes held, want 100", n)
	}
	if s.TryGrow(1) {
		t.Error("more than all")
	}
	s.Shrink(30)
	if n := held(b); n != 70 {
		t.Errorf("%d bytes held, want 70", n)
	}
	s.Release()
	s.Release()
	if st := b.Stats(); held(b) != 0 || len(b.holders) != 0 || len(b.shares) != 0 {
		t.Errorf("left over: %+v, %v", st, b.holders)
	}
}

func TestRefusedAfterAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		s, told := take(t, b, Page, "a", 100)
		begin := time.Now()
		if _, err := b.Take(t.Context(), Page, "a", 1, nil); !errors.Is(err, ErrFull) || time.Since(begin) != Wait {
			t.Errorf("%v after %v, want %v after %v", err, time.Since(begin), ErrFull, Wait)
		}
		if st := b.Stats(); st.Refused[Page] != 1 || st.Waiting != 0 {
			t.Errorf("%+v", st)
		}
		ctx, cancel := context.WithTimeout(t.Context(), Wait/2)
		defer cancel()
		if _, err := b.Take(ctx, Page, "a", 1, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.AfterFunc(Wait/2, s.Release)
		if _, err := b.Take(t.Context(), Page, "a", 100, nil); err != nil {
			t.Errorf("what is given back in time: %v", err)
		}
		if *told {
			t.Error("work of the same address was ended that did not wait for its peer")
		}
	})
}

// Whoever holds little gets it from whoever holds most, at once.
func TestTheLargestHolderGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		_, little := take(t, b, Page, "little", 20)
		_, first := take(t, b, Page, "hog", 30)
		_, second := take(t, b, Page, "hog", 50)
		begin := time.Now()
		take(t, b, Page, "new", 10)
		if *little || *first || !*second || time.Since(begin) != 0 {
			t.Errorf("told: %v, %v, %v, after %v", *little, *first, *second, time.Since(begin))
		}
		if n := b.Stats().Revoked[Page]; n != 1 {
			t.Errorf("%d gave way, want 1", n)
		}
		// Nobody gives way to one who would hold more.
		if _, err := b.Take(t.Context(), Page, "new", 60, nil); !errors.Is(err, ErrFull) || *little || *first {
			t.Errorf("%v; told: %v, %v", err, *little, *first)
		}
	})
}

// A peer that does not read gives way to others of its own address too.
func TestWhoDoesNotReadGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		reads, reading := take(t, b, Page, "a", 50)
		reads.Stall()
		reads.Resume()
		deaf, told := take(t, b, Page, "a", 50)
		deaf.Stall()
		begin := time.Now()
		take(t, b, Page, "a", 10)
		if d := time.Since(begin); *reading || !*told || d < Patience || d >= Wait+Patience {
			t.Errorf("told: %v, %v, after %v", *reading, *told, d)
		}
	})
}

// Who reads slowly and holds little is left alone while another holds more.
func TestSlowReadersWithLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		slow, told := take(t, b, Page, "slow", 10)
		slow.Stall()
		time.Sleep(2 * Patience)
		_, first := take(t, b, Page, "hog", 50)
		deaf, second := take(t, b, Page, "hog", 40)
		deaf.Stall()
		time.Sleep(Patience)
		take(t, b, Page, "new", 10)
		if *told || *first || !*second {
			t.Errorf("told: %v, %v, %v", *told, *first, *second)
		}
		take(t, b, Page, "new", 35)
		if *told || !*first {
			t.Errorf("told: %v, %v", *told, *first)
		}
	})
}

// What lasts leaves room for what people wait for.
func TestKindsHaveTheirShare(t *testing.T) {
	for _, tt := range []struct {
		kind Kind
		most int64
	}{
		{Page, 100},
		{Export, 50},
		{Feed, 25},
	} {
		t.Run(tt.kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := New(100)
				take(t, b, tt.kind, "a", tt.most)
				if _, err := b.Take(t.Context(), tt.kind, "a", 1, nil); !errors.Is(err, ErrFull) {
					t.Error(err)
				}
				if tt.most < 100 {
					take(t, b, Page, "a", 100-tt.most)
				}
			})
		})
	}
}

// Work that needs more than there is runs alone.
func TestMoreThanThereIs(t *testing.T) {
	b := New(100)
	s, _ := take(t, b, Export, "a", 1000)
	if n := held(b); n != 50 {
		t.Errorf("%d bytes held, want 50", n)
	}
	s.Release()
	if n := held(b); n != 0 {
		t.Errorf("%d bytes held, want 0", n)
	}
}

// Much work of one address that waits does not hold up a little of another.
func TestTheQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		take(t, b, Page, "a", 90)
		go func() { _, _ = b.Take(t.Context(), Page, "a", 50, nil) }()
		synctest.Wait()
		begin := time.Now()
		take(t, b, Page, "b", 10)
		if d := time.Since(begin); d != 0 {
			t.Errorf("waited for %v", d)
		}
		time.Sleep(2 * Wait)
	})
}

// Work that was told to give way and does not is no reason to wait for it alone.
func TestWhoIsToldAndStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		stays := false
		s, err := b.Take(t.Context(), Page, "hog", 60, func() { stays = true })
		if err != nil {
			t.Fatal(err)
		}
		_, second := take(t, b, Page, "hog", 40)
		begin := time.Now()
		other, _ := take(t, b, Page, "other", 10)
		if d := time.Since(begin); !stays || !*second || d < Patience || d >= Wait {
			t.Errorf("told: %v, %v, after %v", stays, *second, d)
		}
		s.Release()
		other.Release()
	})
}
