package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/crypto/bcrypt"

	"github.com/headerglass/headerglass/web/access"
)

const (
	testPassword = "correct horse"
	testToken    = "0123456789abcdef0123456789abcdef"
)

// clock is one that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func hashed(t *testing.T, password string) string {
	t.Helper()
	b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// guarded is a fixture that asks for a login.
type guarded struct {
	*fixture
	clock         *clock
	users, tokens string // file names
	log           *bytes.Buffer
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	dir := t.TempDir()
	g := &guarded{clock: &clock{now: noon}, log: new(bytes.Buffer)}
	g.users = write(
		t,
		filepath.Join(dir, "users"),
		"# made by hand\n\nann:"+hashed(t, testPassword)+"\nbob:"+hashed(t, "bob's")+"\r\n",
	)
	g.tokens = write(t, filepath.Join(dir, "tokens"), testToken+"\n")
	guard, err := access.New(access.Config{
		UserFile:  g.users,
		TokenFile: g.tokens,
		Now:       g.clock.Now,
		Logger:    slog.New(slog.NewTextHandler(g.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	g.fixture = newFixture(t, func(c *Config, _ *archiveConfig) { c.Guard = guard })
	g.fill(1)
	return g
}

func TestLogin(t *testing.T) {
	g := newGuarded(t)
	for _, tt := range []struct {
		name, authorization string
		status              int
	}{
		{"nothing", "", 401},
		{"user", basic("ann", testPassword), 200},
		{"other user", basic("bob", "bob's"), 200},
		{"wrong password", basic("ann", "wrong"), 401},
		{"another's password", basic("ann", "bob's"), 401},
		{"no password", basic("ann", ""), 401},
		{"no such user", basic("eve", testPassword), 401},
		{"no user", basic("", testPassword), 401},
		{"bearer", "Bearer " + testToken, 200},
		{"bearer in small letters", "bearer " + testToken, 200},
		{"token as password", basic("anything", testToken), 200},
		{"token as user", basic(testToken, ""), 401},
		{"token cut short", "Bearer " + testToken[:31], 401},
		{"token too long", "Bearer " + testToken + "0", 401},
		{"password as token", "Bearer " + testPassword, 401},
		{"hash as password", basic("ann", hashed(t, testPassword)), 401},
		{"another scheme", "Digest " + testToken, 401},
		{"not base64", "Basic !!!", 401},
		{"no colon", "Basic " + base64.StdEncoding.EncodeToString([]byte("ann")), 401},
		{"a long password", basic("ann", strings.Repeat("x", 20<<10)), 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var header []string
			if tt.authorization != "" {
				header = []string{"Authorization", tt.authorization}
			}
			g.get("/", header...).want(tt.status)
		})
	}
}

// Only how the process is doing is told to strangers.
func TestEverythingNeedsALogin(t *testing.T) {
	g := newGuarded(t)
	css := "/static/" + g.assets.URL("app.css")
	for _, path := range []string{
		"/", "/m/1", "/m/1/headers.bin", "/m/1/content-header.bin", "/m/1/body.bin", "/api/messages", "/api/messages/1", "/api/keys",
		"/api/status", "/export.jsonl", "/live", "/metrics", "/nowhere", css, "/healthz/x", "/HEALTHZ", "//healthz", "/m/../healthz",
	} {
		for _, accept := range []string{"text/html", "application/json", "*/*"} {
			r := g.get(path, "Accept", accept)
			if r.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: status %d", path, r.StatusCode)
			}
			if got := strings.Join(r.Header.Values("WWW-Authenticate"), ", "); got != `Basic realm="headerglass", charset="UTF-8", Bearer realm="headerglass"` {
				t.Errorf("%s: WWW-Authenticate %s", path, got)
			}
			if strings.Contains(string(r.body), "orders.dlq") || len(r.body) > 200 {
				t.Errorf("%s tells a stranger: %s", path, r.body)
			}
		}
		if r := g.get(path, "Authorization", "Bearer "+testToken); r.StatusCode == http.StatusUnauthorized {
			t.Errorf("%s refuses a token", path)
		}
	}
	g.get("/healthz").want(http.StatusOK).wantText("ok")
	g.do("HEAD", "/healthz").want(http.StatusOK)
	if r := g.get("/readyz").want(http.StatusOK); string(r.body) != "consuming\n" {
		t.Errorf("/readyz tells a stranger %q", r.body)
	}
}

func TestHealthUnderABasePath(t *testing.T) {
	g := newGuarded(t)
	g.fixture = newFixture(t, func(c *Config, _ *archiveConfig) { c.Guard, c.BasePath = g.cfg.Guard, "/glass" })
	g.get("/glass/healthz").want(http.StatusOK)
	g.get("/healthz").want(http.StatusOK)
	g.get("/glass/").want(http.StatusUnauthorized)
	g.get("/glass").want(http.StatusUnauthorized)
}

func TestFailedLoginsOfAnAddressAreLimited(t *testing.T) {
	g := newGuarded(t)
	g.get("/", "Authorization", basic("bob", "bob's")).want(200)
	for i := range 20 {
		if r := g.get("/", "Authorization", basic("ann", fmt.Sprint(i))); r.StatusCode != 401 {
			t.Fatalf("failure %d: status %d", i+1, r.StatusCode)
		}
	}
	r := g.get("/", "Authorization", basic("ann", "wrong")).
		want(http.StatusTooManyRequests).
		wantHeader("Retry-After", "3")
	if r.Header.Get("WWW-Authenticate") != "" {
		t.Error("a browser is asked to try again at once")
	}
	// Who is known is not locked out by who is not.
	g.get("/", "Authorization", basic("bob", "bob's")).want(200)
	g.get("/", "Authorization", "Bearer "+testToken).want(200)
	g.get("/healthz").want(200)
	g.clock.forward(3 * time.Second)
	g.get("/", "Authorization", basic("ann", testPassword)).want(200)
}

func TestLoginsAreNotLogged(t *testing.T) {
	g := newGuarded(t)
	g.get("/", "Authorization", basic("typed-in-the-wrong-field", "mistyped")).want(401)
	g.get("/", "Authorization", "Bearer mistyped-token").want(401)
	log := g.log.String() + g.fixture.log.String()
	if !strings.Contains(log, "login refused") || !strings.Contains(log, "remote=192.0.2.1") {
		t.Errorf("refused logins are not logged: %s", log)
	}
	for _, secret := range []string{"typed", "mistyped"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log says %q: %s", secret, log)
		}
	}
}

func (g *guarded) live(t *testing.T, srv *httptest.Server, header http.Header) (*websocket.Conn, int) {
	t.Helper()
	header.Set("Origin", srv.URL)
	ws, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http")+"/live", header)
	if resp == nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Cleanup(func() { ws.Close() })
	}
	return ws, resp.StatusCode
}

