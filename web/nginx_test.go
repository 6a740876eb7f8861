package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/web/access"
	"github.com/headerglass/headerglass/web/eventually"
	"github.com/headerglass/headerglass/web/selfsigned"
)

const proxied = "explorer.example.com" // as the block in README.md has it

// nginxBlock is the block of README.md.
func nginxBlock(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(doc), "```nginx\n")
	block, _, closed := strings.Cut(block, "```\n")
	if !found || !closed {
		t.Fatal("README.md has no block for nginx")
	}
	return block
}

// startNginx runs the block in front of an upstream, with what is another's on this machine
// replaced: the port, the certificate and the folders. It returns nginx's address.
func startNginx(t *testing.T, upstream string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program = "/usr/sbin/nginx"; exec.Command(program, "-v").Run() != nil {
			if os.Getenv("HEADERGLASS_REQUIRE") == "1" {
				t.Fatal("nginx is not installed")
			}
			t.Skip("nginx is not installed; go run ./cmd/check -only tools installs it")
		}
	}
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	block := nginxBlock(t)
	for old, is := range map[string]string{
		"listen 443 ":                       "listen " + address + " ",
		"/etc/ssl/explorer.pem":             filepath.Join(dir, "cert.pem"),
		"/etc/ssl/private/explorer.key":     filepath.Join(dir, "key.pem"),
		"proxy_pass http://127.0.0.1:8080;": "proxy_pass " + upstream + ";",
	} {
		if strings.Count(block, old) != 1 {
			t.Fatalf("README.md's block does not have %q once", old)
		}
		block = strings.Replace(block, old, is, 1)
	}
	selfsigned.New(t, 1, proxied).Write(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	config := "daemon off;\nmaster_process off;\npid " + dir + "/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		config += kind + "_temp_path " + filepath.Join(dir, kind) + ";\n"
	}
	write(t, filepath.Join(dir, "nginx.conf"), config+block+"}\n")
	cmd := exec.Command(program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-e", "stderr")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Log(said.String())
		}
	})
	eventually.True(t, time.Minute, "nginx listens", func() bool {
		select {
		case <-ended:
			t.Fatal("nginx ended")
		default:
		}
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return address
}

// TestBehindNginx runs nginx as README.md says: under a path, with TLS and a login.
func TestBehindNginx(t *testing.T) {
	g := newGuarded(t)
	f := newFixture(t, func(c *Config, _ *archiveConfig) {
		c.Guard, c.BasePath, c.AllowedHosts = g.cfg.Guard, "/headerglass", []string{proxied}
		c.Proxies = access.Proxies{netip.MustParsePrefix("127.0.0.1/32")}
	})
	f.add(message{key: "k", headers: table("tenant", "acme")})
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = HTTPServer(f.Server)
	srv.Start()
	t.Cleanup(func() {
		f.Close()
		srv.Close()
	})
	address := startNginx(t, srv.URL)
	// The client comes from an address of its own, and takes the name for nginx's address.
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.9")}}
	toNginx := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}
	trust := &tls.Config{InsecureSkipVerify: true, ServerName: proxied}
	transport := &http.Transport{DialContext: toNginx, TLSClientConfig: trust, ForceAttemptHTTP2: true}
	client := &http.Client{Transport: transport}
	t.Cleanup(client.CloseIdleConnections)
	const site = "https://" + proxied + "/headerglass"
	do := func(method, path, password string, body io.Reader, header ...string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, site+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		if password != "" {
			r.SetBasicAuth("ann", password)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(b)
	}

	if resp, _ := do(http.MethodGet, "/", "", nil); resp.StatusCode != http.StatusUnauthorized ||
		resp.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a login: %s", resp.Status)
	}
	if resp, _ := do(http.MethodGet, "/", "wrong", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong password: %s", resp.Status)
	}
	if !strings.Contains(f.log.String()+g.log.String(), "remote=127.0.0.9") {
		t.Error("the refused login does not count for the browser's address")
	}
	resp, page := do(http.MethodGet, "/", testPassword, nil)
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || !strings.Contains(page, `href="/headerglass/m/1`) {
		t.Errorf("%s %s, and links not under the path", resp.Proto, resp.Status)
	}
	cookies := resp.Cookies()
	if len(cookies) != 1 || !cookies[0].Secure || cookies[0].Path != "/headerglass/live" {
		t.Fatalf("cookies %v", cookies)
	}
	long := "/?q=" + strings.Repeat("tenant+OR+", 3000) + "tenant"
	if resp, _ := do(http.MethodGet, long, testPassword, nil); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a filter too long for the explorer: %s, want the explorer's own answer", resp.Status)
	}
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	_ = m.WriteField("bytes", "00000000")
	_ = m.Close()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, _ = do(http.MethodPost, "/inspect", testPassword, &form,
		"Content-Type", m.FormDataContentType(), "Origin", "https://"+proxied)
	if resp.StatusCode != http.StatusSeeOther || !strings.HasPrefix(resp.Header.Get("Location"), "/headerglass/inspect?") {
		t.Errorf("a form: %s, %s", resp.Status, resp.Header.Get("Location"))
	}

	d := websocket.Dialer{
		NetDialContext:  toNginx,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: proxied},
	}
	ws, resp, err := d.Dial("wss://"+proxied+"/headerglass/live?after=0", http.Header{
		"Origin": {"https://" + proxied},
		"Cookie": {cookies[0].Name + "=" + cookies[0].Value},
	})
	if err != nil {
		t.Fatalf("%v, %v", err, resp)
	}
	defer ws.Close()
	f.add(message{key: "k", headers: table("tenant", "acme")})
	_ = ws.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		_, b, err := ws.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(`"t":"rows"`)) && bytes.Contains(b, []byte("/headerglass/m/2")) {
			break
		}
	}
}
