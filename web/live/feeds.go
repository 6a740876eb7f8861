// Package live follows the archive over websockets.
//
// A connection is a cursor into its archives and not a subscriber of them: it
// waits for news, takes a snapshot, filters what is new, writes one batch and
// moves on. Nothing is queued for it, so a slow browser slows only itself.
//
// Messages to the browser are JSON objects told apart by "t":
//
//	{"t":"rows","from":4,"to":9,"html":"<tr…","count":4,"skipped":0,"rate":12.5}
//	{"t":"gap","from":4,"to":9,"count":5,"reason":"evicted"}
//	{"t":"status","html":"<div…","keys":"<ul…","chart":"<svg…","facet":"<h2…","total":"<strong…"}
//	{"t":"status"}
//	{"t":"reset"}
//
// A rows message is about the messages with from < sequence number ≤ to: html
// holds the newest that match, newest first, count of them, and skipped says
// how many older matches are not in it. It may hold none, and then says only
// how far the feed has read. A gap message is about messages that were never
// looked at, count of them: reason "evicted" (gone before the connection got
// to them) or "behind" (too many had arrived since the last batch). A status
// message has parts of the page to put in place of its own; an empty one has
// not changed. One comes at least every five seconds, also when nothing has
// changed: a browser that hears nothing for longer knows that its feed is dead.
//
// A reset message comes first when the browser asks for what follows a message
// that does not exist, or of another run of the explorer: it has been started
// again since, and sequence numbers on the page mean other messages now.
//
// The browser answers a rows message with {"ack":to} when it has painted it;
// it is sent no more than two of them ahead of its answers.
//
// Where a feed follows several archives, from and to are texts that mean something to the server
// only, and a rows message has the number to acknowledge in "ack".
package live

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/headerglass/headerglass/fieldtable"
	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/fieldtable/query"
	"github.com/headerglass/headerglass/web/budget"
)

var (
	// ErrTooMany refuses a connection because a cap is reached.
	ErrTooMany = errors.New("live: too many connections")
	// ErrClosed refuses a connection because the feeds are closed.
	ErrClosed = errors.New("live: closed")
)

// Intervals between two batches to one browser.
const (
	Interval = 100 * time.Millisecond
	// for readers who prefer reduced motion, and while more arrives than is shown
	SlowInterval = 250 * time.Millisecond
)

const (
	maxRows     = 50     // rows in a batch
	maxBehind   = 20_000 // messages filtered for one batch; older ones become a gap
	maxInFlight = 2      // batches sent and not acknowledged

	statusInterval = time.Second
	beatInterval   = 5 * time.Second // at most this long without a status message
	pingInterval   = 20 * time.Second
	pongWait       = 60 * time.Second
	writeWait      = 10 * time.Second
	lingerWait     = time.Second // for the last write when the feeds close

	maxReadBytes   = 512 // an acknowledgement has at most 30
	maxReadsPerSec = 100 // messages, pings and pongs that a browser may send
)

// How many connections are admitted unless a Config says otherwise.
const (
	DefaultConns        = 1000
	DefaultConnsPerAddr = 100 // from one remote address
)

// Config says what a Feeds reads and how much it admits.
type Config struct {
	// MaxConns and MaxConnsPerAddr cap the open connections, in all and for
	// one remote address. 0: DefaultConns and DefaultConnsPerAddr.
	MaxConns, MaxConnsPerAddr int
	// Budget has the bytes that filters take. Nil: there is no bound.
	Budget *budget.Budget
	// Logger may be nil.
	Logger *slog.Logger
	// Now is the clock of the pages. Nil: time.Now.
	Now func() time.Time
}

// Stream says what one connection shows.
type Stream struct {
	Filter  *query.Filter
	Dialect *fieldtable.Dialect
	// Addr is who the feed counts for. "": the remote address of the request.
	Addr string
	// Archives are followed, at least one.
	Archives []*archive.Archive
	// After is for each archive the sequence number after which the stream begins. Where none
	// is as great, the browser gets a reset and the stream begins at the end.
	After []uint64
	// Anew says that After is of an earlier run of the explorer: the browser gets a reset and the
	// stream begins at the end.
	Anew bool
	// Text writes how far a feed of several archives has got; the browser asks for what follows
	// with it. Nil: there is one archive.
	Text func([]uint64) string
	// Interval is the shortest time between two batches. 0: Interval.
	Interval time.Duration
	// Rows writes the table rows of ms, which come newest first and are of the snapshots, one of
	// each archive.
	Rows func(ctx context.Context, w io.Writer, snaps []archive.Snapshot, ms []archive.Message) error
	// Status draws the parts of the page around the rows. Nil: none.
	Status func(ctx context.Context) (Fragments, error)
}

// Fragments are what the page shows beside the rows.
type Fragments struct {
	HTML  string // the broker's state
	Keys  string // the panel of header names
	Chart string // the histogram
	Facet string // the values of one header
	Total string // how many messages match
	// Sources is the overview of several sources.
	Sources string
}

const fragments = 6

