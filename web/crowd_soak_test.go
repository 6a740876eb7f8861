//go:build soak

package web

import (
	"testing"
	"time"
)

func TestCrowdOf5000(t *testing.T) {
	crowd{n: 5000, pages: 101, latency: 0.1, slack: 5 * time.Millisecond, perConn: 128 << 10}.run(t)
}
