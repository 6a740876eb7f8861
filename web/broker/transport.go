package broker

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/headerglass/headerglass/fieldtable/wire"
)

// transport is the connection that the AMQP library reads: a Tap, behind a gate that ends the
// sink's calls for good.
type transport struct {
	*wire.Tap
	raw *watched

	mu     sync.Mutex // held during a Read, and so during every call of the sink
	closed bool
}

func (t *transport) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, net.ErrClosed
	}
	n, err := t.Tap.Read(p)
	t.raw.note(err) // one of the Tap's own
	return n, err
}

// shut closes the connection. When it returns, the sink is not called any more.
func (t *transport) shut() {
	_ = t.raw.Close()
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
}

// watched remembers why reading or writing failed: the library reports every failure as a frame
// error.
type watched struct {
	net.Conn
	// patience bounds a Write, during which the library answers to nothing; 0: it may take for
	// ever, as a broker lets publishers wait.
	patience  time.Duration
	handshake *handshake // the same connection
	// uncertified says that the broker asked for a client certificate, and there was none.
	uncertified bool
	mu          sync.Mutex
	err         error
	heard       time.Time // when something was read last
	begin       []byte    // the first octets that arrived, no more than say which protocol it is
}

func (w *watched) note(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *watched) seen() evidence {
	w.mu.Lock()
	defer w.mu.Unlock()
	return evidence{w.err, w.begin, w.uncertified}
}

// beginning keeps the first octets of what arrives.
func (w *watched) beginning(b []byte) {
	const enough = 8
	w.mu.Lock()
	defer w.mu.Unlock()
	if missing := enough - len(w.begin); missing > 0 {
		w.begin = append(w.begin, b[:min(len(b), missing)]...)
	}
}

// endedAt is when the connection ended: of one that fell silent, when something was read last.
func (w *watched) endedAt(now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if isTimeout(w.err) && !w.heard.IsZero() {
		return w.heard
	}
	return now
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.beginning(p[:n])
	w.note(err)
	if n > 0 {
		w.mu.Lock()
		w.heard = time.Now()
		w.mu.Unlock()
	}
	return n, err
}

func (w *watched) Write(p []byte) (int, error) {
	if w.patience > 0 {
		_ = w.SetWriteDeadline(time.Now().Add(w.patience))
	}
	n, err := w.Conn.Write(p)
	if w.patience > 0 && isTimeout(err) {
		err = &notTaken{w.patience, err}
	}
	w.note(err)
	return n, err
}

// notTaken is why a Write failed that its peer did not take in time.
type notTaken struct {
	patience time.Duration
	err      error
}

func (e *notTaken) Error() string { return fmt.Sprintf("nothing could be sent for %s", e.patience) }
func (e *notTaken) Unwrap() error { return e.err }

// connect dials, encrypts, and opens the AMQP connection. Its errors are in words.
func (c *Consumer) connect(ctx context.Context, s wire.Sink) (*amqp.Connection, *transport, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.endpoint.dialTimeout)
	defer cancel()
	raw, e := c.dial(ctx)
	if e != nil {
		return nil, nil, e
	}
	raw.patience = 2 * c.endpoint.heartbeat
	t := &transport{Tap: wire.NewTap(raw, wire.TapConfig{Sink: s, Now: c.now, Stall: raw.patience}), raw: raw}
	conn, e := c.open(ctx, t, raw)
	if e != nil {
		t.shut()
		return nil, nil, e
	}
	return conn, t, nil
}

// dial connects to the broker and encrypts. The connection keeps the deadline of ctx.
func (c *Consumer) dial(ctx context.Context) (*watched, *Error) {
	e := c.endpoint
	nc, err := c.reach(ctx, "tcp", e.address())
	if err != nil {
		return nil, c.explain(phaseDial, err, evidence{})
	}
	uncertified := false
	if e.secure {
		cfg, err := e.tlsConfig()
		if err != nil {
			_ = nc.Close()
			return nil, &Error{Kind: KindConfig, Msg: err.Error(), Err: err}
		}
		if len(cfg.Certificates) == 0 && cfg.GetClientCertificate == nil {
			cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				uncertified = true
				return &tls.Certificate{}, nil // none
			}
		}
		client := tls.Client(nc, cfg)
		if err := client.HandshakeContext(ctx); err != nil {
			_ = nc.Close()
			return nil, c.explain(phaseTLS, err, evidence{})
		}
		nc = client
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = nc.SetDeadline(deadline) // the library clears it after the handshake
	}
	shake := &handshake{Conn: nc}
	return &watched{Conn: shake, handshake: shake, uncertified: uncertified}, nil
}

// open opens the AMQP connection. The library speaks through t, which stands on raw; the caller
// closes it after an error.
func (c *Consumer) open(ctx context.Context, t io.ReadWriteCloser, raw *watched) (*amqp.Connection, *Error) {
	stop := context.AfterFunc(ctx, func() {
		raw.note(os.ErrDeadlineExceeded) // before the peer answers to the close with its own
		_ = raw.Conn.Close()
	})
	properties := amqp.Table{"product": "headerglass", "version": c.cfg.Version, "connection_name": c.cfg.Name}
	conn, err := amqp.Open(t, amqp.Config{
		SASL: c.endpoint.logins(properties, raw.handshake), Vhost: c.endpoint.vhost,
		Heartbeat: c.endpoint.heartbeat, FrameSize: 131072, Properties: properties, Locale: "en_US",
	})
	if err != nil {
		stop()
		return nil, raw.handshake.refine(c, err, c.explain(phaseHandshake, err, raw.seen()))
	}
	if !stop() {
		return nil, &Error{
			Kind: KindLost,
			Msg:  "the connection was given up while it was opened",
			Err:  context.Cause(ctx),
		}
	}
	return conn, nil
}
