package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/capture"
)

// half is one direction of a connection.
type half struct {
	conversation *conversation
	fromClient   bool
	waiting      atomic.Int64 // octets of its buffers that wait to be read
	lost         int          // octets forwarded and not queued since the last that were; the forwarder's
	stream       *capture.Stream
}

// serve forwards a connection until both directions have ended.
func (r *Relay) serve(ctx context.Context, client net.Conn) {
	r.keep(client)
	defer r.drop(client)
	if c, ok := client.(*tls.Conn); ok {
		greet, cancel := context.WithTimeout(ctx, greetTimeout)
		err := c.HandshakeContext(greet)
		cancel()
		if err != nil {
			r.log.Info("a client's TLS handshake failed", "peer", client.RemoteAddr().String(), "error", err)
			return
		}
	}
	broker, err := r.dial(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("the broker cannot be reached", "address", r.cfg.Address, "error", err)
			r.enter(source.Reconnecting, "The broker at "+r.cfg.Address+" cannot be reached: "+err.Error()+".")
		}
		return
	}
	r.keep(broker)
	defer r.drop(broker)
	r.enter(source.Consuming, "")
	c := r.meet(client.RemoteAddr().String())
	var back sync.WaitGroup
	back.Go(func() { r.forward(client, broker, &c.server) })
	r.forward(broker, client, &c.client)
	back.Wait()
	r.queue.chunks <- chunk{half: &c.client} // nothing is forwarded any more that could be held up
}

// dial connects to the broker.
func (r *Relay) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.DialTimeout)
	defer cancel()
	if r.cfg.TLS != nil {
		return (&tls.Dialer{Config: r.cfg.TLS}).DialContext(ctx, "tcp", r.cfg.Address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", r.cfg.Address)
}

// shrinkAfter is how many reads in a row must fit a small buffer before it is taken again.
const shrinkAfter = 16

// forward copies from src to dst until the end of src, and then ends that direction of dst. Where
// one of them fails it closes both, which ends the other direction too.
func (r *Relay) forward(dst, src net.Conn, h *half) {
	large, little := false, 0
	buf := r.queue.buffer(large)
	defer func() { buf.release() }()
	for {
		n, err := src.Read(buf.b)
		if n > 0 {
			r.forwarded.Add(uint64(n))
			if !h.conversation.unread.Load() {
				// Before it is written, so that no answer is read before what it answers.
				buf.wipe = !h.conversation.opened.Load()
				r.queue.offer(h, buf, n, time.Now())
			}
			if _, werr := dst.Write(buf.b[:n]); werr != nil {
				err = werr
			}
			if n == len(buf.b) {
				large, little = true, 0
			} else if little++; n > smallBuffer {
				little = 0
			} else if little >= shrinkAfter {
				large = false
			}
			if err == nil && (buf.users.Load() > 1 || (len(buf.b) == largeBuffer) != large) {
				buf.release()
				buf = r.queue.buffer(large)
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			// CloseWrite is of *net.TCPConn and of *tls.Conn.
			if c, ok := dst.(interface{ CloseWrite() error }); !ok || c.CloseWrite() != nil {
				_ = dst.Close()
			}
			return
		default:
			_ = src.Close()
			_ = dst.Close()
			return
		}
	}
}
