// Package demoserver is an AMQP 0-9-1 endpoint inside the process. It feeds the demo over the same
// path as a broker would, and it gives tests what no broker sends: damaged tables, content headers
// larger than frame_max, connections that stall or break.
//
// It is no broker: queues live in memory, nothing is replicated, there is no access control beyond
// one login.
package demoserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"
)

// Config of a Server. The zero value of a field means its default.
type Config struct {
	// Username and Password are asked for when Username is not empty; otherwise anyone may log in.
	Username, Password string
	// VHost is the only virtual host; default "/".
	VHost string
	// Product and Version are told in connection.start; default "headerglass embedded" and "0".
	Product, Version string
	// FrameMax is proposed in connection.tune; default 131,072 bytes, at least 4,096.
	FrameMax uint32
	// Heartbeat is proposed in connection.tune; default 10 s, negative: none.
	Heartbeat time.Duration
	// QueueLimit is how many messages a queue holds, ready and unsettled, before publishers wait;
	// default 10,000.
	QueueLimit int
	// AnyArgument accepts x-stream-offset with basic.consume, as brokers do that look at no
	// argument. RabbitMQ refuses it, because no queue here is a stream.
	AnyArgument bool
}

// Server is the endpoint. All methods may be called concurrently.
type Server struct {
	cfg      Config
	listener net.Listener
	wg       sync.WaitGroup

	// mu guards what follows, every conn and every queue. Nothing waits for the network while it is
	// held.
	mu       sync.Mutex
	closed   bool
	faults   Faults
	conns    map[*conn]struct{}
	queues   map[string]*queue
	kinds    map[string]string // exchange to type
	bindings []binding
	named    int           // queues that the server has named
	space    chan struct{} // closed when a queue has room again; nil: nobody waits
}

// ErrClosed is returned by Publish after Close.
var ErrClosed = errors.New("demoserver: server closed")

// ErrNoQueue is returned by Publish for a queue that does not exist.
var ErrNoQueue = errors.New("demoserver: no such queue")

// Listen starts a server on addr, such as 127.0.0.1:0.
func Listen(addr string, cfg Config) (*Server, error) {
	if cfg.VHost == "" {
		cfg.VHost = "/"
	}
	if cfg.Product == "" {
		cfg.Product, cfg.Version = "headerglass embedded", "0"
	}
	if cfg.FrameMax == 0 {
		cfg.FrameMax = 131072
	}
	cfg.FrameMax = max(cfg.FrameMax, 4096)
	switch {
	case cfg.Heartbeat == 0:
		cfg.Heartbeat = 10 * time.Second
	case cfg.Heartbeat < 0:
		cfg.Heartbeat = 0
	}
	if cfg.QueueLimit <= 0 {
		cfg.QueueLimit = 10_000
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("demoserver: %w", err)
	}
	s := &Server{
		cfg:      cfg,
		listener: l,
		conns:    map[*conn]struct{}{},
		queues:   map[string]*queue{},
		kinds:    map[string]string{},
	}
	s.wg.Go(s.accept)
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL is the address as an AMQP URL, with the login if one is asked for.
func (s *Server) URL() string {
	u := url.URL{
		Scheme:  "amqp",
		Host:    s.listener.Addr().String(),
		Path:    "/" + s.cfg.VHost,
		RawPath: "/" + url.PathEscape(s.cfg.VHost),
	}
	if s.cfg.Username != "" {
		u.User = url.UserPassword(s.cfg.Username, s.cfg.Password)
	}
	return u.String()
}

func (s *Server) accept() {
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			s.mu.Lock()
			closed := s.closed
			s.mu.Unlock()
			if closed || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		c := newConn(s, nc)
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = nc.Close()
			return
		}
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		s.wg.Go(c.write)
		s.wg.Go(func() {
			c.read()
			c.gone()
		})
	}
}

// Declare creates a queue unless it exists.
func (s *Server) Declare(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queues[name] == nil {
		s.queues[name] = &queue{name: name}
	}
}

// Publish appends m to the queue. It waits while the queue holds as much as it may, so that memory
// stays bounded when nobody reads. The server keeps m's slices: they must not change afterwards.
func (s *Server) Publish(ctx context.Context, name string, m Message) error {
	m.complete()
	return s.publish(ctx.Done(), func() error { return ctx.Err() }, name, m)
}

func (s *Server) publish(done <-chan struct{}, cause func() error, name string, m Message) error {
	for {
		s.mu.Lock()
		q := s.queues[name]
		switch {
		case s.closed:
			s.mu.Unlock()
			return ErrClosed
		case q == nil:
			s.mu.Unlock()
			return ErrNoQueue
		case q.size() < s.cfg.QueueLimit:
			q.push(m)
			q.poke()
			s.mu.Unlock()
			return nil
		}
		if s.space == nil {
			s.space = make(chan struct{})
		}
		space := s.space
		s.mu.Unlock()
		select {
		case <-space:
		case <-done:
			return cause()
		}
	}
}

// freed wakes the publishers that wait. The caller holds mu.
func (s *Server) freed() {
	if s.space != nil {
		close(s.space)
		s.space = nil
	}
}

// QueueInfo is what a queue holds.
type QueueInfo struct{ Ready, Unsettled, Consumers int }

// Queue returns what a queue holds; ok is false when it does not exist.
func (s *Server) Queue(name string) (info QueueInfo, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[name]
	if q == nil {
		return QueueInfo{}, false
	}
	return QueueInfo{Ready: q.waiting(), Unsettled: q.unsettled, Consumers: len(q.consumers)}, true
}

// Connections is how many clients are connected.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// route returns the queues that a message goes to. The caller holds mu.
func (s *Server) route(exchange, key string) []string {
	if exchange == "" {
		if s.queues[key] != nil {
			return []string{key}
		}
		return nil
	}
	seen := map[string]bool{}
	var names []string
	for _, b := range s.bindings {
		if b.exchange == exchange && !seen[b.queue] && b.matches(s.kinds[exchange], key) {
			seen[b.queue] = true
			names = append(names, b.queue)
		}
	}
	return names
}

// deleteQueue cancels the queue's consumers and forgets its messages. The caller holds mu.
func (s *Server) deleteQueue(q *queue) {
	q.deleted = true
	delete(s.queues, q.name)
	kept := s.bindings[:0]
	for _, b := range s.bindings {
		if b.queue != q.name {
			kept = append(kept, b)
		}
	}
	s.bindings = kept
	for _, k := range q.consumers {
		c := k.channel.conn
		delete(k.channel.consumers, k.tag)
		c.out.method(k.channel.id, basicCancel, func() {
			c.out.short(k.tag)
			c.out.bit(true)
		})
		c.poke()
	}
	q.consumers, q.ready, q.head = nil, nil, 0
	s.freed()
}

// Close drops every connection and waits until all goroutines have ended.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.wg.Wait()
		return nil
	}
	s.closed = true
	err := s.listener.Close()
	for c := range s.conns {
		_ = c.nc.Close()
	}
	s.freed()
	s.mu.Unlock()
	s.wg.Wait()
	return err
}
