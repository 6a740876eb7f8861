package access

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"
)

const (
	// A bcrypt hash of this cost takes about a second; one of a greater cost
	// would let a login block a core for longer.
	maxBcryptCost = 14
	// bcryptBytes is how much of a password bcrypt looks at.
	bcryptBytes = 72
	// minTokenBytes keeps out tokens that can be guessed.
	minTokenBytes = 16
	// maxCredentialsBytes is far above any list of users written by people.
	maxCredentialsBytes = 1 << 20
	// hashWait is how long a login waits for others to be checked.
	hashWait = 5 * time.Second
)

// digest is a keyed hash of a secret. The key is random and lives only in
// this process, so comparing digests tells nothing of the secrets.
type digest [sha256.Size]byte

// Identity names a user together with the password, or a token: it changes
// when the password does.
type Identity digest

// credentials are the users and tokens of one reading of the files.
type credentials struct {
	users  map[string]*user
	tokens []digest
	// decoys has a hash of each cost that a user has. A password is compared with one of each, so
	// that the time an answer takes tells neither who exists nor whose hash costs what. Empty
	// without users.
	decoys map[int][]byte
	ids    map[Identity]bool
}

type user struct {
	hash []byte // bcrypt
	cost int
	id   Identity
	// proved is the digest of the password that was found right last.
	proved atomic.Pointer[digest]
}

// hasher makes digests and bounds how many passwords are hashed at once.
type hasher struct {
	key   [32]byte
	slots chan struct{}
	lines lines
}

