package broker

import (
	"crypto/hmac"
	"crypto/md5" // #nosec G501 -- CRAM-MD5 is defined with it (RFC 2195)
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/xdg-go/scram"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// mechanism is a way to log in, by its SASL name.
type mechanism string

const (
	saslSCRAM256  mechanism = "SCRAM-SHA-256" // RFC 7677
	saslSCRAM1    mechanism = "SCRAM-SHA-1"   // RFC 5802
	saslPlain     mechanism = "PLAIN"         // RFC 4616
	saslCRAM      mechanism = "CRAM-MD5"      // RFC 2195
	saslExternal  mechanism = "EXTERNAL"      // RFC 4422 appendix A
	saslAnonymous mechanism = "ANONYMOUS"     // RFC 4505
)

// mechanisms are all that can be chosen, the ones that show the password to nobody first.
func mechanisms() []mechanism {
	return []mechanism{saslSCRAM256, saslSCRAM1, saslPlain, saslCRAM, saslAnonymous, saslExternal}
}

// chooseMechanisms returns the ways to log in that may be tried, the best first. name is what the
// configuration asks for, empty: what fits. named says that it names a user.
func chooseMechanisms(name string, certificate, named bool) ([]mechanism, error) {
	m := mechanism(strings.ToUpper(name))
	switch {
	case name != "" && slices.Contains(mechanisms(), m):
		return []mechanism{m}, nil
	case name != "":
		return nil, fmt.Errorf("SASL mechanism %q is not supported: use one of %s", name,
			strings.ToLower(list(mechanisms())))
	case certificate && !named:
		return []mechanism{saslExternal}, nil
	}
	byPassword := []mechanism{saslSCRAM256, saslSCRAM1, saslPlain, saslCRAM}
	if !named {
		return append(byPassword, saslAnonymous), nil
	}
	return byPassword, nil
}

func list[S ~string](names []S) string {
	var words []string
	for _, n := range names {
		words = append(words, string(n))
	}
	return strings.Join(words, ", ")
}

// login is one way to log in, for one connection.
type login struct {
	*endpoint
	mechanism  mechanism
	properties amqp.Table
	handshake  *handshake
}

// logins are those that the library may choose from.
func (e *endpoint) logins(properties amqp.Table, h *handshake) (all []amqp.Authentication) {
	for _, m := range e.mechanisms {
		all = append(all, login{e, m, properties, h})
	}
	return all
}

func (l login) Mechanism() string { return string(l.mechanism) }

// Response is called while the library puts connection.start-ok together, after it has set the
// client's capabilities. It does not announce authentication_failure_close, without which RabbitMQ
// drops a refused login silently after some seconds, so that a wrong password looks like a broken
// network. See https://www.rabbitmq.com/docs/auth-notification.
func (l login) Response() string {
	if capabilities, ok := l.properties["capabilities"].(amqp.Table); ok {
		capabilities["authentication_failure_close"] = true
	}
	switch l.mechanism {
	case saslPlain:
		return "\x00" + l.username + "\x00" + l.password
	case saslAnonymous:
		return "headerglass"
	case saslCRAM:
		l.handshake.answers(l.cram)
		return ""
	case saslSCRAM1:
		return l.scram(scram.SHA1)
	case saslSCRAM256:
		return l.scram(scram.SHA256)
	}
	return ""
}

// cram answers a challenge of CRAM-MD5.
func (l login) cram(challenge string) (string, error) {
	mac := hmac.New(md5.New, []byte(l.password))
	_, _ = io.WriteString(mac, challenge)
	return l.username + " " + hex.EncodeToString(mac.Sum(nil)), nil
}

// scram begins a conversation, whose challenges the handshake then answers.
func (l login) scram(hash scram.HashGeneratorFcn) string {
	client, err := hash.NewClient(l.username, l.password, "")
	if err != nil {
		l.handshake.fails(err)
		return ""
	}
	conversation := client.NewConversation()
	first, err := conversation.Step("")
	if err != nil {
		l.handshake.fails(err)
		return ""
	}
	l.handshake.answers(conversation.Step)
	return first
}

// maxHandshakeFrame bounds what is kept of a frame while the connection is opened; a larger one is
// not looked into.
const maxHandshakeFrame = 128 << 10

// handshake is a connection while AMQP is opened on it. It answers connection.secure, which the
// library does not know, and remembers what the broker offered and why it closed.
type handshake struct {
	net.Conn

	mu     sync.Mutex                             // guards answer and fault
	answer func(challenge string) (string, error) // nil: the mechanism knows no challenge
	fault  error                                  // why the login came to an end on this side

	offered []string    // mechanisms
	closed  methodClose // zero: it did not close

	ready []byte // what the library has not read yet of what was looked at
	done  bool   // nothing more is looked at
}

// methodClose is a connection.close: its code, and the method that caused it.
type methodClose struct{ code, class, method uint16 }

// Methods of class connection (spec 1.4).
const (
	classConnection = 10
	methodStart     = 10
	methodStartOk   = 11
	methodSecure    = 20
	methodSecureOk  = 21
	methodOpen      = 40
	methodOpenOk    = 41
	methodClosing   = 50
)

func (h *handshake) answers(f func(challenge string) (string, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = f
}

// fails notes why the login came to an end and returns it.
func (h *handshake) fails(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = err
	return err
}

func (h *handshake) login() (answer func(challenge string) (string, error), fault error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answer, h.fault
}

// Read hands on what the broker sends, but not its challenges.
func (h *handshake) Read(p []byte) (int, error) {
	for len(h.ready) == 0 && !h.done {
		if err := h.look(); err != nil {
			return 0, err
		}
	}
	if len(h.ready) > 0 {
		n := copy(p, h.ready)
		h.ready = h.ready[n:]
		return n, nil
	}
	return h.Conn.Read(p)
}

// look reads one frame.
func (h *handshake) look() error {
	const head = 7 // octets before a frame's payload
	frame := make([]byte, head)
	n, err := h.Conn.Read(frame[:1])
	if n == 0 {
		return err
	}
	h.ready = frame[:1]
	if frame[0] != 1 { // no method: not AMQP, or nothing of a handshake
		h.done = true
		return nil
	}
	if n, err = io.ReadFull(h.Conn, frame[1:]); err != nil {
		h.ready, h.done = frame[:1+n], true
		return nil // the next Read gives the error again
	}
	h.ready = frame
	size := binary.BigEndian.Uint32(frame[3:])
	if size > maxHandshakeFrame {
		h.done = true
		return nil
	}
	rest := make([]byte, size+1)
	n, err = io.ReadFull(h.Conn, rest)
	h.ready = append(frame, rest[:n]...)
	if err != nil {
		h.done = true
		return nil
	}
	class, method, args, ok := wire.Frame{Type: 1, Payload: rest[:size]}.Method()
	if !ok || class != classConnection {
		h.done = true
		return nil
	}
	switch method {
	case methodStart:
		h.offered = offered(args)
	case methodSecure:
		if answer, _ := h.login(); answer != nil {
			h.ready = nil
			return h.respond(args, answer)
		}
	case methodOpenOk:
		h.done = true
	case methodClosing:
		h.done = true
		if len(args) > 2 && len(args) >= 7+int(args[2]) {
			ids := args[3+int(args[2]):]
			h.closed = methodClose{
				binary.BigEndian.Uint16(args), binary.BigEndian.Uint16(ids), binary.BigEndian.Uint16(ids[2:]),
			}
		}
	}
	return nil
}

var errChallenge = errors.New("the broker's challenge cannot be read")

// respond answers connection.secure with connection.secure-ok.
func (h *handshake) respond(args []byte, answer func(string) (string, error)) error {
	if len(args) < 4 || int(binary.BigEndian.Uint32(args)) != len(args)-4 {
		return h.fails(errChallenge)
	}
	text, err := answer(string(args[4:]))
	if err != nil {
		return h.fails(err)
	}
	response := binary.BigEndian.AppendUint32(nil, uint32(len(text))) // #nosec G115 -- some hundred octets
	_, err = h.Conn.Write(wire.AppendMethod(nil, 0, classConnection, methodSecureOk, append(response, text...)))
	return err
}

// offered reads the mechanisms of a connection.start: they stand after the version and the
// server-properties, separated by spaces.
func offered(args []byte) []string {
	for at := 2; ; {
		if len(args) < at+4 {
			return nil
		}
		size := int(binary.BigEndian.Uint32(args[at:]))
		if size > len(args)-at-4 {
			return nil
		}
		if at > 2 {
			return strings.Fields(strings.ToValidUTF8(string(args[at+4:at+4+size]), "?"))
		}
		at += 4 + size
	}
}

// refine says what the handshake saw where that is more than e, the words for err, tells.
func (h *handshake) refine(c *Consumer, err error, e *Error) *Error {
	address := c.endpoint.address()
	said := func(format string, args ...any) *Error {
		return &Error{Kind: KindLogin, Msg: fmt.Sprintf(format, args...), Err: err}
	}
	refusedAt := func(methods ...uint16) bool {
		return h.closed.class == classConnection && slices.Contains(methods, h.closed.method)
	}
	switch _, fault := h.login(); {
	case fault != nil:
		return said("the login at %s failed: %s", address, c.withoutSecrets(fault.Error()))
	case errors.Is(err, amqp.ErrSASL) && len(h.offered) == 0:
		return said("%s offers no way to log in", address)
	case errors.Is(err, amqp.ErrSASL):
		return said("%s offers the login mechanisms %s, and none of them fits: tried %s",
			address, c.withoutSecrets(list(h.offered)), list(c.endpoint.mechanisms))
	case refusedAt(methodStartOk, methodSecureOk):
		if c.endpoint.nameless() {
			return said("the broker refused the login (%d)", h.closed.code)
		}
		return said("the broker refused the login of user %q: wrong user name or password (%d)",
			c.endpoint.username, h.closed.code)
	case refusedAt(methodOpen) && h.closed.code == amqp.NotFound:
		return &Error{
			Kind: KindVHost, Err: err,
			Msg: fmt.Sprintf("vhost %q does not exist (404)", c.withoutSecrets(c.endpoint.vhost)),
		}
	}
	return e
}
