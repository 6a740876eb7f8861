package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks whose word counts for who sent a request.
type Proxies []netip.Prefix

// Client returns the remote address of r, or, where that is a proxy's, the nearest address before
// it that is none, by X-Forwarded-For. Each proxy appends whom it got the request from, so what
// stands further left can be made up by whoever sent it.
func (p Proxies) Client(r *http.Request) string {
	remote := r.RemoteAddr
	at, ok := addrOf(remote)
	if !ok || !p.trusts(at) {
		return remote
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		at, ok := addrOf(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		remote = net.JoinHostPort(at.String(), "0")
		if !p.trusts(at) {
			break
		}
	}
	return remote
}

func (p Proxies) trusts(at netip.Addr) bool {
	for _, network := range p {
		if network.Contains(at) {
			return true
		}
	}
	return false
}

// addrOf reads an address with or without a port.
func addrOf(s string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	at, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return at.Unmap().WithZone(""), err == nil
}
