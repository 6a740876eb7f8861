package relay

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/fieldtable/wire"
	"github.com/headerglass/headerglass/web/selfsigned"
)

// Whatever passes arrives octet for octet, however it is cut, and its messages are shown.
func TestBytesPassHoweverTheyAreCut(t *testing.T) {
	broker := listen(t)
	r := run(t, Config{Address: broker.Addr().String()})
	var up, down []byte
	up = append(up, opening...)
	const messages = 40
	for i := range messages {
		body := bytes.Repeat([]byte{byte(i)}, i*i*10) // up to 15 KiB, in frames of 4 KiB
		up = append(up, published("e", fmt.Sprint(i), 0, tenants("a", "b"), body)...)
		deliver := args("ctag", uint64(i+1), uint8(0), "e", fmt.Sprint(i))
		down = append(down, content(1, wire.MethodBasicDeliver, deliver, tenants("a"), body)...)
		down = wire.AppendHeartbeat(down)
	}
	client, server := pair(t, r, broker)
	var both sync.WaitGroup
	cut := func(c net.Conn, b []byte, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		for len(b) > 0 {
			n := min(1+random.IntN(700), len(b))
			if _, err := c.Write(b[:n]); err != nil {
				t.Error(err)
			}
			b = b[n:]
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Error(err)
		}
	}
	arrives := func(c net.Conn, want []byte) {
		if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d octets arrived, %d were sent: %v", len(got), len(want), err)
		}
	}
	both.Go(func() { cut(client, up, 1) })
	both.Go(func() { arrives(server, up); cut(server, down, 2) })
	both.Go(func() { arrives(client, down) })
	both.Wait()
	r.stop()
	counts := map[bool]int{}
	for m := range r.cfg.Archive.Snapshot().Forward(0) {
		p := r.Passage(m.Seq())
		if want := fmt.Sprint(counts[p.Method == source.Publish]); string(m.RoutingKey()) != want {
			t.Errorf("%s: %q where %s was to come", p.Method, m.RoutingKey(), want)
		}
		counts[p.Method == source.Publish]++
	}
	if counts[true] != messages || counts[false] != messages {
		t.Errorf("shown: %v", counts)
	}
}

// One end of a direction is the end of that direction only.
func TestHalfClosedConnections(t *testing.T) {
	broker := listen(t)
	r := run(t, Config{Address: broker.Addr().String()})
	client, server := pair(t, r, broker)
	send(t, client, []byte(opening))
	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	expect(t, server, []byte(opening))
	ends(t, server)
	send(t, server, []byte("still here"))
	expect(t, client, []byte("still here"))
	if err := server.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	ends(t, client)
	until(t, "the connection is over", func() bool { return r.Status().Relay.Open == 0 })
}

// A client that is cut ends its connection to the broker, and a broker that dies that of its
// clients.
func TestACutOnOneSideEndsTheOther(t *testing.T) {
	broker := listen(t)
	r := run(t, Config{Address: broker.Addr().String()})
	for _, tt := range []struct {
		name string
		cut  func(client, server *net.TCPConn) (dies, other *net.TCPConn)
	}{
		{"client", func(c, s *net.TCPConn) (*net.TCPConn, *net.TCPConn) { return c, s }},
		{"broker", func(c, s *net.TCPConn) (*net.TCPConn, *net.TCPConn) { return s, c }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, server := pair(t, r, broker)
			send(t, client, []byte(opening))
			expect(t, server, []byte(opening))
			half := published("e", "half", 0, nil, []byte("never whole"))
			send(t, client, half[:len(half)-4])
			expect(t, server, half[:len(half)-4])
			dies, other := tt.cut(client, server)
			if err := dies.SetLinger(0); err != nil {
				t.Fatal(err)
			}
			dies.Close()
			ends(t, other)
			until(t, "the connection is over", func() bool { return r.Status().Relay.Open == 0 })
		})
	}
	// What there is of them is shown.
	if n := r.cfg.Archive.Snapshot().Last(); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// A broker that is not there is said, and forgotten when it is back.
