package access

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// An address may fail so often at once, and then once in every interval.
	addrFailures       = 20
	addrFailInterval   = 3 * time.Second
	totalFailures      = 100
	totalFailInterval  = 200 * time.Millisecond
	maxLimitedAddrs    = 4096
	ipv6PrefixBits     = 64 // a network, since whoever has one has all its addresses
	minLoginRetryAfter = time.Second
)

// limiter bounds failed logins, from one address and in all. A login
// under way counts as failed until it has succeeded, so that many at once
// are no way around it.
type limiter struct {
	now func() time.Time

	mu    sync.Mutex
	total *failures
	addrs map[netip.Prefix]*failures // at most maxLimitedAddrs
}

// failures is a bucket with a token for each failure still allowed.
type failures struct {
	tokens  *rate.Limiter
	pending int // logins under way
}

func newFailures(interval time.Duration, burst int) *failures {
	return &failures{tokens: rate.NewLimiter(rate.Every(interval), burst)}
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{
		now:   now,
		total: newFailures(totalFailInterval, totalFailures),
		addrs: make(map[netip.Prefix]*failures),
	}
}

// wait is how long until a login may begin; 0: now.
func (f *failures) wait(now time.Time) time.Duration {
	missing := float64(f.pending+1) - f.tokens.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return max(time.Duration(missing/float64(f.tokens.Limit())*float64(time.Second)), minLoginRetryAfter)
}

func (f *failures) finish(now time.Time, failed bool) {
	f.pending--
	if failed {
		f.tokens.AllowN(now, 1)
	}
}

// begin admits a login from a remote address. The caller calls finish with
// its outcome, unless wait is above 0: then the login must not be tried
// before that has passed.
func (l *limiter) begin(remote string) (finish func(failed bool), wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if wait := l.total.wait(now); wait > 0 {
		return nil, wait
	}
	addr := l.addr(remote, now)
	if wait := addr.wait(now); wait > 0 {
		return nil, wait
	}
	l.total.pending++
	addr.pending++
	return func(failed bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		now := l.now()
		l.total.finish(now, failed)
		addr.finish(now, failed)
	}, 0
}

// addr returns the bucket of a remote address.
func (l *limiter) addr(remote string, now time.Time) *failures {
	key := Network(remote)
	f := l.addrs[key]
	if f != nil {
		return f
	}
	if len(l.addrs) >= maxLimitedAddrs {
		l.forget(now)
	}
	f = newFailures(addrFailInterval, addrFailures)
	l.addrs[key] = f
	return f
}

// forget makes room: it drops the addresses that could fail as often as a new
// one, or any one where there are none such. The total still bounds those.
func (l *limiter) forget(now time.Time) {
	for key, f := range l.addrs {
		if f.pending == 0 && f.tokens.TokensAt(now) >= addrFailures {
			delete(l.addrs, key)
		}
	}
	for key := range l.addrs {
		if len(l.addrs) < maxLimitedAddrs {
			break
		}
		delete(l.addrs, key)
	}
}

// Network is the part of a remote address that one party has for itself.
// Addresses that cannot be read share one.
func Network(remote string) netip.Prefix {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	ip = ip.Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = ipv6PrefixBits
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
