package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/headerglass/headerglass/fieldtable/source"
)

// Consumer reads one queue, exchange or stream into an archive.
type Consumer struct {
	cfg        Config
	endpoint   *endpoint
	management *management // nil: not asked
	offset     offset
	secrets    []string
	now        func() time.Time
	reach      func(ctx context.Context, network, address string) (net.Conn, error)

	running atomic.Bool
	// patience is after how long the broker has taken messages back that were held, in nanoseconds;
	// 0: it never has.
	patience atomic.Int64
	flow     *flow
	stuck    stuck // belongs to Run
	status   *tracker
	counts   counters
	// delivered belongs to Run, and to the reader goroutine of the one connection that Run has
	// open.
	delivered *delivered
	// current is the sink of the open connection; nil: there is none.
	current atomic.Pointer[sink]
}

// New checks the configuration and loads the spool. It dials nothing.
func New(cfg Config) (*Consumer, error) {
	e, err := newEndpoint(cfg)
	if err == nil {
		err = cfg.complete()
	}
	c := &Consumer{cfg: cfg, endpoint: e, now: time.Now, reach: new(net.Dialer).DialContext}
	if err == nil && cfg.Mode == source.Stream {
		c.offset, err = parseOffset(cfg.Offset)
	}
	if err == nil && cfg.ManagementURL != "" {
		c.management, err = newManagement(
			cfg.ManagementURL,
			e.username,
			e.password,
			&http.Client{Timeout: e.dialTimeout},
		)
	}
	if err != nil {
		return nil, &Error{Kind: KindConfig, Msg: err.Error(), Err: err}
	}
	c.secrets = secretForms(e.username, e.password, e.urlPassword)
	if c.management != nil {
		c.secrets = append(c.secrets, secretForms(c.management.username, c.management.password)...)
	}
	c.delivered = newDelivered(cfg)
	c.flow = &flow{most: cfg.Prefetch}
	if cfg.Mode == source.Peek {
		c.flow.most = cfg.Window
	}
	if cfg.Spool != nil {
		c.flow.room = spoolAhead / 2
	}
	if c.offset.isNumber {
		// a broker may begin at the start of the chunk that holds it
		c.delivered.next, c.delivered.resumes = c.offset.number, true
	}
	if err := c.restore(); err != nil {
		return nil, &Error{Kind: KindConfig, Msg: err.Error(), Err: err}
	}
	c.counts.offset.Store(-1)
	c.status = newTracker(c)
	return c, nil
}

// complete fills in defaults and checks what does not need the URL.
func (cfg *Config) complete() error {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&cfg.Hold, DefaultHold)
	def(&cfg.Pause, DefaultPause)
	def(&cfg.CloseTimeout, DefaultCloseTimeout)
	if cfg.Window == 0 {
		cfg.Window = DefaultWindow
	}
	if cfg.Prefetch == 0 {
		cfg.Prefetch = DefaultPrefetch
	}
	if cfg.CopyMaxLength <= 0 {
		cfg.CopyMaxLength = DefaultCopyMaxLength
	}
	if cfg.CopyMaxBytes <= 0 {
		cfg.CopyMaxBytes = DefaultCopyMaxBytes
	}
	if cfg.Mode == "" {
		cfg.Mode = source.Peek
	}
	if cfg.Name == "" {
		cfg.Name = "headerglass"
	}
	if len(cfg.Bindings) == 0 {
		cfg.Bindings = []string{"#"}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	const maxName = 255 // bytes of a short string
	switch {
	case cfg.Archive == nil:
		return errors.New("there is no archive to write to")
	case !cfg.Mode.AtBroker():
		return errors.New("the mode is unknown")
	case cfg.Window < 1 || cfg.Window > MaxWindow:
		return fmt.Errorf("the window is %d messages but must be 1 to %d", cfg.Window, MaxWindow)
	case cfg.Prefetch < 1 || cfg.Prefetch > MaxWindow:
		return fmt.Errorf("the prefetch is %d messages but must be 1 to %d", cfg.Prefetch, MaxWindow)
	case cfg.Mode != source.Copy && cfg.Queue == "":
		return errors.New("no queue is given")
	case len(cfg.Queue) > maxName || len(cfg.Exchange) > maxName:
		return fmt.Errorf("a queue's or exchange's name has at most %d bytes", maxName)
	case cfg.Mode == source.Copy && cfg.Exchange == "":
		return errors.New("no exchange is given to copy from: the default exchange cannot be bound to")
	case cfg.Spool != nil && cfg.Mode != source.Drain && cfg.Mode != source.Copy:
		return errors.New(remedied("a spool is for messages that leave the queue: here the broker keeps them itself", cfg.Remedies.NotSpool))
	case cfg.Mode == source.Drain && !cfg.AcceptLoss && cfg.Spool == nil:
		return errors.New(remedied(
			"drain removes messages from the queue and would keep them in memory only", cfg.Remedies.Loss))
	}
	for _, name := range append([]string{cfg.Queue, cfg.Exchange, cfg.Username}, cfg.Bindings...) {
		if !utf8.ValidString(name) {
			return errors.New("a queue, exchange, binding key or user name is not UTF-8")
		}
	}
	if err := checkStreamFilter(cfg); err != nil {
		return err
	}
	for _, key := range cfg.Bindings {
		if len(key) > maxName {
			return fmt.Errorf("a binding key has at most %d bytes", maxName)
		}
	}
	return nil
}

// Run reads until ctx is done, reconnecting by itself; then it gives back what it holds, closes in
// good order, and returns nil. It returns an *Error only with ExitOnError. It may be called once.
func (c *Consumer) Run(ctx context.Context) error {
	if c.running.Swap(true) {
		return errors.New("broker: Run was called before")
	}
	defer c.status.stopped(nil)
	wait := newBackoff()
	for {
		c.status.connecting()
		began := c.now()
		a, e := c.session(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if e == nil {
			e = &Error{Kind: KindLost, Msg: "the connection ended"}
		}
		v := c.ended(a, e)
		if e = v.e; v.progress {
			wait.reset()
		}
		switch {
		case c.cfg.ExitOnError:
			c.status.stopped(e)
			return e
		case e.final():
			c.status.stopped(e)
			<-ctx.Done()
			return nil
		}
		next := wait.next(began, c.now(), e.refused())
		if v.wait > 0 {
			next = c.now().Add(v.wait)
		}
		c.status.failed(e, next)
		timer := time.NewTimer(next.Sub(c.now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// ask learns what the management API knows about the queue.
func (c *Consumer) ask(ctx context.Context) queueFacts {
	if c.management == nil || c.cfg.Mode == source.Copy {
		return unknownQueue()
	}
	facts, err := c.management.queue(ctx, c.endpoint.vhost, c.cfg.Queue)
	if err != nil {
		c.status.managementFailed(c.withoutSecrets(err.Error()))
		return unknownQueue()
	}
	c.status.facts(facts)
	return facts
}

// Status is cheap and safe for concurrent use.
func (c *Consumer) Status() source.Status { return c.status.snapshot() }
