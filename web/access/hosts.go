package access

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// ForeignFetch reports whether a page of another site or port asks for
// something, other than by a link that leads here. Such a page could not read
// the answer, but could learn from how long a filter takes. Browsers say
// Sec-Fetch-Site; other clients do not and are no one's page. The live feed,
// which no link leads to, has a stricter rule of its own.
func ForeignFetch(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// Hosts is the set of names that the explorer answers to. A page of another
// site whose name is made to resolve to this machine (DNS rebinding) sends
// that site's name as Host, so an unknown name is refused. An IP address
// cannot be rebound and is always answered to.
type Hosts struct {
	// names holds the allowed names, lower case, without port.
	names map[string]bool
	// origins holds the names that a configuration added, as given, lower
	// case: a proxy may put another Host in front of the same pages.
	origins map[string]bool
}

// NewHosts is the set of localhost and the names allowed, as a browser writes them: with the port
// where it is not the scheme's own.
func NewHosts(allowed []string) Hosts {
	h := Hosts{names: map[string]bool{"localhost": true}, origins: make(map[string]bool)}
	for _, a := range allowed {
		a = strings.ToLower(strings.TrimSpace(a))
		if a == "" {
			continue
		}
		h.origins[a] = true
		h.names[hostname(a)] = true
	}
	return h
}

// Origins are those that a configuration added, by either scheme.
func (h Hosts) Origins() (all []string) {
	for host := range h.origins {
		all = append(all, "http://"+host, "https://"+host)
	}
	return all
}

// hostname is hostport without its port, lower case.
func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// AnswersTo reports whether the Host of a request is allowed.
func (h Hosts) AnswersTo(hostport string) bool {
	name := hostname(hostport)
	if h.names[name] {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// OwnOrigin reports whether a websocket handshake comes from one of the
// explorer's own pages. Browsers always send Origin with a handshake, so one
// without it, or with more than one, is refused like a foreign one.
func (h Hosts) OwnOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) != 1 {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	u, err := url.Parse(origins[0])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" || u.RawQuery != "" ||
		u.Fragment != "" {
		return false
	}
	origin := strings.ToLower(u.Host)
	return origin != "" && (origin == strings.ToLower(r.Host) || h.origins[origin])
}
