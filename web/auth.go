package web

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

var (
	errLogin     = errors.New("web: not logged in")
	errLoginBusy = errors.New("web: too many logins to check at once")
)

// loginsError refuses a login because too many have failed.
type loginsError struct{ wait time.Duration }

func (e *loginsError) Error() string { return "web: too many failed logins" }

// AuthConfig says who may use the explorer. At least one file is required.
type AuthConfig struct {
	// UserFile has lines of user:hash with bcrypt hashes, as htpasswd -B
	// writes them. TokenFile has one token a line. In both, empty lines and
	// lines that begin with # are skipped. Changes are noticed within a second.
	UserFile, TokenFile string
	// Logger may be nil.
	Logger *slog.Logger
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// Auth tells who is allowed in. Users log in by HTTP Basic. A token comes as
// Authorization: Bearer, or as the password of HTTP Basic under any user name,
// so that a browser can use it too.
type Auth struct {
	logger  *slog.Logger
	now     func() time.Time
	hash    *hasher
	creds   *reloaded[credentials]
	limiter *loginLimiter
	tokens  bool // bearer tokens are offered
}

// NewAuth reads the files of cfg.
func NewAuth(cfg AuthConfig) (*Auth, error) {
	if cfg.UserFile == "" && cfg.TokenFile == "" {
		return nil, errors.New("web: neither users nor tokens to log in with")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	a := &Auth{
		logger:  cfg.Logger,
		now:     cfg.Now,
		hash:    newHasher(),
		limiter: newLoginLimiter(cfg.Now),
		tokens:  cfg.TokenFile != "",
	}
	read := func() (*credentials, error) { return a.hash.readCredentials(cfg.UserFile, cfg.TokenFile) }
	var err error
	a.creds, err = newReloaded("list of users and tokens", read, cfg.Logger, cfg.Now, cfg.UserFile, cfg.TokenFile)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// valid reports whether an identity can still log in. It is quick.
func (a *Auth) valid(id identity) bool { return a.creds.get().ids[id] }

// login finds out who sent r, or why that cannot be: errLogin, errLoginBusy or
// a *loginsError.
func (a *Auth) login(r *http.Request) (identity, error) {
	c := a.creds.get()
	p, ok := offered(r)
	if !ok {
		return identity{}, errLogin
	}
	if id, ok := a.hash.known(c, p); ok {
		return id, nil
	}
	finish, wait := a.limiter.begin(r.RemoteAddr)
	if wait > 0 {
		return identity{}, &loginsError{wait}
	}
	id, ok, err := a.hash.prove(r.Context(), c, p)
	finish(err == nil && !ok)
	switch {
	case err != nil:
		return identity{}, err
	case !ok:
		// Neither the name nor anything else that was typed: it may be a
		// password in the wrong field.
		a.logger.Warn("login refused", "remote", r.RemoteAddr)
		return identity{}, errLogin
	}
	return id, nil
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

// challenge asks for a login.
func (a *Auth) challenge(h http.Header) {
	h.Add("WWW-Authenticate", `Basic realm="headerglass", charset="UTF-8"`)
	if a.tokens {
		h.Add("WWW-Authenticate", `Bearer realm="headerglass"`)
	}
}

// A pass is a cookie that opens the live feed and nothing else: Safari does
// not send HTTP Basic with a websocket handshake (WebKit bug 80362), but it
// sends cookies. It says until when it is good and for whom, under a key that
// ends with the process.
const (
	passName = "headerglass_live"
	passTime = 24 * time.Hour

	passExpiry = 0 // Unix seconds
	passID     = 8
	passMAC    = passID + len(identity{})
	passBytes  = passMAC + len(digest{})
)

func (a *Auth) newPass(id identity, expires time.Time) string {
	b := make([]byte, passMAC, passBytes)
	binary.BigEndian.PutUint64(b[passExpiry:], uint64(expires.Unix()))
	copy(b[passID:], id[:])
	mac := a.hash.digest("pass", b)
	return base64.RawURLEncoding.EncodeToString(append(b, mac[:]...))
}

// pass returns whose pass r carries; ok is false unless it is good.
func (a *Auth) pass(r *http.Request) (id identity, ok bool) {
	c, err := r.Cookie(passName)
	if err != nil {
		return id, false
	}
	b, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || len(b) != passBytes {
		return id, false
	}
	if mac := a.hash.digest("pass", b[:passMAC]); !hmac.Equal(mac[:], b[passMAC:]) {
		return id, false
	}
	id = identity(b[passID:passMAC])
	expires := time.Unix(int64(binary.BigEndian.Uint64(b[passExpiry:])), 0)
	return id, a.now().Before(expires) && a.valid(id)
}

// givePass sets a pass for the live feed below path.
func (a *Auth) givePass(w http.ResponseWriter, r *http.Request, id identity, path string) {
	// A Secure cookie would not come back over plain HTTP.
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- Secure where the connection is
		Name:     passName,
		Value:    a.newPass(id, a.now().Add(passTime)),
		Path:     path,
		MaxAge:   int(passTime / time.Second),
		Secure:   r.TLS != nil,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
}

type identityKey struct{}

// authenticate lets nobody through who is not allowed in, but to what says in
// a word how the process is: those who ask for that cannot keep a secret.
func (s *Server) authenticate(next http.Handler) http.Handler {
	a := s.cfg.Auth
	if a == nil {
		return next
	}
	return s.serve(func(w http.ResponseWriter, r *http.Request) error {
		path := s.relative(r.URL.Path)
		if path == "/healthz" || path == "/readyz" {
			next.ServeHTTP(w, r)
			return nil
		}
		var id identity
		err := errLogin
		if path == "/live" {
			if who, ok := a.pass(r); ok {
				id, err = who, nil
			}
		}
		if err != nil {
			id, err = a.login(r)
		}
		if err != nil {
			if errors.Is(err, errLogin) {
				a.challenge(w.Header())
			}
			return err
		}
		if path != "/live" && strings.Contains(r.Header.Get("Accept"), "text/html") {
			a.givePass(w, r, id, s.base+"/live")
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), identityKey{}, id)))
		return nil
	})
}

// stillIn reports whether whoever sent r, which was let through before, would
// be let through now.
func (s *Server) stillIn(r *http.Request) bool {
	if s.cfg.Auth == nil {
		return true
	}
	id, ok := r.Context().Value(identityKey{}).(identity)
	return ok && s.cfg.Auth.valid(id)
}
