package access

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fakeConn is a connection of a network that notes when it is closed.
type fakeConn struct {
	net.Conn
	name   string
	remote string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(c.remote), Port: 1}
}

func (c *fakeConn) Close() error {
	c.closed = true
	return nil
}

// Each step is an event a second after the one before: "+" opens, "!" begins a request, "." ends
// it, "-" closes. A connection is named after its network's last number and a letter.
func TestPlacesAreGivenFairly(t *testing.T) {
	for _, tt := range []struct{ name, steps, closed string }{
		{"room for all", "+1a +1b +2a", ""},
		{"the one silent longest", "+1a +1b +1c +1d", "1a"},
		{"of those without a request", "+1a !1a +1b +1c +1d", "1b"},
		{"after its request", "+1a !1a +1b +1c .1a +1d", "1b"},
		{"of who has the most", "+2a +1a +1b +3a", "1a"},
		{"who has the most gives way to itself", "+2a +1a +1b +1c", "1a"},
		{"a new one where all are busy", "+1a !1a +1b !1b +1c !1c +2a", "2a"},
		{"the less of two where the other is busy", "+1a !1a +1b !1b +2a +3a", "2a"},
		{"a place that was left", "+1a +1b +1c -1b +2a", ""},
		{"room for all of one network", "+9a +9b", ""},
		{"more than one network gets, though there is room", "+9a +9b +9c", "9a"},
		{"more than one network gets, all busy", "+9a !9a +9b !9b +9c", "9c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewConns(3, 3)
				if tt.steps[1] == '9' {
					c.each = 2
				}
				conns := map[string]*fakeConn{}
				for step := range strings.FieldsSeq(tt.steps) {
					name := step[1:]
					if conns[name] == nil {
						conns[name] = &fakeConn{name: name, remote: "192.0.2." + name[:1]}
					}
					state := map[byte]http.ConnState{
						'+': http.StateNew, '!': http.StateActive, '.': http.StateIdle, '-': http.StateClosed,
					}[step[0]]
					c.Changed(conns[name], state)
					time.Sleep(time.Second)
				}
				var closed []string
				for _, one := range conns {
					if one.closed {
						closed = append(closed, one.name)
					}
				}
				slices.Sort(closed)
				if got := strings.Join(closed, " "); got != tt.closed {
					t.Errorf("closed %q, want %q", got, tt.closed)
				}
				n := 0
				for _, of := range c.networks {
					n += of
				}
				if n != len(c.open) || n > 3 {
					t.Errorf("%d connections of %s", n, fmt.Sprint(c.networks))
				}
			})
		})
	}
}
