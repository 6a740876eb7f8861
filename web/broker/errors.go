package broker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
)

// The kinds of errors.
const (
	KindLogin    source.ErrorKind = "login"     // user name, password or certificate refused
	KindVHost    source.ErrorKind = "vhost"     // virtual host missing or not open to the user
	KindAccess   source.ErrorKind = "access"    // the user lacks a permission
	KindNotFound source.ErrorKind = "not_found" // queue or exchange missing
	// queue is exclusive to another connection, or has an exclusive consumer
	KindLocked source.ErrorKind = "locked"
	// the broker will not do this with this queue
	KindPrecondition source.ErrorKind = "precondition"
	KindTimeout      source.ErrorKind = "ack_timeout" // the broker's consumer timeout ran out
	KindCancelled    source.ErrorKind = "cancelled"   // the broker cancelled the consumer
	// the mode does not fit the queue, or would harm it
	KindQueueType   source.ErrorKind = "queue_type"
	KindDNS         source.ErrorKind = "dns"         // host name unknown
	KindUnreachable source.ErrorKind = "unreachable" // nothing listens, or no route
	KindTLSName     source.ErrorKind = "tls_name"    // the certificate is for another name
	KindTLS         source.ErrorKind = "tls"         // any other trouble with TLS
	// not an AMQP 0-9-1 broker, or one that breaks the protocol
	KindProtocol source.ErrorKind = "protocol"
	KindLost     source.ErrorKind = "lost"          // the connection broke
	KindClosed   source.ErrorKind = "closed"        // the broker closed the connection
	KindInternal source.ErrorKind = "broker_failed" // the broker closed it for a fault of its own
	// the broker fails while it delivers a certain message
	KindUndeliverable source.ErrorKind = "undeliverable"
	// no running replica of a stream to read from
	KindNoReplica source.ErrorKind = "no_replica"
	KindSpoolFull source.ErrorKind = "spool_full" // the spool has reached its bound
	KindSpool     source.ErrorKind = "spool"      // the spool cannot be written
	// messages arrive faster than they can be written
	KindSpoolBehind source.ErrorKind = "spool_behind"
	KindConfig      source.ErrorKind = "configuration" // the configuration cannot work
)

// Error is a failure in one plain sentence for an operator. Its text carries no credentials.
type Error struct {
	Kind source.ErrorKind
	Msg  string
	Err  error

	stops bool // trying again would harm the queue
	cause cause
}

// cause is who ended a connection without a word, as far as can be told.
type cause uint8

const (
	byBroker  cause = iota
	byNetwork       // it was reset, or fell silent
	byEither        // it ended otherwise
)

func (e *Error) Error() string { return e.Msg }
func (e *Error) Unwrap() error { return e.Err }

// refused reports whether the broker or the configuration said no: trying again soon is of no use.
func (e *Error) refused() bool {
	switch e.Kind {
	case KindLost, KindClosed, KindInternal, KindUnreachable, KindCancelled, KindTimeout, KindSpoolBehind,
		KindNoReplica:
		return false
	}
	return true
}

// final reports whether trying again would harm the queue or could not work at all.
func (e *Error) final() bool { return e.Kind == KindQueueType || e.stops }

// phase is what was being done when an error came.
type phase uint8

const (
	phaseDial phase = iota
	phaseTLS
	phaseHandshake
	phaseDeclare
	phaseRun
)

// explain turns an error into words.
func (c *Consumer) explain(p phase, err error, seen evidence) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	kind, msg := c.sentence(p, err, seen)
	return &Error{Kind: kind, Msg: msg, Err: err, cause: causeOf(kind, seen.err)}
}

func causeOf(kind source.ErrorKind, from error) cause {
	_, stalled := errors.AsType[*wire.StallError](from)
	switch {
	case isTimeout(from), isAny(from, resetErrors()):
		return byNetwork
	case kind == KindLost && !stalled:
		return byEither
	}
	return byBroker
}

// evidence is what the transport saw, which says more than the library's errors.
type evidence struct {
	err   error  // of the first Read or Write that failed
	begin []byte // the first octets that arrived
	// uncertified says that the broker asked for a client certificate, and there was none.
	uncertified bool
}

