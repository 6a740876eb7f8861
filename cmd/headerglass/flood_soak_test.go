//go:build soak

package main

import (
	"testing"
	"time"
)

func TestLiveFloodForAMinute(t *testing.T) {
	flood{rate: 5000, last: time.Minute, inp: 200 * time.Millisecond}.run(t)
}