func TestLiveFeedNeedsALogin(t *testing.T) {
	g := newGuarded(t)
	srv := g.listen(t)
	page := g.get("/", "Accept", "text/html", "Authorization", basic("ann", testPassword)).want(200)
	cookies := page.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode ||
		cookies[0].Path != "/live" ||
		cookies[0].Domain != "" {
		t.Fatalf("cookies %v", page.Header.Values("Set-Cookie"))
	}
	pass := cookies[0].Name + "=" + cookies[0].Value
	for _, tt := range []struct {
		name   string
		header http.Header
		status int
	}{
		{"nothing", http.Header{}, 401},
		{"password", http.Header{"Authorization": {basic("ann", testPassword)}}, 101},
		{"token", http.Header{"Authorization": {basic("x", testToken)}}, 101},
		{"wrong", http.Header{"Authorization": {basic("ann", "wrong")}}, 401},
		{"pass", http.Header{"Cookie": {pass}}, 101},
		{"empty pass", http.Header{"Cookie": {"headerglass_live" + "="}}, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, status := g.live(t, srv, tt.header); status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
		})
	}
	// A pass is for the feed, for a day, and for this process.
	g.get("/", "Cookie", pass).want(401)
	g.get("/api/messages", "Cookie", pass).want(401)
	other := newGuarded(t)
	if _, status := other.live(t, other.listen(t), http.Header{"Cookie": {pass}}); status != 401 {
		t.Errorf("a pass of another process: status %d", status)
	}
	g.clock.forward(24 * time.Hour)
	if _, status := g.live(t, srv, http.Header{"Cookie": {pass}}); status != 401 {
		t.Errorf("a pass of yesterday: status %d", status)
	}
	// Nothing but a page hands one out.
	for _, r := range []*response{g.get("/", "Accept", "text/html"), g.get("/api/status", "Authorization", "Bearer "+testToken), g.get("/healthz")} {
		if len(r.Cookies()) > 0 {
			t.Errorf("a pass with status %d", r.StatusCode)
		}
	}
}

// The feed ends when the user may no longer see it.
func TestLiveFeedEndsWithTheLogin(t *testing.T) {
	g := newGuarded(t)
	srv := g.listen(t)
	ann, _ := g.live(t, srv, http.Header{"Authorization": {basic("ann", testPassword)}})
	tok, _ := g.live(t, srv, http.Header{"Authorization": {"Bearer " + testToken}})
	write(t, g.users, "bob:"+hashed(t, "bob's")+"\n")
	g.clock.forward(time.Second)
	ann.SetReadDeadline(time.Now().Add(10 * time.Second))
	for {
		if _, _, err := ann.ReadMessage(); err != nil {
			if ne, ok := err.(interface{ Timeout() bool }); ok && ne.Timeout() {
				t.Fatal("still there")
			}
			break
		}
	}
	g.add(message{key: "later"})
	b := &browser{t, tok}
	if m := b.rows(); m["count"] != 1.0 {
		t.Errorf("another's feed: %v", m)
	}
}

// A page names the queue: who is turned away for the method of a request is not sent one.
func TestStrangersGetNoPageForAnyMethod(t *testing.T) {
	g := newGuarded(t)
	for path, status := range map[string]int{"/": http.StatusMethodNotAllowed, "/nowhere": http.StatusNotFound} {
		t.Run(path, func(t *testing.T) {
			g.do(http.MethodPost, path, "Accept", "text/html").
				want(status).
				wantHeader("Content-Type", "text/plain; charset=utf-8")
		})
	}
}