func (c *Consumer) sentence(p phase, err error, seen evidence) (source.ErrorKind, string) {
	address := c.endpoint.address()
	switch p {
	case phaseDial:
		return dialSentence(address, c.endpoint.host, err, c.endpoint.dialTimeout)
	case phaseTLS:
		return tlsSentence(address, c.endpoint.serverName, err)
	}
	if e, ok := errors.AsType[*amqp.Error](err); ok && e.Server {
		return c.replySentence(p, e)
	}
	if alert, ok := remoteAlert(seen.err); ok { // with TLS 1.3 it comes after the handshake
		return alertSentence(address, alert)
	}
	if p == phaseHandshake {
		return c.handshakeSentence(address, err, seen)
	}
	return c.lostSentence(err, seen.err)
}

// handshakeSentence says why the AMQP handshake came to nothing without an answer of the broker's.
func (c *Consumer) handshakeSentence(address string, err error, seen evidence) (source.ErrorKind, string) {
	begin := string(seen.begin)
	switch {
	case errors.Is(err, amqp.ErrSASL):
		return KindLogin, fmt.Sprintf("%s offers no login mechanism that fits", address)
	case isTimeout(seen.err), errors.Is(seen.err, net.ErrClosed):
		return KindLost, fmt.Sprintf(
			"%s accepted the connection but did not complete the AMQP handshake within %s",
			address, c.endpoint.dialTimeout,
		)
	case len(begin) >= 8 && begin[:4] == "AMQP":
		return KindProtocol, fmt.Sprintf(
			"%s speaks another version of AMQP (it answers with %s) and not 0-9-1", address, version(begin[4:8]))
	case strings.HasPrefix(begin, "HTTP"):
		return KindProtocol, fmt.Sprintf("%s answers with HTTP and not with AMQP: is that another port's number?", address)
	case begin == "" && seen.uncertified:
		return KindTLS, fmt.Sprintf(
			"%s asks for a client certificate, and closed the connection when none was given", address)
	case begin == "" && c.endpoint.secure:
		return KindProtocol, fmt.Sprintf("%s closed the connection without an answer to the AMQP header", address)
	case begin == "" || begin[0] == tlsAlert && !c.endpoint.secure:
		return KindProtocol, fmt.Sprintf(
			"%s closed the connection without an answer in AMQP: does it expect TLS? A TLS port needs amqps://", address)
	case errors.Is(err, amqp.ErrCredentials):
		return KindLogin, fmt.Sprintf("%s closed the connection at login: user name or password are probably wrong", address)
	case errors.Is(err, amqp.ErrVhost):
		return KindVHost, fmt.Sprintf("%s closed the connection instead of opening vhost %q", address, c.endpoint.vhost)
	case begin[0] != methodFrame:
		return KindProtocol, fmt.Sprintf("%s does not speak AMQP 0-9-1: its answer begins with %q", address, begin)
	case seen.err != nil:
		return KindLost, fmt.Sprintf("%s closed the connection during the AMQP handshake", address)
	}
	return KindProtocol, fmt.Sprintf("%s broke the protocol during the AMQP handshake: %v", address, err)
}

// First octets of an answer.
const (
	methodFrame = 1  // spec §4.2.3
	tlsAlert    = 21 // RFC 8446 §5.1
)

// version words the last four octets of a protocol header (spec §4.2.2; AMQP 1.0 §2.2).
func version(b string) string {
	if b[0] == 1 && b[1] == 1 {
		return fmt.Sprintf("%d-%d", b[2], b[3]) // the form before 0-9
	}
	if b[1] > 0 {
		return fmt.Sprintf("%d.%d", b[1], b[2])
	}
	return fmt.Sprintf("%d-%d-%d", b[1], b[2], b[3])
}

// remoteAlert returns the TLS alert that the peer sent, as crypto/tls words it.
func remoteAlert(err error) (string, bool) {
	e, ok := errors.AsType[*net.OpError](err)
	if !ok || e.Op != "remote error" {
		return "", false
	}
	return strings.TrimPrefix(e.Err.Error(), "tls: "), true
}

