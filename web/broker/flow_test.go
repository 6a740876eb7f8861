package broker

import "testing"

// TestFlow: what is under way widens with acknowledgements, is bound by bytes, narrows near the
// limit, and widens again.
func TestFlow(t *testing.T) {
	f := &flow{most: 1000, room: 32 << 20}
	if w := f.begin(true); w != 1 {
		t.Fatalf("it begins with %d", w)
	}
	round := func() int {
		now, _ := f.wants()
		f.acknowledged(uint64(now))
		_, next := f.wants()
		f.resized(next)
		return next
	}
	small := func(n int) {
		for range n {
			f.arrived(500)
		}
	}
	small(1)
	for i, want := range []int{4, 16, 64, 256, 1000, 1000} {
		if got := round(); got != want {
			t.Errorf("round %d: %d, want %d", i+1, got, want)
		}
	}
	f.arrived(16 << 20)
	if _, next := f.wants(); next != 2 {
		t.Errorf("with 16 MiB a message: %d", next)
	}
	f.resized(2)
	small(200)
	for range 6 {
		round()
	}
	if now, _ := f.wants(); now != 1000 {
		t.Errorf("with small messages again: %d", now)
	}
	f.caution(3)
	if _, next := f.wants(); next != 1 {
		t.Errorf("near the limit: %d", next)
	}
	f.resized(1)
	f.acknowledged(2)
	if _, next := f.wants(); next != 1 {
		t.Errorf("still near the limit: %d", next)
	}
	f.acknowledged(1)
	if _, next := f.wants(); next != 4 {
		t.Errorf("past it: %d", next)
	}
}
