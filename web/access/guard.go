// Package access says who may come in: logins and how often they may fail, the pass for the live
// feed, TLS, and which host names and origins are the explorer's own. It knows no page of it.
package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

var (
	// ErrLogin refuses whoever is not logged in.
	ErrLogin = errors.New("access: not logged in")
	// ErrLongPassword is an ErrLogin for a password of which bcrypt would look at the beginning
	// only.
	ErrLongPassword = fmt.Errorf("%w: a password has at most %d bytes", ErrLogin, bcryptBytes)
	// ErrBusy refuses a login because too many are being checked.
	ErrBusy = errors.New("access: too many logins to check at once")
)

// LimitError refuses a login because too many have failed; another may be tried after Wait.
type LimitError struct{ Wait time.Duration }

func (e *LimitError) Error() string { return "access: too many failed logins" }

// Config says who may use the explorer. At least one file is required.
type Config struct {
	// UserFile has lines of user:hash with bcrypt hashes, as htpasswd -B
	// writes them. TokenFile has one token a line. In both, empty lines and
	// lines that begin with # are skipped. Changes are noticed within a second.
	UserFile, TokenFile string
	// Logger may be nil.
	Logger *slog.Logger
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// Guard tells who is allowed in. Users log in by HTTP Basic. A token comes as
// Authorization: Bearer, or as the password of HTTP Basic under any user name,
// so that a browser can use it too.
type Guard struct {
	logger  *slog.Logger
	now     func() time.Time
	hash    *hasher
	creds   *reloaded[credentials]
	limiter *limiter
	lates   lines // of those who log in beyond the limit
	tokens  bool  // bearer tokens are offered
}

// New reads the files of cfg.
func New(cfg Config) (*Guard, error) {
	if cfg.UserFile == "" && cfg.TokenFile == "" {
		return nil, errors.New("access: neither users nor tokens to log in with")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	g := &Guard{
		logger:  cfg.Logger,
		now:     cfg.Now,
		hash:    newHasher(),
		limiter: newLimiter(cfg.Now),
		tokens:  cfg.TokenFile != "",
	}
	read := func() (*credentials, error) { return g.hash.readCredentials(cfg.UserFile, cfg.TokenFile) }
	var err error
	g.creds, err = newReloaded("list of users and tokens", read, cfg.Logger, cfg.Now, cfg.UserFile, cfg.TokenFile)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Knows reports whether an identity can still log in. It is quick.
func (g *Guard) Knows(id Identity) bool { return g.creds.get().ids[id] }

// Login finds out who sent r, or why that cannot be: ErrLogin, ErrBusy or
// a *LimitError.
func (g *Guard) Login(r *http.Request) (Identity, error) {
	c := g.creds.get()
	p, ok := offered(r)
	if !ok {
		return Identity{}, ErrLogin
	}
	if id, ok := g.hash.known(c, p); ok {
		return id, nil
	}
	finish, wait := g.limiter.begin(r.RemoteAddr, p.user)
	if wait > 0 {
		return g.late(r, c, p, wait)
	}
	id, ok, err := g.hash.prove(r.Context(), c, p, Network(r.RemoteAddr))
	finish(err == nil && !ok)
	switch {
	case err != nil:
		return Identity{}, err
	case !ok:
		// Neither the name nor anything else that was typed: it may be a
		// password in the wrong field.
		g.logger.Warn("login refused", "remote", r.RemoteAddr)
		return Identity{}, ErrLogin
	}
	return id, nil
}

// late checks a password although too many have failed: what is right is not refused for others'
// failures. These take turns, so that guessing goes no faster.
func (g *Guard) late(r *http.Request, c *credentials, p presented, wait time.Duration) (Identity, error) {
	if p.user == "" {
		return Identity{}, &LimitError{wait} // no token is like it
	}
	who := party{Network(r.RemoteAddr), p.user}
	ctx, cancel := context.WithTimeout(r.Context(), lateWait)
	defer cancel()
	leave, err := g.lates.enter(ctx, who, lateLine)
	if err != nil {
		return Identity{}, &LimitError{wait}
	}
	id, ok, err := g.hash.prove(r.Context(), c, p, who.network)
	if err == nil && ok {
		leave()
		return id, nil
	}
	time.AfterFunc(addrFailInterval, leave)
	return Identity{}, &LimitError{wait}
}

// offered reads the Authorization of r.
func offered(r *http.Request) (p presented, ok bool) {
	if user, password, ok := r.BasicAuth(); ok {
		return presented{user: user, secret: []byte(password)}, true
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return p, false
	}
	return presented{secret: []byte(strings.TrimSpace(token))}, true
}

// Challenge asks for a login.
func (g *Guard) Challenge(h http.Header) {
	h.Add("WWW-Authenticate", `Basic realm="headerglass", charset="UTF-8"`)
	if g.tokens {
		h.Add("WWW-Authenticate", `Bearer realm="headerglass"`)
	}
}
