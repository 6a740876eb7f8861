package broker

import (
	"testing"
	"time"
)

func look(s *seen, hashes ...uint64) (shown int) {
	s.begin()
	for _, h := range hashes {
		if !s.meet(h) {
			shown++
		}
	}
	return shown
}

func TestSeenCountsEqualMessages(t *testing.T) {
	s := newSeen(100)
	if n := look(s, 1, 2, 2, 2); n != 4 {
		t.Errorf("first look shows %d of 4", n)
	}
	if n := look(s, 2, 1, 2, 2); n != 0 {
		t.Errorf("the same again shows %d", n)
	}
	if n := look(s, 2, 2, 2, 2, 3); n != 2 {
		t.Errorf("one more of the three and a new one show %d", n)
	}
}

func TestSeenSurvivesLooksThatWereCutOff(t *testing.T) {
	s := newSeen(100)
	look(s, 1, 2, 3)
	for range 10 {
		look(s) // connections that broke before anything came
	}
	if n := look(s, 1, 2, 3); n != 0 {
		t.Errorf("%d shown again", n)
	}
}

func TestSeenForgetsWhatIsLongGone(t *testing.T) {
	s := newSeen(100)
	look(s, 1, 2)
	s.end()
	for range 3 {
		look(s, 1)
		s.end()
	}
	if n := look(s, 1, 2); n != 1 {
		t.Errorf("%d shown: 1 was there all the time, 2 was gone for three looks", n)
	}
}

func TestSeenIsBounded(t *testing.T) {
	s := newSeen(1000)
	for h := range uint64(10_000) {
		if h%100 == 0 {
			s.begin()
		}
		s.meet(h)
		if len(s.entries) > 1000 {
			t.Fatalf("%d entries", len(s.entries))
		}
	}
}

func TestRecentCountsOffWhatComesAgain(t *testing.T) {
	at := time.Unix(0, 0)
	r := newRecent(4)
	for i, h := range []uint64{1, 2, 3, 3, 4} { // 1 is pushed out
		r.stored(h, uint64(i+1))
	}
	if r.claim(3, true, at) {
		t.Error("known before any connection has ended")
	}
	r.disconnected(2)
	for i, tc := range []struct {
		h    uint64
		want bool
	}{{1, false}, {3, true}, {3, true}, {3, false}, {4, true}, {2, true}, {2, false}} {
		if got := r.claim(tc.h, true, at); got != tc.want {
			t.Errorf("%d: %d known: %v", i, tc.h, got)
		}
	}
}

// TestRecentPrefersTwiceToNever: of messages with the same octets, only those that were never
// acknowledged are known. The only one of its kind may come again although it was acknowledged, but
// only soon.
func TestRecentPrefersTwiceToNever(t *testing.T) {
	at := time.Unix(0, 0)
	for settled, want := range []int{4, 3, 2, 1, 0} {
		r := newRecent(10)
		for tag := range uint64(4) {
			r.stored(7, tag+1)
		}
		r.stored(8, 5)
		r.disconnected(uint64(settled))
		known := 0
		for range 10 {
			if r.claim(7, true, at) {
				known++
			}
		}
		if known != want || !r.claim(8, true, at) {
			t.Errorf("acknowledged up to %d: %d known, want %d", settled, known, want)
		}
		r.stored(7, 1)
		r.disconnected(0) // tags of the connection before count no more
		if !r.claim(7, true, at) || r.claim(7, true, at) {
			t.Errorf("acknowledged up to %d: on the next connection not one is known, or more", settled)
		}
	}
	r := newRecent(10)
	for tag, print := range []uint64{1, 2, 3, 4} {
		r.stored(print, uint64(tag+1))
	}
	r.disconnected(3)
	at = at.Add(time.Hour) // however long the broker is away
	if r.claim(9, false, at) || !r.claim(1, true, at.Add(soon-1)) {
		t.Error("soon after the first delivery")
	}
	if r.claim(2, true, at.Add(soon)) {
		t.Error("one that was acknowledged is known long after")
	}
	if !r.claim(4, true, at.Add(soon)) {
		t.Error("one that was never acknowledged is not known")
	}
}
