package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// wire is a connection to send bytes that no client library would.
type wireConn struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

func dialRaw(t testing.TB, addr string) *wireConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(60 * time.Second))
	return &wireConn{c, t, bufio.NewReader(c)}
}

// status reads a response; 0 when the connection ended without one.
func (c *wireConn) status() int {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
			c.t.Error("no answer and no end")
		}
		return 0
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode
}

// pour sends b again and again until the server does not take it, or limit is
// reached.
func (c *wireConn) pour(b []byte, limit int) (sent int) {
	for sent < limit {
		n, err := c.Write(b)
		sent += n
		if err != nil {
			return sent
		}
	}
	return sent
}

func heapNow() int64 {
	runtime.GC()
	runtime.GC() // a sync.Pool lets go at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// sockets is more than the buffers between two sockets of this machine take.
const sockets = 64 << 20

func TestOversizedRequests(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	addr := strings.TrimPrefix(f.listen(t).URL, "http://")
	filler := bytes.Repeat([]byte("a"), 64<<10)
	for _, tt := range []struct {
		name, head string
		body       []byte // sent again and again
		status     int
	}{
		{"header of 10 MB", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ", filler, 431},
		{"10 MB of header lines", "GET / HTTP/1.1\r\nHost: localhost\r\n", bytes.Repeat([]byte("X-A: b\r\n"), 8<<10), 431},
		{"request line without end", "GET /", filler, 431},
		{"method without end", "", filler, 431},
		{"POST of 1 GB", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n", filler, 405},
		{"POST in chunks without end", "POST /api/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", append([]byte("10000\r\n"), append(filler, "\r\n"...)...), 405},
		{"upload of 1 GB", "POST /inspect HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1073741824\r\n\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../x\"\r\n\r\n", filler, 413},
		{"upload of parts without end", "POST /inspect HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n",
			[]byte("34\r\n--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n\r\n"), 400},
		{"GET with a body of 1 GB", "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n", filler, 200},
		{"PUT of 1 GB that asks first", "PUT / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1073741824\r\n\r\n", nil, 405},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := heapNow()
			c := dialRaw(t, addr)
			io.WriteString(c, tt.head)
			var wg sync.WaitGroup
			wg.Go(func() {
				if len(tt.body) > 0 {
					if sent := c.pour(tt.body, sockets); sent >= sockets {
						t.Errorf("the server took %d bytes", sent)
					}
				}
			})
			// A reset may overtake the answer, since more was sent than was read.
			if got := c.status(); got != tt.status && (got != 0 || len(tt.body) == 0) {
				t.Errorf("status %d, want %d", got, tt.status)
			}
			io.Copy(io.Discard, c.r)
			c.Close()
			wg.Wait()
			if grown := heapNow() - before; grown > 4<<20 {
				t.Errorf("%d bytes are still held", grown)
			}
		})
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	addr := strings.TrimPrefix(f.listen(t).URL, "http://")
	for _, tt := range []struct {
		name, request string
		status        int
	}{
		{"another site in the target", "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 403},
		{"another site behind a user", "GET http://localhost@evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 403},
		{"two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
		{"no host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 403},
		{"a host with a line end", "GET / HTTP/1.1\r\nHost: localhost\r\n\tevil.example\r\n\r\n", 400},
		{"rebound name", "GET / HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 403},
		{"an address spelled as a number", "GET / HTTP/1.1\r\nHost: 2130706433\r\n\r\n", 403},
		{"a line end in the target", "GET /m/1\r\n/headers.bin HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
		{"length and chunks", "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200},
		{"two lengths", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n", 400},
		{"HTTP/2 without agreement", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 405},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 \r\n\r\n", 400},
		{"NUL in the target", "GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
		{"*", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
		{"CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", 405},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := dialRaw(t, addr)
			io.WriteString(c, tt.request)
			if got := c.status(); got != tt.status {
				t.Errorf("status %d, want %d", got, tt.status)
			}
		})
	}
}

// Peers that send their request a byte at a time, or nothing, are cut off, and
// others do not wait for them.
func TestSlowloris(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fill(1)
	srv := f.listen(t)
	addr := strings.TrimPrefix(srv.URL, "http://")
	before := heapNow()
	const peers = 300
	var all sync.WaitGroup
	begin := time.Now()
	for i := range peers {
		c := dialRaw(t, addr)
		if i%3 > 0 {
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n")
		}
		if i%3 > 1 {
			all.Go(func() {
				for {
					if _, err := io.WriteString(c, "X"); err != nil {
						return
					}
					time.Sleep(100 * time.Millisecond) // what makes the peer slow
				}
			})
		}
		all.Go(func() {
			io.Copy(io.Discard, c.r)
			if d := time.Since(begin); d > 20*time.Second {
				t.Errorf("cut off after %v", d)
			}
			c.Close()
		})
	}
	for range 20 {
		asked := time.Now()
		resp, err := srv.Client().Get(srv.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if d := time.Since(asked); d > 2*time.Second {
			t.Errorf("a page took %v", d)
		}
	}
	if grown := heapNow() - before; grown > peers*64<<10 {
		t.Errorf("%d bytes for each slow peer", grown/peers)
	}
	all.Wait()
}

// A browser that takes its answer a byte at a time, or not at all, is cut off.
func TestSlowReaders(t *testing.T) {
	f := newFixture(t)
	f.fill(3000)
	srv := HTTPServer(f.Server)
	srv.WriteTimeout = 300 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	for range 20 {
		c := dialRaw(t, l.Addr().String())
		c.Conn.(*net.TCPConn).SetReadBuffer(4096)
		// Many answers asked for at once, none of them read.
		io.WriteString(c, strings.Repeat("GET /?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n", 50))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	// Shutdown waits for answers under way: it ends because they are cut off.
	if err := srv.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	<-done
}

// What other sites' pages ask for is refused; links that lead here are not.
func TestFetchMetadata(t *testing.T) {
	f := newFixture(t)
	f.fill(1)
	for _, tt := range []struct {
		site, mode, dest string
		status           int
	}{
		{"", "", "", 200},
		{"same-origin", "cors", "empty", 200},
		{"same-origin", "no-cors", "script", 200},
		{"none", "navigate", "document", 200},
		{"cross-site", "navigate", "document", 200},
		{"same-site", "navigate", "document", 200},
		{"cross-site", "navigate", "iframe", 403},
		{"cross-site", "navigate", "", 403},
		{"cross-site", "no-cors", "image", 403},
		{"cross-site", "cors", "empty", 403},
		{"same-site", "cors", "empty", 403},
		{"cross-site", "", "", 403},
		{"cross-site", "websocket", "websocket", 403},
		{"unheard-of", "cors", "empty", 403},
	} {
		t.Run(tt.site, func(t *testing.T) {
			f := f.in(t)
			for _, path := range []string{"/", "/?q=tenant", "/m/1", "/m/1/headers.bin", "/api/messages", "/export.jsonl", "/metrics"} {
				var header []string
				for i, v := range []string{tt.site, tt.mode, tt.dest} {
					if v != "" {
						header = append(header, []string{"Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"}[i], v)
					}
				}
				r := f.get(path, header...)
				if r.StatusCode != tt.status {
					t.Errorf(
						"%s from %q, %q, %q: status %d, want %d",
						path,
						tt.site,
						tt.mode,
						tt.dest,
						r.StatusCode,
						tt.status,
					)
				}
				if r.StatusCode == 403 && strings.Contains(string(r.body), "orders.dlq") {
					t.Errorf("%s tells: %s", path, r.body)
				}
			}
		})
	}
}

// A handshake that is refused leaves the connection what it was: nothing was
// upgraded, nothing is counted.
func TestRefusedHandshakesAreNotUpgraded(t *testing.T) {
	f := newFixture(t)
	addr := strings.TrimPrefix(f.listen(t).URL, "http://")
	c := dialRaw(t, addr)
	for _, headers := range []string{
		"", "Origin: null\r\n", "Origin: http://evil.example\r\n", "Origin: http://127.0.0.1:1\r\n", "Origin: \r\n",
		"Origin: http://" + addr + "\r\nSec-Fetch-Site: cross-site\r\n", "Origin: http://" + addr + "\r\nSec-Fetch-Site: same-site\r\n",
	} {
		io.WriteString(
			c,
			"GET /live HTTP/1.1\r\nHost: "+addr+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+headers+
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
		)
		if got := c.status(); got != 403 {
			t.Errorf("%q: status %d, want 403", headers, got)
		}
	}
	if n := f.Server.live.Conns(); n != 0 {
		t.Errorf("%d feeds are counted", n)
	}
	io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if got := c.status(); got != 200 {
		t.Errorf("after that, on the same connection: status %d", got)
	}
}

// Whatever a request names, no response header repeats it, and the file names
// that are offered are plain.
func TestDownloadNamesAreSafe(t *testing.T) {
	f := newFixture(t)
	f.addHostile()
	plain := regexp.MustCompile(`^attachment; filename="[a-z0-9][a-z0-9.-]{0,60}"$`)
	names := append(
		hostile(),
		"../../etc/passwd",
		"..\\..\\boot.ini",
		"CON",
		"NUL.txt",
		"a\r\nX-Evil: 1",
		`"; filename="evil.exe`,
		"\u202egnp.exe",
		strings.Repeat("n", 300),
		"\x00",
		"%00",
		"%2e%2e%2f",
		"…",
		"C:\\x",
		"~/.ssh/id_rsa",
	)
	offered := 0
	for _, name := range names {
		for _, path := range []string{"/m/1/headers.bin", "/m/1/content-header.bin", "/m/1/body.bin", "/export.jsonl", "/export.csv", "/export.zip", "/export.pcapng",
			"/static/" + url.PathEscape(name), "/m/" + url.PathEscape(name), "/m/" + url.PathEscape(name) + "/headers.bin",
			"/m/1/" + url.PathEscape(name), "/" + url.PathEscape(name)} {
			r := f.get(
				path + "?q=%22" + url.QueryEscape(
					name,
				) + "%22&name=" + url.QueryEscape(
					name,
				) + "&filename=" + url.QueryEscape(
					name,
				),
			)
			if d := r.Header.Get("Content-Disposition"); d != "" {
				offered++
				if !plain.MatchString(d) {
					t.Errorf("%s for %q: %s", path, name, d)
				}
			}
			if r.StatusCode >= 500 || r.Header.Get("X-Evil") != "" {
				t.Errorf("%s for %q: status %d, %v", path, name, r.StatusCode, r.Header)
			}
			for k, vs := range r.Header {
				for _, v := range vs {
					if len(name) > 3 && strings.Contains(v, name) {
						t.Errorf("%s: %s repeats %q", path, k, name)
					}
				}
			}
		}
	}
	if offered < 3*len(names) {
		t.Errorf("only %d downloads were offered", offered)
	}
}

// Filters that are written to cost much are refused, or cost no more than the
// time one listing may take.
func TestFilterAbuse(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) {
		c.Now, c.QueryBudget = time.Now, 100*time.Millisecond
	})
	f.fill(20_000)
	for name, filter := range map[string]string{
		"10 kB of conditions":      strings.TrimSuffix(strings.Repeat("a=1 OR ", 1400), " OR "),
		"10 kB of one name":        strings.Repeat("a", 10<<10),
		"10 kB of text":            "tenant='" + strings.Repeat("x", 10<<10) + "'",
		"30 kB":                    strings.Repeat("a OR ", 6000) + "a",
		"depth 10,000":             strings.Repeat("(", 10_000) + "a" + strings.Repeat(")", 10_000),
		"depth 10,000, never shut": strings.Repeat("(", 10_000),
		"NOT 5,000 times":          strings.Repeat("NOT ", 5000) + "a",
		"signs":                    "a > " + strings.Repeat("-", 10_000) + "1",
		"only wildcards":           "tenant LIKE '" + strings.Repeat("%", 10_000) + "'",
		"wildcards and letters":    "tenant LIKE '" + strings.Repeat("%a", 5000) + "%b'",
		"one-character wildcards":  "tenant LIKE '" + strings.Repeat("_%", 2000) + "'",
		"a long list":              "tenant IN (" + strings.TrimSuffix(strings.Repeat("'v',", 2500), ",") + ")",
		"a deep path":              strings.TrimSuffix(strings.Repeat("a.", 5000), "."),
		"indexes":                  "a" + strings.Repeat("[9]", 3000),
		"a huge number":            "a=" + strings.Repeat("9", 10_000),
		"a huge exponent":          "a=1e999999999",
		"a tiny exponent":          "a>1e-999999999",
		"quotes":                   strings.Repeat(`"`, 9999),
		"percent signs":            "%%%%",
		"NUL":                      "\x00\x00",
		"not UTF-8":                "tenant='\xff\xfe'",
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/?q=", "/api/messages?q=", "/export.jsonl?limit=1&q=", "/live?q="} {
				begin := time.Now()
				r := f.get(path + url.QueryEscape(filter))
				if d := time.Since(begin); d > 3*time.Second {
					t.Errorf("%s took %v", path, d)
				}
				switch r.StatusCode {
				case http.StatusOK,
					http.StatusBadRequest,
					http.StatusRequestURITooLong,
					http.StatusServiceUnavailable,
					http.StatusUpgradeRequired:
				default:
					t.Errorf("%s: status %d: %.200s", path, r.StatusCode, r.body)
				}
			}
		})
	}
	f.get("/api/messages?q=%%%%").want(http.StatusBadRequest)
	f.get("/api/messages?q=" + url.QueryEscape("%%%%")).want(http.StatusBadRequest)
	f.get("/api/messages?q=" + strings.Repeat("(", 10_000) + "a" + strings.Repeat(")", 10_000)).
		want(http.StatusBadRequest)
}

// Many slow scans at once: as many run as may, the rest is told to come back,
// pages that scan nothing stay quick, and who leaves costs nothing any more.
func TestManyScans(t *testing.T) {
	f := newFixture(t, func(c *Config, _ *archiveConfig) {
		c.Now, c.QueryBudget, c.MaxQueries = time.Now, 3*time.Second, 2
	})
	f.fill(60_000)
	srv := f.listen(t)
	var conditions []string
	for i := range 100 {
		conditions = append(conditions, fmt.Sprintf("tenant LIKE '%%t%%x%d%%'", i))
	}
	slow := srv.URL + "/api/messages?q=" + url.QueryEscape(strings.Join(conditions, " OR "))
	before := heapNow()
	var ok, busy, other atomic.Int64
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			ctx := t.Context()
			if i%4 == 3 { // a client that vanishes
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*time.Millisecond)
				defer cancel()
			}
			r, err := http.NewRequestWithContext(ctx, "GET", slow, nil)
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := srv.Client().Do(r)
			if err != nil {
				return // it vanished
			}
			defer resp.Body.Close()
			switch resp.StatusCode {
			case http.StatusOK:
				ok.Add(1)
			case http.StatusServiceUnavailable:
				busy.Add(1)
				if resp.Header.Get("Retry-After") == "" {
					t.Error("503 without Retry-After")
				}
			default:
				other.Add(1)
			}
		})
	}
	for _, path := range []string{"/m/1", "/api/status", "/healthz", "/m/1/headers.bin"} {
		begin := time.Now()
		resp, err := srv.Client().Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if d := time.Since(begin); resp.StatusCode == http.StatusOK && d > 5*time.Second {
			t.Errorf("%s took %v meanwhile", path, d)
		}
	}
	wg.Wait()
	t.Logf("of 100 scans %d were answered, %d were told to come back", ok.Load(), busy.Load())
	if other.Load() > 0 || ok.Load() == 0 || busy.Load() == 0 {
		t.Errorf("answered %d, busy %d, otherwise %d", ok.Load(), busy.Load(), other.Load())
	}
	srv.Client().CloseIdleConnections()
	begin := time.Now()
	resp, err := srv.Client().Get(srv.URL + "/api/messages?q=tenant")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if d := time.Since(begin); resp.StatusCode != http.StatusOK || d > 4*time.Second {
		t.Errorf("afterwards: status %d after %v", resp.StatusCode, d)
	}
	if grown := heapNow() - before; grown > 32<<20 {
		t.Errorf("%d bytes are still held", grown)
	}
}

// Files that run out are no reason to fail for good.
func TestAcceptFailures(t *testing.T) {
	f := newFixture(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := HTTPServer(f.Server)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(&outOfFiles{Listener: l, times: 3}) }()
	resp, err := http.Get(fmt.Sprintf("http://%s/healthz", l.Addr()))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	srv.Close()
	<-done
}

type outOfFiles struct {
	net.Listener
	times int
}

func (l *outOfFiles) Accept() (net.Conn, error) {
	if l.times--; l.times >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}
