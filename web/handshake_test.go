package web

import (
	"net/http"
	"testing"
)

// A handshake that is none is the browser's fault, not the explorer's.
func TestBrokenHandshakes(t *testing.T) {
	f := newFixture(t)
	srv := f.listen(t)
	for _, tt := range []struct {
		name, version, key string
		status             int
	}{
		{"another version", "8", "dGhlIHNhbXBsZSBub25jZQ==", http.StatusUpgradeRequired},
		{"no version", "", "dGhlIHNhbXBsZSBub25jZQ==", http.StatusUpgradeRequired},
		{"no key", "13", "", http.StatusBadRequest},
		{"a short key", "13", "YQ==", http.StatusBadRequest},
		{"a key that is not base64", "13", "!", http.StatusBadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodGet, srv.URL+"/live", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{
				"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Origin": {srv.URL},
				"Sec-Websocket-Version": {tt.version}, "Sec-Websocket-Key": {tt.key},
			}
			resp, err := srv.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
		})
	}
}

// Behind a proxy that puts another Host in front, a form's Origin is one that --allow-host names.
func TestFormsBehindAProxy(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) { c.AllowedHosts = []string{"explorer.example.com"} })
	for origin, status := range map[string]int{
		// it is let in, and its form is empty
		"https://explorer.example.com": http.StatusBadRequest,
		"https://evil.example":         http.StatusForbidden,
	} {
		t.Run(origin, func(t *testing.T) {
			f.do(http.MethodPost, "/inspect", "Origin", origin).want(status)
		})
	}
}
