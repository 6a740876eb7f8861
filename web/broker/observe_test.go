package broker

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// TestOwnSubscriptionsAreNotOthers: when peek opens its window it has two for a moment, and a
// broker that is asked then counts both.
func TestOwnSubscriptionsAreNotOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{product: "other", version: "1", waiting: 7, others: 1}
		s.consume = func(c *scriptConn, tag string, _ uint16, _ []byte) { c.deliver(tag, false, nil) }
		held, twice := "", false
		s.cancel = func(tag string) bool { held = tag; return false }
		s.declare = func(c *scriptConn) { // the subscription is still there when the observer asks
			twice = twice || c.own == 2
			if held != "" {
				c.cancelled(held)
				held = ""
			}
		}
		c, stop := s.start(t, Config{})
		defer stop()
		for range 200 {
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			if st := c.Status(); !st.ObservedAt.IsZero() && (st.Consumers != 1 || st.Ready != 7) {
				t.Fatalf("%d others, %d messages ready", st.Consumers, st.Ready)
			}
		}
		if st := c.Status(); !twice || st.ObservedAt.IsZero() {
			t.Errorf("two were counted: %t; %+v", twice, st)
		}
		s.cancel = nil
	})
}

// TestStandbyBySilence: a queue that has messages and another consumer, and delivers none here, is
// said to serve the other.
func TestStandbyBySilence(t *testing.T) {
	for _, tc := range []struct {
		name            string
		mode            source.Mode
		waiting, others uint32
		delivers, want  bool
	}{
		{"peek", source.Peek, 5, 1, false, true},
		{"drain", source.Drain, 5, 2, false, true},
		{"nothing waits", source.Peek, 0, 1, false, false},
		{"nobody else is there", source.Peek, 5, 0, false, false},
		{"something came", source.Peek, 5, 1, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{product: "other", version: "1", waiting: tc.waiting, others: tc.others}
				var deliver func()
				s.consume = func(c *scriptConn, tag string, _ uint16, _ []byte) {
					deliver = func() { c.deliver(tag, false, nil) }
					if tc.delivers {
						deliver()
					}
				}
				c, stop := s.start(t, Config{Mode: tc.mode})
				defer stop()
				says := func(after time.Duration) bool {
					time.Sleep(after)
					synctest.Wait()
					return slices.Contains(c.Status().Notes, standbyNote)
				}
				if says(observeEvery / 2) {
					t.Error("said at once")
				}
				if got := says(silentLooks * observeEvery); got != tc.want {
					t.Errorf("said: %t, want %t", got, tc.want)
				}
				deliver()
				if says(2 * observeEvery) {
					t.Error("said though something arrives")
				}
			})
		})
	}
}
