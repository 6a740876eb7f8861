package access

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/bcrypt"
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

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

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

// guarded is a Guard over files that the test writes.
type guarded struct {
	*Guard
	t             *testing.T
	clock         *clock
	users, tokens string // file names
	log           *bytes.Buffer
}

// newGuarded knows ann, bob and one token.
func newGuarded(t *testing.T) *guarded {
	t.Helper()
	dir := t.TempDir()
	g := &guarded{t: t, clock: newClock(), log: new(bytes.Buffer)}
	g.users = write(t, filepath.Join(dir, "users"),
		"# made by hand\n\nann:"+hashed(t, testPassword)+"\nbob:"+hashed(t, "bob's")+"\r\n")
	g.tokens = write(t, filepath.Join(dir, "tokens"), testToken+"\n")
	guard, err := New(Config{
		UserFile:  g.users,
		TokenFile: g.tokens,
		Now:       g.clock.Now,
		Logger:    slog.New(slog.NewTextHandler(g.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Guard = guard
	return g
}

// basic and bearer log in, from the documentation's address 192.0.2.1.
func (g *guarded) basic(user, password string) error {
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth(user, password)
	_, err := g.Login(r)
	return err
}

func (g *guarded) bearer(token string) error {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	_, err := g.Login(r)
	return err
}

func (g *guarded) admits(what string, err error) {
	g.t.Helper()
	if err != nil {
		g.t.Errorf("%s: %v", what, err)
	}
}

func (g *guarded) refuses(what string, err error) {
	g.t.Helper()
	if !errors.Is(err, ErrLogin) {
		g.t.Errorf("%s: %v, want %v", what, err, ErrLogin)
	}
}

func TestFailedLoginsOfAnAddressAreLimited(t *testing.T) {
	g := newGuarded(t)
	g.admits("bob", g.basic("bob", "bob's"))
	for i := range addrFailures {
		g.refuses(fmt.Sprint("failure ", i+1), g.basic("ann", fmt.Sprint(i)))
	}
	if limit, ok := errors.AsType[*LimitError](g.basic("ann", "wrong")); !ok || limit.Wait != addrFailInterval {
		t.Errorf("after %d failures: %+v", addrFailures, limit)
	}
	// Who is known is not locked out by who is not.
	g.admits("bob again", g.basic("bob", "bob's"))
	g.admits("a token", g.bearer(testToken))
	if finish, _ := g.limiter.begin("198.51.100.7:1", "ann"); finish == nil {
		t.Error("another address has to wait too")
	}
	g.clock.forward(addrFailInterval)
	g.admits("ann, later", g.basic("ann", testPassword))
}

// What is right is let in however many have failed, also at the same address with the same name;
// what is wrong is tried no faster for that.
func TestRightPasswordsBeyondTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(t)
		for range addrFailures {
			_ = g.basic("ann", "wrong")
		}
		begin := time.Now() // that of the bubble; the guard's clock stands still
		limited := func() {
			t.Helper()
			if _, ok := errors.AsType[*LimitError](g.basic("ann", "wrong")); !ok {
				t.Error("not refused for the limit")
			}
		}
		limited()
		limited()
		limited()
		if d := time.Since(begin); d != 2*addrFailInterval {
			t.Errorf("three tries took %v", d)
		}
		g.admits("ann", g.basic("ann", testPassword))
		if d := time.Since(begin); d != 3*addrFailInterval {
			t.Errorf("let in after %v", d)
		}
		g.admits("ann, who is known now", g.basic("ann", testPassword))
		// Who floods fills the line, and is refused at once.
		g2 := newGuarded(t)
		for range addrFailures {
			_ = g2.basic("ann", "wrong")
		}
		begin = time.Now()
		for range lateLine {
			go func() { _ = g2.basic("ann", "wrong") }()
		}
		synctest.Wait()
		if _, ok := errors.AsType[*LimitError](g2.basic("ann", "wrong")); !ok || time.Since(begin) != 0 {
			t.Errorf("one more waited for %v", time.Since(begin))
		}
		g2.admits("bob", g2.basic("bob", "bob's"))
		time.Sleep(time.Minute)
	})
}

// A pass is for one feed, for a day, for this process, and cannot be changed.
func TestPass(t *testing.T) {
	g := newGuarded(t)
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth("ann", testPassword)
	ann, err := g.Login(r)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	g.GivePass(w, r, ann, "/live")
	given := w.Result().Cookies()[0]
	with := func(value string) *http.Request {
		r := httptest.NewRequest("GET", "/live", nil)
		r.AddCookie(&http.Cookie{Name: passName, Value: value})
		return r
	}
	if id, ok := g.Pass(with(given.Value), "/live"); !ok || id != ann {
		t.Errorf("the pass of another, or of nobody: %v", ok)
	}
	if _, ok := g.Pass(with(given.Value), "/s/orders/live"); ok {
		t.Error("the pass opens another source's feed")
	}
	if _, ok := newGuarded(t).Pass(with(given.Value), "/live"); ok {
		t.Error("the pass is good for another process")
	}
	for i := range given.Value {
		tampered := []byte(given.Value)
		if tampered[i]++; tampered[i] == '[' || tampered[i] == '{' || tampered[i] == ':' {
			tampered[i] = '-'
		}
		if _, ok := g.Pass(with(string(tampered)), "/live"); ok {
			t.Errorf("a pass with another character %d is good", i)
		}
	}
	g.clock.forward(passTime)
	if _, ok := g.Pass(with(given.Value), "/live"); ok {
		t.Error("a pass of yesterday is good")
	}
}

// A pass ends with the password that it was given for.
func TestPassEndsWithTheLogin(t *testing.T) {
	g := newGuarded(t)
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth("ann", testPassword)
	ann, err := g.Login(r)
	if err != nil {
		t.Fatal(err)
	}
	pass := httptest.NewRequest("GET", "/live", nil)
	pass.AddCookie(&http.Cookie{Name: passName, Value: g.newPass(ann, "/live", g.now().Add(passTime))})
	write(t, g.users, "ann:"+hashed(t, "another")+"\n")
	g.clock.forward(reloadInterval)
	if _, ok := g.Pass(pass, "/live"); ok || g.Knows(ann) {
		t.Error("the pass is still good")
	}
}

func TestHostname(t *testing.T) {
	for hostport, want := range map[string]string{
		"localhost":            "localhost",
		"LOCALHOST.:8080":      "localhost",
		"[::1]:8080":           "::1",
		"[::1]":                "::1",
		"explorer.example.com": "explorer.example.com",
		"":                     "",
		":8080":                "",
	} {
		t.Run(hostport, func(t *testing.T) {
			if got := hostname(hostport); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	h := NewHosts([]string{" ", "A.example:8443"})
	if !h.AnswersTo("a.example") || h.AnswersTo("") || h.AnswersTo("b.example") {
		t.Error("the names that are answered to are others than localhost, addresses and a.example")
	}
}
