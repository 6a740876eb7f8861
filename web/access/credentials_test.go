package access

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// A password is hashed once, not for every request.
func TestProvedPasswordIsNotHashedAgain(t *testing.T) {
	g := newGuarded(t)
	g.admits("ann", g.basic("ann", testPassword))
	for range cap(g.hash.slots) {
		g.hash.slots <- struct{}{} // whoever hashes now waits
	}
	for range 100 {
		g.admits("ann again", g.basic("ann", testPassword))
		g.admits("a token", g.bearer(testToken))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	r.SetBasicAuth("ann", "other")
	if _, err := g.Login(r); err != ErrBusy {
		t.Errorf("another password: %v, want %v", err, ErrBusy)
	}
}

func TestCredentialFilesAreReadAgain(t *testing.T) {
	g := newGuarded(t)
	g.admits("ann", g.basic("ann", testPassword))
	g.admits("bob", g.basic("bob", "bob's"))

	write(t, g.users, "ann:"+hashed(t, "another")+"\n")
	write(t, g.tokens, strings.Repeat("f", 40)+"\n")
	g.clock.forward(reloadInterval)
	g.refuses("ann's old password", g.basic("ann", testPassword))
	g.refuses("bob, who is gone", g.basic("bob", "bob's"))
	g.refuses("the old token", g.bearer(testToken))
	g.admits("ann's new password", g.basic("ann", "another"))
	g.admits("the new token", g.basic("x", strings.Repeat("f", 40)))

	// What cannot be read changes nothing.
	write(t, g.users, "ann:plain\n")
	g.clock.forward(reloadInterval)
	g.admits("ann", g.basic("ann", "another"))
	g.refuses("ann", g.basic("ann", "plain"))
	if err := os.Remove(g.users); err != nil {
		t.Fatal(err)
	}
	g.clock.forward(reloadInterval)
	g.admits("ann", g.basic("ann", "another"))
	if n := strings.Count(g.log.String(), "the old one stays"); n != 2 {
		t.Errorf("logged %d times, want 2:\n%s", n, g.log)
	}
	write(t, g.users, "cat:"+hashed(t, "cat's")+"\n")
	g.clock.forward(reloadInterval)
	g.admits("cat", g.basic("cat", "cat's"))
	if strings.Contains(g.log.String(), "plain") || strings.Contains(g.log.String(), "$2") {
		t.Errorf("the log shows what the file says:\n%s", g.log)
	}
}

func TestCredentialFilesThatCannotBeUsed(t *testing.T) {
	hash := hashed(t, "x")
	costly := "$2y$31$" + hash[7:]
	for _, tt := range []struct{ name, users, tokens, want string }{
		{"nothing", "", "", "neither"},
		{"no users", "# none\n\n", "", "empty"},
		{"no tokens", "", "\n", "empty"},
		{"no hash", "ann\n", "", "line 1: no user:hash"},
		{"no name", ":" + hash, "", "line 1: no user:hash"},
		{"plain password", "# x\nann:secret-word\n", "", "line 2: the password is not hashed with bcrypt"},
		{"MD5", "ann:$apr1$x$secret-word\n", "", "not hashed with bcrypt"},
		{"SHA-1", "ann:{SHA}secret-word\n", "", "not hashed with bcrypt"},
		{"flawed bcrypt", "ann:$2x$05$" + hash[7:] + "\n", "", "not hashed with bcrypt"},
		{"cut hash", "ann:" + hash[:40] + "\n", "", "damaged"},
		{"costly", "ann:" + costly + "\n", "", "cost 31"},
		{"twice", "ann:" + hash + "\nbob:" + hash + "\nann:" + hash + "\n", "", "line 3: this user"},
		{"short token", "", "secret-word\n", "line 1: a token has at least 16"},
		{"huge", "", strings.Repeat("x", maxCredentialsBytes+1), "larger than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var cfg Config
			if tt.users != "" {
				cfg.UserFile = write(t, filepath.Join(t.TempDir(), "users"), tt.users)
			}
			if tt.tokens != "" {
				cfg.TokenFile = write(t, filepath.Join(t.TempDir(), "tokens"), tt.tokens)
			}
			_, err := New(cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			for _, secret := range []string{"secret-word", hash[10:]} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error shows a secret: %v", err)
				}
			}
		})
	}
	if _, err := New(Config{UserFile: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a file that does not exist was read")
	}
}

// htpasswd marks its hashes $2y$, golang.org/x/crypto/bcrypt $2a$: they mean the same.
func TestReadsWhatHtpasswdWrites(t *testing.T) {
	hash := hashed(t, "p")
	file := write(t, filepath.Join(t.TempDir(), "users"), "ann:$2y$"+hash[4:]+"\n")
	a, err := New(Config{UserFile: file})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth("ann", "p")
	if _, err := a.Login(r); err != nil {
		t.Error(err)
	}
}

// TestLongPasswords: bcrypt looks at 72 bytes, so what is longer is refused, whatever it begins
// with.
func TestLongPasswords(t *testing.T) {
	most := strings.Repeat("p", 72)
	g, err := New(Config{UserFile: write(t, filepath.Join(t.TempDir(), "users"), "ann:"+hashed(t, most)+"\n")})
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]error{
		most:                    nil,
		most[1:]:                ErrLogin,
		most + "p":              ErrLongPassword,
		most + "x":              ErrLongPassword,
		strings.Repeat("x", 73): ErrLongPassword,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth("ann", password)
		if _, err := g.Login(r); err != want || err != nil && !errors.Is(err, ErrLogin) {
			t.Errorf("%d bytes: %v, want %v", len(password), err, want)
		}
	}
}

// Where hashes cost differently, a password is compared with one of each cost, whoever it is for.
func TestEachCostIsCompared(t *testing.T) {
	g := newGuarded(t)
	dear, err := bcrypt.GenerateFromPassword([]byte("carl's"), bcrypt.MinCost+1)
	if err != nil {
		t.Fatal(err)
	}
	users := write(t, filepath.Join(t.TempDir(), "users"),
		"ann:"+hashed(t, testPassword)+"\ncarl:"+string(dear)+"\nbob:"+hashed(t, "bob's")+"\n")
	c, err := g.hash.readCredentials(users, "")
	if err != nil {
		t.Fatal(err)
	}
	for cost, decoy := range c.decoys {
		if of, err := bcrypt.Cost(decoy); err != nil || of != cost {
			t.Errorf("a hash of cost %d stands for %d: %v", of, cost, err)
		}
	}
	if len(c.decoys) != 2 {
		t.Errorf("%d costs, want 2", len(c.decoys))
	}
	for user, password := range map[string]string{"ann": testPassword, "carl": "carl's", "bob": "bob's"} {
		_, ok, err := g.hash.prove(t.Context(), c, presented{user: user, secret: []byte(password)}, netip.Prefix{})
		if !ok || err != nil {
			t.Errorf("%s is not let in: %v", user, err)
		}
	}
}
