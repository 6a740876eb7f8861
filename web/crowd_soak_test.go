//go:build soak

package web

import "testing"

func TestCrowdOf5000(t *testing.T) {
	crowd{n: 5000, rounds: 20, pages: 101, latency: 0.1, perConn: 128 << 10}.run(t)
}