func alertSentence(address, alert string) (source.ErrorKind, string) {
	if strings.Contains(alert, "certificate required") {
		return KindTLS, fmt.Sprintf("%s asks for a client certificate, and none was given", address)
	}
	return KindTLS, fmt.Sprintf("%s refused the TLS connection: %s", address, alert)
}

func dialSentence(address, host string, err error, timeout time.Duration) (source.ErrorKind, string) {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return KindDNS, fmt.Sprintf("host name %q is unknown", host)
		}
		return KindDNS, fmt.Sprintf("host name %q could not be looked up", host)
	}
	switch {
	case isAny(err, refusedErrors()):
		return KindUnreachable, fmt.Sprintf("connection refused: nothing listens on %s", address)
	case isTimeout(err):
		return KindUnreachable, fmt.Sprintf("%s did not answer within %s", address, timeout)
	case isAny(err, noRouteErrors()):
		return KindUnreachable, fmt.Sprintf("there is no route to %s", address)
	}
	return KindUnreachable, fmt.Sprintf("%s cannot be reached: %v", address, innermost(err))
}

func tlsSentence(address, name string, err error) (source.ErrorKind, string) {
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return KindTLSName, fmt.Sprintf(
			"the certificate of %s is for %s, not for %q",
			address,
			namesOf(e.Certificate),
			name,
		)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return KindTLS, fmt.Sprintf("the certificate of %s is signed by an authority that is not trusted here", address)
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return KindTLS, fmt.Sprintf("the certificate of %s has expired or is not valid yet", address)
		}
		return KindTLS, fmt.Sprintf("the certificate of %s is not valid: %v", address, e)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return KindTLS, fmt.Sprintf("%s does not speak TLS: use amqp:// or the broker's TLS port", address)
	}
	if alert, ok := remoteAlert(err); ok {
		return alertSentence(address, alert)
	}
	if isTimeout(err) {
		return KindTLS, fmt.Sprintf("%s did not complete the TLS handshake in time", address)
	}
	if errors.Is(err, io.EOF) || isAny(err, resetErrors()) {
		return KindTLS, fmt.Sprintf("%s closed the connection during the TLS handshake", address)
	}
	return KindTLS, fmt.Sprintf("TLS with %s failed: %v", address, innermost(err))
}

