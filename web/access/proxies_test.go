package access

import (
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestProxies(t *testing.T) {
	p := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tt := range []struct {
		name, remote string
		forwarded    []string
		want         string
	}{
		{"no proxy", "192.0.2.1:5", nil, "192.0.2.1:5"},
		{"a stranger's word", "192.0.2.1:5", []string{"203.0.113.9"}, "192.0.2.1:5"},
		{"one proxy", "10.1.2.3:5", []string{"203.0.113.9"}, "203.0.113.9:0"},
		{"a proxy alone", "10.1.2.3:5", nil, "10.1.2.3:5"},
		{"two proxies", "10.1.2.3:5", []string{"203.0.113.9, 10.9.9.9"}, "203.0.113.9:0"},
		{"two lines", "10.1.2.3:5", []string{"203.0.113.9", "10.9.9.9"}, "203.0.113.9:0"},
		{"made up", "10.1.2.3:5", []string{"127.0.0.1, 203.0.113.9"}, "203.0.113.9:0"},
		{"proxies only", "10.1.2.3:5", []string{"10.7.7.7"}, "10.7.7.7:0"},
		{"unreadable", "10.1.2.3:5", []string{"203.0.113.9, unknown"}, "10.1.2.3:5"},
		{"with a port", "10.1.2.3:5", []string{"203.0.113.9:1234"}, "203.0.113.9:0"},
		{"IPv6", "[fd00::1]:5", []string{"2001:db8::7"}, "[2001:db8::7]:0"},
		{"IPv6 in brackets", "[fd00::1]:5", []string{"[2001:db8::7]:80"}, "[2001:db8::7]:0"},
		{"IPv4 in IPv6", "[::ffff:10.1.2.3]:5", []string{"203.0.113.9"}, "203.0.113.9:0"},
		{"no address", "@", []string{"203.0.113.9"}, "@"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr, r.Header["X-Forwarded-For"] = tt.remote, tt.forwarded
			if got := p.Client(r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
