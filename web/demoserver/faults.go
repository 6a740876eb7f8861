package demoserver

// Faults are what a test makes a server do wrong. They apply to connections that exist and to those
// to come.
type Faults struct {
	// WriteChunk splits everything sent into writes of so many bytes; 0 does not.
	WriteChunk int
	// Stall keeps the connections open and sends nothing.
	Stall bool
	// RefuseLogin answers every login with 403.
	RefuseLogin bool
	// DropAfter resets each connection once so many bytes were sent on it; 0 does not.
	DropAfter int64
	// Consume, when its Code is not 0, is what basic.consume gets instead of consume-ok.
	Consume Reply
	// NoConsumeOk leaves basic.consume without an answer, and delivers nothing to the consumer.
	NoConsumeOk bool
}

// Reply is a reply-code and a reply-text of channel.close or connection.close.
type Reply struct {
	Code uint16
	Text string
}

// SetFaults replaces the faults.
func (s *Server) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
	for c := range s.conns {
		c.poke()
	}
}

// Drop closes every connection without a word.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.nc.Close()
	}
}

// CloseConnections sends connection.close to every client.
func (s *Server) CloseConnections(r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.fail(r, 0)
	}
}

// CloseChannels sends channel.close on every open channel.
func (s *Server) CloseChannels(r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		for _, ch := range c.channels {
			if !ch.closed {
				c.failChannel(ch, r, 0)
			}
		}
	}
}

// SetBlocked sends connection.blocked with the reason to every client, or connection.unblocked when
// it is empty.
func (s *Server) SetBlocked(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if reason == "" {
			c.out.method(0, connectionUnblocked, nil)
		} else {
			c.out.method(0, connectionBlocked, func() { c.out.short(reason) })
		}
		c.poke()
	}
}

// Inject sends bytes to every client between two frames.
func (s *Server) Inject(raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.out.b = append(c.out.b, raw...)
		c.poke()
	}
}

// DeleteQueue deletes a queue and cancels its consumers, as a broker does.
func (s *Server) DeleteQueue(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues[name]; q != nil {
		s.deleteQueue(q)
	}
}