func (f *Fragments) parts() [fragments]*string {
	return [...]*string{&f.HTML, &f.Keys, &f.Chart, &f.Facet, &f.Total, &f.Sources}
}

// Feeds admits connections and ends them. Its methods are safe for concurrent
// use.
type Feeds struct {
	cfg      Config
	logger   *slog.Logger
	upgrader websocket.Upgrader
	ctx      context.Context
	cancel   context.CancelFunc
	// turns has a place for each feed that may filter and draw at once: half of the processors, so
	// that the other half is left to whatever else there is to do.
	turns *budget.Limiter

	mu     sync.Mutex
	closed bool           // guarded by mu; once set, wg grows no more
	addrs  map[string]int // guarded by mu; open connections by remote address, no zeros
	total  int            // guarded by mu; the sum of addrs
	wg     sync.WaitGroup // one per admitted connection

	filters map[filterKey]*filter        // guarded by mu; of the open feeds
	memos   map[*archive.Archive]*shared // guarded by mu; of the open feeds
	seed    maphash.Seed
}

// New returns a Feeds.
func New(cfg Config) *Feeds {
	if cfg.MaxConns == 0 {
		cfg.MaxConns = DefaultConns
	}
	if cfg.MaxConnsPerAddr == 0 {
		cfg.MaxConnsPerAddr = DefaultConnsPerAddr
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	fs := &Feeds{
		cfg: cfg, logger: cfg.Logger,
		turns:   budget.NewTurns(budget.Limits{All: max(1, runtime.GOMAXPROCS(0)/2)}),
		addrs:   make(map[string]int),
		filters: make(map[filterKey]*filter),
		memos:   make(map[*archive.Archive]*shared),
		seed:    maphash.MakeSeed(),
	}
	fs.upgrader = websocket.Upgrader{
		HandshakeTimeout: writeWait,
		ReadBufferSize:   1024,
		WriteBufferSize:  4096,
		WriteBufferPool:  &sync.Pool{},
		// Whoever mounts the feeds has checked the origin by its own policy.
		CheckOrigin: func(*http.Request) bool { return true },
		Error:       func(http.ResponseWriter, *http.Request, int, error) {},
	}
	fs.ctx, fs.cancel = context.WithCancel(context.Background())
	return fs
}

// Conns is the number of open connections.
func (fs *Feeds) Conns() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.total
}

// Close tells every browser that the explorer is going away, closes the
// connections and returns when all are gone. It may be called again.
func (fs *Feeds) Close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	fs.cancel()
	fs.wg.Wait()
}

// admit counts a connection from addr in.
func (fs *Feeds) admit(addr string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	switch {
	case fs.closed:
		return ErrClosed
	case fs.total >= fs.cfg.MaxConns, fs.addrs[addr] >= fs.cfg.MaxConnsPerAddr:
		return ErrTooMany
	}
	fs.total++
	fs.addrs[addr]++
	fs.wg.Add(1)
	return nil
}

func (fs *Feeds) leave(addr string) {
	fs.mu.Lock()
	fs.total--
	if fs.addrs[addr]--; fs.addrs[addr] == 0 {
		delete(fs.addrs, addr)
	}
	fs.mu.Unlock()
	fs.wg.Done()
}

// Serve upgrades r and streams s until the browser goes away or the feeds close. An
// error means that nothing was written to w. The caller has checked the
// origin of r.
func (fs *Feeds) Serve(w http.ResponseWriter, r *http.Request, s Stream) error {
	addr := s.Addr
	if addr == "" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		addr = host
	}
	if err := fs.admit(addr); err != nil {
		return err
	}
	defer fs.leave(addr)
	if s.Interval == 0 {
		s.Interval = Interval
	}
	ctx, cancel := context.WithCancelCause(budget.For(fs.ctx, addr))
	defer cancel(nil)
	c := &conn{feeds: fs, stream: s, reset: s.Anew, credit: make(chan struct{}, 1)}
	for i, a := range s.Archives {
		f, err := fs.open(r.Context(), s, a, addr, cancel)
		if err != nil {
			c.closeFilters()
			return err
		}
		last := a.Snapshot().Last()
		at := min(s.After[i], last)
		if s.Anew {
			at = last
		}
		c.parts = append(c.parts, part{archive: a, filter: f, cursor: at, told: at})
		c.reset = c.reset || s.After[i] > last
	}
	ws, err := fs.upgrader.Upgrade(metered{w}, r, nil)
	if err != nil {
		c.closeFilters()
		return err
	}
	c.ws = ws
	c.run(ctx, func() { cancel(nil) })
	return nil
}

// turn waits until a feed may filter or draw; the caller gives it back with done. Addresses take
// turns, and their feeds in the order that they asked. A turn of some length is followed by a rest
// as long.
func (fs *Feeds) turn(ctx context.Context) (done func(), err error) {
	leave, err := fs.turns.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	return func() {
		took := time.Since(begun)
		if took < time.Millisecond {
			leave()
			return
		}
		time.AfterFunc(took, leave)
	}, nil
}