func TestBrokerNotThere(t *testing.T) {
	broker := listen(t)
	address := broker.Addr().String()
	broker.Close()
	r := run(t, Config{Address: address})
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	ends(t, c)
	c.Close()
	until(t, "it is said", func() bool { return r.Status().State == source.Reconnecting })
	if s := r.Status(); s.State.Ready() || !strings.Contains(s.Error, address+" cannot be reached") {
		t.Errorf("%+v", s)
	}
	var again net.Listener
	until(t, "the broker's port is free", func() bool {
		again, err = net.Listen("tcp", address)
		return err == nil
	})
	defer again.Close()
	client, server := pair(t, r, again)
	send(t, client, []byte(opening))
	expect(t, server, []byte(opening))
	until(t, "it is ready", func() bool { s := r.Status(); return s.State.Ready() && s.Error == "" })
}

// What is not AMQP 0-9-1 passes, and the status says what it is.
func TestOthersPassUnread(t *testing.T) {
	broker := listen(t)
	r := run(t, Config{Address: broker.Addr().String()})
	for _, tt := range []struct{ name, sent, says string }{
		{"0-8", "AMQP\x01\x01\x08\x00", "AMQP 0-8"},
		{"0-9", "AMQP\x01\x01\x00\x09", "AMQP 0-9"},
		{"0-10", "AMQP\x01\x01\x00\x0a", "AMQP 0-10"},
		{"1.0", "AMQP\x00\x01\x00\x00", "AMQP 1.0"},
		{"1.0 with SASL", "AMQP\x03\x01\x00\x00", "AMQP 1.0"},
		{"unknown", "AMQP\x00\x00\x09\x02", "AMQP 00 00 09 02"},
		{"HTTP", "GET / HTTP/1.1\r\n\r\n", "no AMQP"},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01", "TLS, on a listener that has no certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, server := pair(t, r, broker)
			// These would be frames of a message.
			sent := append([]byte(tt.sent), published("e", "k", 0, nil, []byte("body"))...)
			for _, b := range sent {
				send(t, client, []byte{b})
			}
			expect(t, server, sent)
			send(t, server, sent)
			expect(t, client, sent)
			until(t, "it is said", func() bool { return r.Status().Relay.ForeignAs == tt.says })
		})
	}
	r.stop()
	s := r.Status()
	if n := r.cfg.Archive.Snapshot().Last(); n != 0 || s.Relay.Foreign != 8 {
		t.Errorf("%d messages, %+v", n, s.Relay)
	}
	if want := "8 connections do not speak AMQP 0-9-1 and passed unread; the last: TLS, on a listener that has no " +
		"certificate."; len(s.Notes) != 1 || s.Notes[0] != want {
		t.Errorf("%q", s.Notes)
	}
}

