package web

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// Pages come over HTTP/2, the live feed over a connection of its own, passes
// only over TLS, and no header binds the host name's other ports to TLS.
func TestOverTLS(t *testing.T) {
	g := newGuarded(t)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = HTTPServer(g.Server)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(func() {
		g.Close()
		srv.Close()
	})
	host := strings.TrimPrefix(srv.URL, "https://")
	r, err := http.NewRequest("GET", srv.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("ann", testPassword)
	r.Header.Set("Accept", "text/html")
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 || resp.Header.Get("Strict-Transport-Security") != "" {
		t.Errorf("%s %s", resp.Proto, resp.Status)
	}
	cookies := resp.Cookies()
	if len(cookies) != 1 || !cookies[0].Secure {
		t.Fatalf("cookies %v", cookies)
	}
	d := websocket.Dialer{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	ws, resp, err := d.Dial("wss://"+host+"/live", http.Header{
		"Origin": {srv.URL},
		"Cookie": {cookies[0].Name + "=" + cookies[0].Value},
	})
	if err != nil {
		t.Fatalf("%v, %v", err, resp)
	}
	ws.Close()
}