func newHasher() *hasher {
	h := &hasher{slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	rand.Read(h.key[:])
	return h
}

// digest hashes parts so that no two lists of parts hash the same.
func (h *hasher) digest(kind string, parts ...[]byte) (d digest) {
	m := hmac.New(sha256.New, h.key[:])
	fmt.Fprintf(m, "%s %d", kind, len(parts))
	for _, p := range parts {
		fmt.Fprintf(m, " %d ", len(p))
		m.Write(p)
	}
	m.Sum(d[:0])
	return d
}

// readCredentials reads a file of users as htpasswd -B writes it and a file
// with one token a line. Either name may be "".
func (h *hasher) readCredentials(userFile, tokenFile string) (*credentials, error) {
	c := &credentials{users: make(map[string]*user), decoys: make(map[int][]byte), ids: make(map[Identity]bool)}
	if userFile != "" {
		if err := eachLine(userFile, func(line string) error { return h.addUser(c, line) }); err != nil {
			return nil, err
		}
	}
	if tokenFile != "" {
		if err := eachLine(tokenFile, func(line string) error { return h.addToken(c, line) }); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (h *hasher) addUser(c *credentials, line string) error {
	name, hash, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return errors.New("no user:hash; htpasswd -B writes such lines")
	}
	if !strings.HasPrefix(hash, "$2a$") && !strings.HasPrefix(hash, "$2b$") && !strings.HasPrefix(hash, "$2y$") {
		return errors.New("the password is not hashed with bcrypt; htpasswd -B does that")
	}
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil || len(hash) != 60 {
		return errors.New("the bcrypt hash is damaged")
	}
	if cost > maxBcryptCost {
		return fmt.Errorf("bcrypt cost %d is more than %d: each login would take seconds", cost, maxBcryptCost)
	}
	if c.users[name] != nil {
		return errors.New("this user stands on an earlier line too")
	}
	u := &user{hash: []byte(hash), cost: cost, id: Identity(h.digest("user", []byte(name), []byte(hash)))}
	c.users[name] = u
	c.ids[u.id] = true
	if c.decoys[cost] == nil {
		c.decoys[cost] = u.hash
	}
	return nil
}

func (h *hasher) addToken(c *credentials, line string) error {
	if len(line) < minTokenBytes {
		return fmt.Errorf("a token has at least %d characters; openssl rand -hex 32 makes one", minTokenBytes)
	}
	d := h.digest("token", []byte(line))
	c.tokens = append(c.tokens, d)
	c.ids[Identity(d)] = true
	return nil
}

// eachLine calls f for every line that is neither empty nor a comment; a file
// without one is an error. Errors name the line, never what it says.
func eachLine(name string, f func(line string) error) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.Size() > maxCredentialsBytes {
		return fmt.Errorf("%s is larger than %d bytes", name, maxCredentialsBytes)
	}
	raw, err := os.ReadFile(name) // #nosec G304 -- the file that --auth-file or --token-file names
	if err != nil {
		return err
	}
	lines, n := bufio.NewScanner(bytes.NewReader(raw)), 0
	lines.Buffer(nil, maxCredentialsBytes+1)
	empty := true
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		empty = false
		if err := f(line); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if empty {
		return fmt.Errorf("%s is empty, so nobody could log in", name)
	}
	return nil
}

// presented is what a request offers as proof.
type presented struct {
	user   string // "" with a bearer token
	secret []byte
}

// known returns whose p is, if that can be told without hashing a password: a
// token, or a password that was found right before.
func (h *hasher) known(c *credentials, p presented) (id Identity, ok bool) {
	d := h.digest("token", p.secret)
	for _, t := range c.tokens {
		if subtle.ConstantTimeCompare(t[:], d[:]) == 1 {
			return Identity(t), true
		}
	}
	u := c.users[p.user]
	if u == nil {
		return id, false
	}
	proved := u.proved.Load()
	if proved == nil {
		return id, false
	}
	d = h.digest("password", []byte(p.user), p.secret)
	return u.id, subtle.ConstantTimeCompare(proved[:], d[:]) == 1
}

// prove is known for a password that has to be hashed. It waits its turn and fails with ErrBusy
// when that takes too long. Whoever shares an address waits in one line, and so does whoever tries
// one name from there: a flood of one makes nobody else wait longer than for one more.
func (h *hasher) prove(
	ctx context.Context, c *credentials, p presented, from netip.Prefix,
) (id Identity, ok bool, err error) {
	if len(c.decoys) == 0 || p.user == "" {
		return id, false, nil
	}
	if len(p.secret) > bcryptBytes {
		return id, false, ErrLongPassword
	}
	ctx, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	for _, line := range []party{{from, p.user}, {network: from}} {
		leave, err := h.lines.enter(ctx, line, 0)
		if err != nil {
			return id, false, ErrBusy
		}
		defer leave()
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return id, false, ErrBusy
	}
	// The same password may have been proved while this one waited.
	if id, ok := h.known(c, p); ok {
		return id, true, nil
	}
	u := c.users[p.user]
	right := false
	for cost, decoy := range c.decoys {
		if u != nil && u.cost == cost {
			right = bcrypt.CompareHashAndPassword(u.hash, p.secret) == nil
		} else {
			_ = bcrypt.CompareHashAndPassword(decoy, p.secret)
		}
	}
	if !right {
		return id, false, nil
	}
	d := h.digest("password", []byte(p.user), p.secret)
	u.proved.Store(&d)
	return u.id, true, nil
}

// lines let one through at a time, each.
type lines struct {
	mu   sync.Mutex
	open map[party]*line // guarded by mu; those that somebody is in
}

type line struct {
	turn chan struct{} // capacity 1
	n    int           // who is in it; guarded by lines.mu
}

// enter waits for the caller's turn in a line, which leave ends. Where as many as most are in it,
// it fails with ErrBusy; 0: any number may be.
func (l *lines) enter(ctx context.Context, key party, most int) (leave func(), err error) {
	l.mu.Lock()
	if l.open == nil {
		l.open = make(map[party]*line)
	}
	one := l.open[key]
	if one == nil {
		one = &line{turn: make(chan struct{}, 1)}
		l.open[key] = one
	}
	if most > 0 && one.n >= most {
		l.mu.Unlock()
		return nil, ErrBusy
	}
	one.n++
	l.mu.Unlock()
	out := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.n--; one.n == 0 {
			delete(l.open, key)
		}
	}
	select {
	case one.turn <- struct{}{}:
		return func() { <-one.turn; out() }, nil
	case <-ctx.Done():
		out()
		return nil, ctx.Err()
	}
}
