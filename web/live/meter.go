package live

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// maxReadRate is how many bytes a browser may send in a second: several times
// what maxReadsPerSec acknowledgements take. It also bounds what no limit on
// messages sees, such as fragments without content.
const maxReadRate = 16 << 10

// metered hands out a connection that fails with errFlood.
type metered struct{ http.ResponseWriter }

func (m metered) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(m.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &meteredConn{Conn: c}, rw, nil
}

// meteredConn belongs to one reader.
type meteredConn struct {
	net.Conn
	window time.Time // when the current second began
	bytes  int       // read in it
}

func (c *meteredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if now := time.Now(); now.Sub(c.window) > time.Second {
		c.window, c.bytes = now, 0
	}
	if c.bytes += n; c.bytes > maxReadRate {
		return 0, errFlood
	}
	return n, err
}