// While nothing is read, everything passes, and what does not fit the queue is counted. Reading
// then goes on.
func TestBytesPassWhileNothingIsRead(t *testing.T) {
	broker := listen(t)
	r := run(t, Config{Address: broker.Addr().String(), QueueBytes: 256 << 10})
	client, server := pair(t, r, broker)
	send(t, client, []byte(opening))
	expect(t, server, []byte(opening))
	first := published("e", "first", 0, nil, nil)
	r.mu.Lock() // which the reader needs to store a message
	send(t, client, first)
	expect(t, server, first)
	const many = 2000
	message := published("e", "many", 0, tenants("acme"), bytes.Repeat([]byte("x"), 1024))
	var sending sync.WaitGroup
	sending.Go(func() {
		for range many {
			if _, err := client.Write(message); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range many {
		expect(t, server, message)
	}
	sending.Wait()
	overlooked := r.queue.overlooked.Load()
	r.mu.Unlock()
	if overlooked == 0 {
		t.Fatal("everything fitted: the test shows nothing")
	}
	// The queue empties, and what follows is read again.
	until(t, "the queue is empty", func() bool { return r.queue.waiting.Load() == 0 })
	last := append(published("e", "last", 0, nil, nil), wire.AppendHeartbeat(nil)...)
	send(t, client, last)
	expect(t, server, last)
	kept := r.cfg.Archive.Snapshot
	until(t, "the last message is shown", func() bool {
		m, err := kept().Get(kept().Last())
		return err == nil && string(m.RoutingKey()) == "last"
	})
	m, err := kept().Get(1)
	if err != nil || string(m.RoutingKey()) != "first" {
		t.Errorf("the first is %q, %v", m.RoutingKey(), err)
	}
	s := r.Status()
	if s.Relay.Overlooked != overlooked || s.Relay.Gaps == 0 || len(s.Notes) != 1 ||
		!strings.HasPrefix(s.Notes[0], "Reading was behind: ") {
		t.Errorf("%+v %q", s.Relay, s.Notes)
	}
}

// A fault in reading ends the reading of one connection, and nothing of its forwarding.
func TestAFaultInReading(t *testing.T) {
	broker := listen(t)
	r := run(t, Config{Address: broker.Addr().String()})
	client, server := pair(t, r, broker)
	send(t, client, []byte(opening))
	expect(t, server, []byte(opening))
	r.mu.Lock()
	oldest := r.ledger.oldest
	r.ledger.pages, r.ledger.first = [][]line{make([]line, pageLines)}, 1
	r.ledger.oldest = nil // which a page more asks
	r.mu.Unlock()
	message := published("e", "k", 0, nil, []byte("body"))
	send(t, client, message)
	expect(t, server, message)
	until(t, "it is counted", func() bool { return r.Status().Relay.Broken == 1 })
	send(t, client, message)
	expect(t, server, message)
	r.mu.Lock()
	r.ledger = newLedger(defaultLedgerBytes)
	r.ledger.oldest = oldest
	r.mu.Unlock()
	client, server = pair(t, r, broker)
	send(t, client, append([]byte(opening), message...))
	expect(t, server, append([]byte(opening), message...))
	until(t, "another connection is read", func() bool { return r.cfg.Archive.Snapshot().Last() == 2 })
}

// A thousand clients at once.
func TestAThousandClients(t *testing.T) {
	const clients = 1000
	broker := peerOf(t, func(c net.Conn) { _, _ = io.Copy(c, struct{ io.Reader }{c}) })
	r := run(t, Config{Address: broker})
	conns := make([]net.Conn, clients)
	for i := range conns {
		c, err := net.Dial("tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i] = c
	}
	sent := func(i int) []byte {
		return append([]byte(opening), published("e", fmt.Sprint(i), 0, tenants("acme"), nil)...)
	}
	for i, c := range conns {
		send(t, c, sent(i))
	}
	for i, c := range conns {
		expect(t, c, sent(i))
	}
	// The broker of this test sends all back, so that each publish is shown twice.
	until(t, "all are shown", func() bool { return r.cfg.Archive.Snapshot().Last() == 2*clients })
	if s := r.Status().Relay; s.Open != clients || s.Accepted != clients || s.Overlooked != 0 {
		t.Errorf("%+v", s)
	}
	ids := map[uint64]bool{}
	for m := range r.cfg.Archive.Snapshot().Forward(0) {
		ids[r.Passage(m.Seq()).Connection.ID] = true
	}
	if len(ids) != clients {
		t.Errorf("messages of %d connections", len(ids))
	}
}

// TLS on both sides: each side has its own, and what is shown is what is inside.
func TestTLSOnBothSides(t *testing.T) {
	serverTLS, clientTLS := selfsigned.New(t, 1).Configs(t)
	broker := tls.NewListener(listen(t), serverTLS)
	r := runOn(t, Config{Address: broker.Addr().String(), TLS: clientTLS}, tls.NewListener(listen(t), serverTLS))
	message := append([]byte(opening), published("e", "k", 0, tenants("acme"), []byte("body"))...)
	served := make(chan error, 1)
	go func() {
		c, err := broker.Accept()
		if err != nil {
			served <- err
			return
		}
		defer c.Close()
		got, err := io.ReadAll(c)
		if err == nil && !bytes.Equal(got, message) {
			err = fmt.Errorf("the broker got %q", got)
		}
		served <- err
	}()
	c, err := tls.Dial("tcp", r.address, clientTLS)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send(t, c, message)
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	until(t, "it is shown", func() bool { return r.cfg.Archive.Snapshot().Last() == 1 })
}
