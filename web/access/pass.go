package access

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"time"
)

// A pass is a cookie that opens one live feed and nothing else: Safari does not send HTTP Basic
// with a websocket handshake (WebKit bug 80362), but it sends cookies. It says until when it is
// good and for whom, under a key that ends with the process. The path of the feed is part of what
// is signed, so that a pass for one source's feed does not open another's.
const (
	passName = "headerglass_live"
	passTime = 24 * time.Hour

	passExpiry = 0 // Unix seconds
	passID     = 8
	passMAC    = passID + len(Identity{})
	passBytes  = passMAC + len(digest{})
)

func (g *Guard) newPass(id Identity, feed string, expires time.Time) string {
	b := make([]byte, passMAC, passBytes)
	binary.BigEndian.PutUint64(b[passExpiry:], uint64(expires.Unix()))
	copy(b[passID:], id[:])
	mac := g.hash.digest("pass", b, []byte(feed))
	return base64.RawURLEncoding.EncodeToString(append(b, mac[:]...))
}

// Pass returns whose pass for the feed at this path r carries; ok is false unless it is good.
func (g *Guard) Pass(r *http.Request, feed string) (id Identity, ok bool) {
	c, err := r.Cookie(passName)
	if err != nil {
		return id, false
	}
	b, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || len(b) != passBytes {
		return id, false
	}
	if mac := g.hash.digest("pass", b[:passMAC], []byte(feed)); !hmac.Equal(mac[:], b[passMAC:]) {
		return id, false
	}
	id = Identity(b[passID:passMAC])
	expires := time.Unix(int64(binary.BigEndian.Uint64(b[passExpiry:])), 0)
	return id, g.now().Before(expires) && g.Knows(id)
}

// GivePass sets a pass for the live feed at this path.
func (g *Guard) GivePass(w http.ResponseWriter, r *http.Request, id Identity, feed string) {
	// A Secure cookie would not come back over plain HTTP. Whoever claims a proxy that is not there
	// harms only the cookie that is theirs.
	http.SetCookie(w, &http.Cookie{ // #nosec G124 -- Secure where the connection is
		Name:     passName,
		Value:    g.newPass(id, feed, g.now().Add(passTime)),
		Path:     feed,
		MaxAge:   int(passTime / time.Second),
		Secure:   r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https"),
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
}
