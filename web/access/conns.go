package access

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Conns bounds how many connections are open, in all and from one network. Where places are scarce,
// one without a request under way gives its place to a new one: of the network that has the most,
// the one that has been silent longest. So whoever opens many shuts out only themselves. Feeds are
// bounded elsewhere.
type Conns struct {
	max, each int // each: from one network

	mu       sync.Mutex
	open     map[net.Conn]*connState // guarded by mu; at most max
	networks map[netip.Prefix]int    // guarded by mu; of open, no zeros
}

type connState struct {
	network netip.Prefix
	silent  time.Time // since when no request is under way; zero: one is
}

// NewConns allows max connections, and each of them from one network.
func NewConns(max, each int) *Conns {
	return &Conns{max: max, each: each, open: make(map[net.Conn]*connState), networks: make(map[netip.Prefix]int)}
}

// Changed is the ConnState of an http.Server.
func (c *Conns) Changed(conn net.Conn, to http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch to {
	case http.StateNew:
		s := &connState{network: Network(conn.RemoteAddr().String()), silent: time.Now()}
		c.open[conn] = s
		c.networks[s.network]++
		switch {
		case c.networks[s.network] > c.each:
			c.close(c.victim(conn, true))
		case len(c.open) > c.max:
			c.close(c.victim(conn, false))
		}
	case http.StateActive:
		if s := c.open[conn]; s != nil {
			s.silent = time.Time{}
		}
	case http.StateIdle:
		if s := c.open[conn]; s != nil {
			s.silent = time.Now()
		}
	case http.StateHijacked, http.StateClosed:
		c.forget(conn)
	}
}

// victim is the connection that gives way to a new one, of the same network where own: the new one
// itself where all others are busy.
func (c *Conns) victim(newest net.Conn, own bool) net.Conn {
	found, of := newest, c.open[newest]
	network := of.network
	for conn, s := range c.open {
		if conn == newest || s.silent.IsZero() || own && s.network != network {
			continue
		}
		more := c.networks[s.network] - c.networks[of.network]
		if found == newest && more >= 0 || more > 0 || more == 0 && s.silent.Before(of.silent) {
			found, of = conn, s
		}
	}
	return found
}

func (c *Conns) close(conn net.Conn) {
	c.forget(conn)
	below := conn
	if t, ok := conn.(*tls.Conn); ok {
		below = t.NetConn() // without a farewell, which would wait for the peer
	}
	_ = below.Close()
}

func (c *Conns) forget(conn net.Conn) {
	s := c.open[conn]
	if s == nil {
		return
	}
	delete(c.open, conn)
	if c.networks[s.network]--; c.networks[s.network] == 0 {
		delete(c.networks, s.network)
	}
}
