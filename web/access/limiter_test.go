package access

import (
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Whose failures they are decides: those of others count for nobody else.
func TestFailuresAreCountedApart(t *testing.T) {
	c := newClock()
	l := newLimiter(c.Now)
	for range 3 * addrFailures {
		if finish, wait := l.begin("192.0.2.1:1", "ann"); wait == 0 {
			finish(true)
		}
	}
	for _, tt := range []struct {
		name, remote, user string
		waits              bool
	}{
		{"the same", "192.0.2.1:2", "ann", true},
		{"another user at that address", "192.0.2.1:2", "bob", false},
		{"a token at that address", "192.0.2.1:2", "", false},
		{"the user at another address", "192.0.2.2:1", "ann", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			finish, wait := l.begin(tt.remote, tt.user)
			if (wait > 0) != tt.waits {
				t.Errorf("waits for %v", wait)
			}
			if finish != nil {
				finish(false)
			}
		})
	}
}

// Logins under way count, so that a burst is no way around the limit.
func TestLoginsUnderWayCount(t *testing.T) {
	l := newLimiter(newClock().Now)
	var all []func(bool)
	for range addrFailures {
		finish, wait := l.begin("192.0.2.1:1", "ann")
		if wait != 0 {
			t.Fatal(wait)
		}
		all = append(all, finish)
	}
	if _, wait := l.begin("192.0.2.1:2", "ann"); wait == 0 {
		t.Error("one more was admitted")
	}
	for _, finish := range all {
		finish(false)
	}
	if _, wait := l.begin("192.0.2.1:2", "ann"); wait != 0 {
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
	for i := range 3 * maxLimited {
		if finish, wait := l.begin(fmt.Sprintf("[2001:db8:%x:%x::]:1", i>>16, i&0xffff), "ann"); wait == 0 {
			finish(true)
		}
		c.forward(200 * time.Millisecond)
	}
	if len(l.who) > maxLimited {
		t.Errorf("%d addresses are remembered", len(l.who))
	}
}

func TestManyLoginsAtOnce(t *testing.T) {
	g := newGuarded(t)
	var wg sync.WaitGroup
	for i := range 80 { // few enough to be hashed before one has waited too long
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
	for _, f := range g.limiter.who {
		if f.pending != 0 {
			t.Error("a login is still under way")
		}
	}
}
