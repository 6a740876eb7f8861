package access

import (
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

func TestFailedLoginsInAllAreLimited(t *testing.T) {
	c := newClock()
	l := newLimiter(c.Now)
	fail := func(remote string) time.Duration {
		finish, wait := l.begin(remote)
		if wait == 0 {
			finish(true)
		}
		return wait
	}
	for i := range totalFailures {
		if wait := fail(fmt.Sprintf("[2001:db8:%x::1]:1", i)); wait != 0 {
			t.Fatalf("failure %d has to wait %v", i+1, wait)
		}
	}
	if wait := fail("192.0.2.1:1"); wait < time.Second {
		t.Errorf("failure %d has to wait %v", totalFailures+1, wait)
	}
	c.forward(totalFailInterval)
	if wait := fail("192.0.2.1:1"); wait != 0 {
		t.Errorf("after %v, it has to wait %v", totalFailInterval, wait)
	}
}

// Logins under way count, so that a burst is no way around the limit.
func TestLoginsUnderWayCount(t *testing.T) {
	l := newLimiter(newClock().Now)
	var all []func(bool)
	for range addrFailures {
		finish, wait := l.begin("192.0.2.1:1")
		if wait != 0 {
			t.Fatal(wait)
		}
		all = append(all, finish)
	}
	if _, wait := l.begin("192.0.2.1:2"); wait == 0 {
		t.Error("one more was admitted")
	}
	for _, finish := range all {
		finish(false)
	}
	if _, wait := l.begin("192.0.2.1:2"); wait != 0 {
		t.Errorf("after all succeeded: wait %v", wait)
	}
}

func TestLimitedAddresses(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:80":              "192.0.2.1/32",
		"[::ffff:192.0.2.1]:80":     "192.0.2.1/32",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80":         "fe80::/64",
		"@":                         "invalid Prefix",
		"":                          "invalid Prefix",
		"pipe:1":                    "invalid Prefix",
	} {
		t.Run(remote, func(t *testing.T) {
			if got := Network(remote).String(); got != want {
				t.Errorf("%s: %s, want %s", remote, got, want)
			}
		})
	}
	c := newClock()
	l := newLimiter(c.Now)
	for i := range 3 * maxLimitedAddrs {
		if finish, wait := l.begin(fmt.Sprintf("[2001:db8:%x:%x::]:1", i>>16, i&0xffff)); wait == 0 {
			finish(true)
		}
		c.forward(totalFailInterval)
	}
	if len(l.addrs) > maxLimitedAddrs {
		t.Errorf("%d addresses are remembered", len(l.addrs))
	}
}

func TestManyLoginsAtOnce(t *testing.T) {
	g := newGuarded(t)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = fmt.Sprintf("198.51.100.%d:1", i%50)
			password := testPassword
			if i%2 == 1 {
				password = "wrong"
			}
			r.SetBasicAuth("ann", password)
			_, err := g.Login(r)
			if _, limited := err.(*LimitError); !limited && (err == nil) != (i%2 == 0) {
				t.Errorf("password %q: %v", password, err)
			}
		})
	}
	wg.Wait()
	for _, f := range g.limiter.addrs {
		if f.pending != 0 {
			t.Error("a login is still under way")
		}
	}
}
