package relay

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/capture"
)

// Config says what a Relay stands between. Address and Archive are required.
type Config struct {
	Address string      // of the broker, host:port
	TLS     *tls.Config // to the broker; nil: plain TCP
	Archive *archive.Archive
	// QueueBytes is how many bytes may wait to be read; what does not fit passes unread. 0: 16 MiB.
	QueueBytes int64
	// LedgerBytes is how much memory the facts beside the messages take at most. 0: 16 MiB.
	LedgerBytes int64
	// DialTimeout is how long the broker is waited for. 0: 10 seconds.
	DialTimeout time.Duration
	Logger      *slog.Logger // nil: none
}

const (
	defaultQueueBytes  = 16 << 20
	defaultLedgerBytes = 16 << 20
	// maxUnfinished bounds the octets of frames and contents that are not complete, of all
	// connections.
	maxUnfinished      = 16 << 20
	defaultDialTimeout = 10 * time.Second
	// greetTimeout is how long a client may take for its TLS handshake.
	greetTimeout = 10 * time.Second
)

// Relay forwards connections and reads along. Its methods are safe for concurrent use.
type Relay struct {
	cfg    Config
	log    *slog.Logger
	queue  queue
	reader *capture.Reader
	writer *archive.Writer // belongs to the goroutine of read
	seed   maphash.Seed

	accepted  atomic.Uint64
	forwarded atomic.Uint64 // octets, both ways

	mu     sync.Mutex
	ledger ledger
	open   map[net.Conn]struct{} // both sides of every connection
	ended  bool                  // what is opened is closed at once
	status source.Status
	about  source.Relay
}

// New returns a relay that forwards nothing yet.
func New(cfg Config) (*Relay, error) {
	if _, _, err := net.SplitHostPort(cfg.Address); err != nil {
		return nil, fmt.Errorf("relay: the broker's address %q: %w", cfg.Address, err)
	}
	if cfg.Archive == nil {
		return nil, errors.New("relay: no archive")
	}
	cfg.QueueBytes = cmp.Or(cfg.QueueBytes, defaultQueueBytes)
	cfg.DialTimeout = cmp.Or(cfg.DialTimeout, defaultDialTimeout)
	r := &Relay{
		cfg:    cfg,
		log:    cfg.Logger,
		queue:  newQueue(cfg.QueueBytes),
		reader: capture.NewReader(cfg.Archive.BodyLimit(), maxUnfinished),
		writer: cfg.Archive.Writer(),
		seed:   maphash.MakeSeed(),
		ledger: newLedger(cmp.Or(cfg.LedgerBytes, defaultLedgerBytes)),
		open:   map[net.Conn]struct{}{},
		status: source.Status{State: source.Idle, Mode: source.Relayed, Name: cfg.Address, URL: "amqp://" + cfg.Address},
	}
	if cfg.TLS != nil {
		r.status.URL = "amqps://" + cfg.Address
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.ledger.oldest = func() uint64 { return cfg.Archive.Snapshot().First() }
	return r, nil
}

// Serve accepts connections from l and forwards them until ctx is done, closes all of them and l,
// and returns once everything that passed has been read. The error is that of l. It may be called
// once.
func (r *Relay) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() {
		_ = l.Close()
		r.hangUp()
	})
	defer stop()
	var reading, forwarding sync.WaitGroup
	reading.Go(r.read)
	r.enter(source.Consuming, "")
	err := r.accept(ctx, l, &forwarding)
	_ = l.Close()
	r.hangUp()
	forwarding.Wait()
	close(r.queue.chunks)
	reading.Wait()
	r.enter(source.Stopped, "")
	return err
}

func (r *Relay) accept(ctx context.Context, l net.Listener, forwarding *sync.WaitGroup) error {
	const most = time.Second
	var wait time.Duration
	for {
		client, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = client.Close()
			}
			return nil
		case err == nil:
			wait = 0
			forwarding.Go(func() { r.serve(ctx, client) })
			continue
		case errors.Is(err, net.ErrClosed):
			return err
		}
		// Too many open files, or a client that was gone before it was accepted.
		wait = min(max(2*wait, 5*time.Millisecond), most)
		r.log.Warn("a connection could not be accepted", "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// keep remembers a connection so that hangUp closes it.
func (r *Relay) keep(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c] = struct{}{}
	if r.ended {
		_ = c.Close()
	}
}

// drop closes a connection.
func (r *Relay) drop(c net.Conn) {
	_ = c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

// hangUp closes every connection, and those that follow.
func (r *Relay) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for c := range r.open {
		_ = c.Close()
	}
}

// enter sets the state, and what is wrong.
func (r *Relay) enter(s source.State, trouble string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.State != s {
		r.status.State, r.status.Since = s, time.Now()
	}
	r.status.Error = trouble
}

// Status is what the relay is doing.
func (r *Relay) Status() source.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, about := r.status, r.about
	about.Accepted, about.Forwarded = r.accepted.Load(), r.forwarded.Load()
	about.Overlooked, about.Gaps = r.queue.overlooked.Load(), r.queue.gaps.Load()
	s.Relay = &about
	s.Notes = notesOf(about)
	return s
}
