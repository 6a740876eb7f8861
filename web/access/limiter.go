package access

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// An address may fail so often at once with one user's name, and then once in every interval.
	addrFailures     = 20
	addrFailInterval = 3 * time.Second
	maxLimited       = 4096
	// Then passwords are checked one at a time, each wrong one followed by an interval, while so
	// many are in line for at most lateWait.
	lateLine           = 5
	lateWait           = 10 * time.Second
	ipv6PrefixBits     = 64 // a network, since whoever has one has all its addresses
	minLoginRetryAfter = time.Second
)

// limiter bounds failed logins from one address with one user's name: many people may share an
// address, and many addresses may try one name, so neither alone may lock anybody out. Nor may the
// failures of another who uses the same name there: beyond the limit a password is still checked,
// but in line. A login
// under way counts as failed until it has succeeded, so that many at once are no way around it. How
// many passwords are hashed in all is for the hasher to bound.
type limiter struct {
	now func() time.Time

	mu  sync.Mutex
	who map[party]*failures // at most maxLimited
}

// party is whose failures are counted together.
type party struct {
	network netip.Prefix
	user    string // "" with a token
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
	return &limiter{now: now, who: make(map[party]*failures)}
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

// begin admits a login of a user from a remote address. The caller calls finish with its outcome,
// unless wait is above 0: then the login must not be tried before that has passed.
func (l *limiter) begin(remote, user string) (finish func(failed bool), wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	f := l.of(party{Network(remote), user}, now)
	if wait := f.wait(now); wait > 0 {
		return nil, wait
	}
	f.pending++
	return func(failed bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		f.finish(l.now(), failed)
	}, 0
}

func (l *limiter) of(who party, now time.Time) *failures {
	f := l.who[who]
	if f != nil {
		return f
	}
	if len(l.who) >= maxLimited {
		l.forget(now)
	}
	f = newFailures(addrFailInterval, addrFailures)
	l.who[who] = f
	return f
}

// forget makes room: it drops those that could fail as often as a new one, or any one where there
// are none such. So many failures, each of them hashed, take longer than it takes to be forgiven.
func (l *limiter) forget(now time.Time) {
	for who, f := range l.who {
		if f.pending == 0 && f.tokens.TokensAt(now) >= addrFailures {
			delete(l.who, who)
		}
	}
	for who := range l.who {
		if len(l.who) < maxLimited {
			break
		}
		delete(l.who, who)
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
