// Package eventually is for tests that wait for what no channel tells.
package eventually

import (
	"testing"
	"time"
)

// True waits until ok, which is asked every millisecond, and fails the test at the limit.
func True(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(limit)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}