func namesOf(cert *x509.Certificate) string {
	names := append([]string(nil), cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	switch {
	case len(names) > 3:
		return fmt.Sprintf("%q and %d more", names[:3], len(names)-3)
	case len(names) > 0:
		return fmt.Sprintf("%q", names)
	case cert.Subject.CommonName != "":
		return fmt.Sprintf("%q, given as a common name only", cert.Subject.CommonName)
	}
	return "no name"
}

// replySentence words what the broker said with channel.close or connection.close.
func (c *Consumer) replySentence(p phase, e *amqp.Error) (source.ErrorKind, string) {
	what := c.target()
	// The broker's words alone: a password may be a word of ours.
	said := func(e *amqp.Error) string { return c.withoutSecrets(said(e)) }
	switch e.Code {
	case amqp.AccessRefused:
		switch {
		case p == phaseHandshake:
			return KindLogin, fmt.Sprintf(
				"the broker refused the login of user %q: wrong user name or password (403)",
				c.endpoint.username,
			)
		case strings.Contains(e.Reason, "exclusive use"), strings.Contains(e.Reason, "exclusive consumer"):
			return KindLocked, fmt.Sprintf("%s has an exclusive consumer, so nobody else may read it (403)", what)
		}
		return KindAccess, fmt.Sprintf(
			"user %q has no permission for this on %s (403): %s",
			c.endpoint.username,
			what,
			said(e),
		)
	case amqp.NotAllowed:
		if p == phaseHandshake {
			if strings.Contains(e.Reason, "refused for user") {
				return KindVHost, fmt.Sprintf(
					"user %q has no access to vhost %q (530)",
					c.endpoint.username,
					c.endpoint.vhost,
				)
			}
			if strings.Contains(e.Reason, "not found") {
				return KindVHost, fmt.Sprintf("vhost %q does not exist (530)", c.endpoint.vhost)
			}
			return KindVHost, fmt.Sprintf("the broker does not open vhost %q (530): %s", c.endpoint.vhost, said(e))
		}
		return KindAccess, fmt.Sprintf("the broker does not allow this on %s (530): %s", what, said(e))
	case amqp.NotFound:
		return KindNotFound, fmt.Sprintf("%s does not exist in vhost %q (404)", what, c.endpoint.vhost)
	case amqp.ResourceLocked:
		return KindLocked, fmt.Sprintf("%s belongs exclusively to another connection (405)", what)
	case amqp.PreconditionFailed:
		if strings.Contains(e.Reason, "running replica") {
			return KindNoReplica, fmt.Sprintf(
				"%s has no running replica to read from where this explorer is connected (406): %s", what, said(e))
		}
		if strings.Contains(e.Reason, "timed out") {
			c.impatient(e.Reason)
			return KindTimeout, fmt.Sprintf(
				"the broker's consumer timeout ran out (406): messages were held longer than it allows, and it has taken them back: %s",
				said(e),
			)
		}
		return KindPrecondition, fmt.Sprintf("the broker does not do this with %s (406): %s", what, said(e))
	case amqp.ConnectionForced:
		return KindClosed, fmt.Sprintf("the broker closed the connection (320): %s", said(e))
	case amqp.InternalError:
		return KindInternal, fmt.Sprintf("the broker closed the connection for a fault of its own (541): %s", said(e))
	case amqp.ResourceError:
		return KindClosed, fmt.Sprintf("the broker lacks resources (506): %s", said(e))
	}
	return KindProtocol, fmt.Sprintf("the broker reported an error (%d): %s", e.Code, said(e))
}

// target names what is read.
func (c *Consumer) target() string {
	if c.cfg.Mode == source.Copy {
		return fmt.Sprintf("exchange %q", c.cfg.Exchange)
	}
	return fmt.Sprintf("queue %q", c.cfg.Queue)
}

// said quotes the broker's words without control characters and without the name of the code.
func said(e *amqp.Error) string {
	text := strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(e.Reason, "?"))
	if _, after, found := strings.Cut(text, " - "); found {
		text = after
	}
	return text
}

func (c *Consumer) lostSentence(err, from error) (source.ErrorKind, string) {
	address := c.endpoint.address()
	if e, ok := errors.AsType[*wire.StallError](from); ok {
		return KindLost, fmt.Sprintf("the broker has sent a part of a message of %s and nothing more of it for %s: "+
			"neither it nor what followed was acknowledged", c.target(), e.Stall)
	}
	if e, ok := errors.AsType[*wire.FrameError](from); ok {
		return KindProtocol, fmt.Sprintf("%s broke the protocol: %v", address, e)
	}
	if e, ok := errors.AsType[*notTaken](from); ok {
		return KindLost, fmt.Sprintf("the connection to %s is dead: %v", address, e)
	}
	switch {
	case isTimeout(from):
		return KindLost, fmt.Sprintf(
			"the connection to %s is dead: nothing arrived in time, not even a heartbeat",
			address,
		)
	case errors.Is(from, io.EOF), errors.Is(from, io.ErrUnexpectedEOF):
		return KindLost, fmt.Sprintf("%s closed the connection", address)
	case isAny(from, resetErrors()):
		return KindLost, fmt.Sprintf("the connection to %s was reset", address)
	case from != nil && !errors.Is(from, net.ErrClosed):
		return KindLost, fmt.Sprintf("the connection to %s broke: %v", address, innermost(from))
	case errors.Is(err, amqp.ErrClosed):
		return KindLost, fmt.Sprintf("the connection to %s ended", address)
	}
	return KindProtocol, fmt.Sprintf("%s broke the protocol: %v", address, err)
}

// isAny reports whether err is one of the system's errors.
func isAny(err error, of []syscall.Errno) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(of, errno)
}

func isTimeout(err error) bool {
	if err == nil {
		return false
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return true
	}
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// innermost is the cause without the addresses that the net package puts around it.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
