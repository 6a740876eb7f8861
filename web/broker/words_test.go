package broker

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headerglass/headerglass/fieldtable/source"
	"github.com/headerglass/headerglass/web/broker/rabbittest"
)

// serves has every connection to a port of its own begin with read octets, and answers.
func serves(t *testing.T, read int, answer string, cfg *tls.Config) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if cfg != nil {
		l = tls.NewListener(l, cfg)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := io.ReadFull(conn, make([]byte, read)); err != nil {
					return
				}
				_, _ = io.WriteString(conn, answer)
				_, _ = io.Copy(io.Discard, conn) // until the explorer closes
			}()
		}
	}()
	return l.Addr().String()
}

// TestPeersThatAreNoBroker: each has a sentence of its own.
func TestPeersThatAreNoBroker(t *testing.T) {
	ca, err := rabbittest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	authority := ca.File(dir)
	cert, key, err := ca.Issue(dir, "server", "server", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	secure := func(version uint16, auth tls.ClientAuthType) *tls.Config {
		return &tls.Config{
			Certificates: []tls.Certificate{pair}, ClientAuth: auth, MinVersion: version, MaxVersion: version,
		}
	}
	const header = 8
	for _, tc := range []struct {
		name   string
		scheme string
		answer string
		server *tls.Config
		kind   source.ErrorKind
		words  string
	}{
		{"silent", "amqp", "", nil, KindLost, "did not complete the AMQP handshake within 400ms"},
		{"silent over TLS", "amqps", "", secure(tls.VersionTLS13, 0), KindLost, "did not complete the AMQP handshake within"},
		{"HTTP", "amqp", "HTTP/1.1 400 Bad Request\r\n\r\n", nil, KindProtocol, "answers with HTTP and not with AMQP"},
		{"AMQP 1.0", "amqp", "AMQP\x00\x01\x00\x00", nil, KindProtocol, "(it answers with 1.0) and not 0-9-1"},
		{"AMQP 1.0 with SASL", "amqp", "AMQP\x03\x01\x00\x00", nil, KindProtocol, "(it answers with 1.0) and not 0-9-1"},
		{"AMQP 0-10", "amqp", "AMQP\x01\x01\x00\x0a", nil, KindProtocol, "(it answers with 0-10) and not 0-9-1"},
		{"a line of text", "amqp", "220 mail.example ESMTP\r\n", nil, KindProtocol, `its answer begins with "220 mail"`},
		{"plain to TLS 1.2", "amqp", "", secure(tls.VersionTLS12, 0), KindProtocol, "A TLS port needs amqps://"},
		{"plain to TLS 1.3", "amqp", "", secure(tls.VersionTLS13, 0), KindProtocol, "A TLS port needs amqps://"},
		{"no certificate, TLS 1.2", "amqps", "", secure(tls.VersionTLS12, tls.RequireAnyClientCert), KindTLS, "127.0.0.1:"},
		{"no certificate, TLS 1.3", "amqps", "", secure(tls.VersionTLS13, tls.RequireAnyClientCert), KindTLS, "asks for a client certificate, and none was given"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{
				URL:   tc.scheme + "://" + serves(t, header, tc.answer, tc.server) + "/",
				Queue: "q", DialTimeout: 400 * time.Millisecond,
			}
			if !strings.HasPrefix(tc.name, "silent") {
				cfg.DialTimeout = patience // the answer counts, not how soon it comes
			}
			if tc.scheme == "amqps" {
				cfg.CAFile = authority
			}
			r := run(t, cfg)
			until(t, "it has failed", func() bool { return r.Status().Error != "" })
			if st := r.Status(); st.Kind != tc.kind || !strings.Contains(st.Error, tc.words) {
				t.Errorf("%s: %s", st.Kind, st.Error)
			}
		})
	}
}

// TestOnlyACancelIsCalledADeletedQueue: a channel or connection that merely closes ends the
// consumer, too.
func TestOnlyACancelIsCalledADeletedQueue(t *testing.T) {
	for _, tc := range []struct {
		name  string
		end   func(c *scriptConn, tag string)
		kind  source.ErrorKind
		words string
	}{
		{"cancel", func(c *scriptConn, tag string) {
			c.method(1, 60, 30, append(append([]byte{byte(len(tag))}, tag...), 1))
		}, KindCancelled, "was deleted"},
		{"connection.close", func(c *scriptConn, _ string) {
			c.close(0, 320, "CONNECTION_FORCED - bye")
		}, KindClosed, "closed the connection (320): bye"},
		{"channel.close", func(c *scriptConn, _ string) {
			c.close(1, 406, "PRECONDITION_FAILED - no")
		}, KindPrecondition, "(406): no"},
		{"hang-up", func(c *scriptConn, _ string) { c.hangUp() }, KindLost, "broker.example:5672"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 20 { // which of the ends is noticed first is chance
				synctest.Test(t, func(t *testing.T) {
					s := &script{product: "other", version: "1"}
					s.consume = func(c *scriptConn, tag string, _ uint16, _ []byte) {
						c.deliver(tag, false, nil)
						tc.end(c, tag)
					}
					c, stop := s.start(t, Config{Mode: source.Drain})
					defer stop()
					time.Sleep(500 * time.Millisecond)
					synctest.Wait()
					if st := c.Status(); st.Kind != tc.kind || !strings.Contains(st.Error, tc.words) {
						t.Errorf("%s: %s", st.Kind, st.Error)
					}
				})
			}
		})
	}
}

// TestBrokerThatTakesNothingAnyMore: the library holds its locks while it writes, so it would not
// even hear that the broker closes the connection.
func TestBrokerThatTakesNothingAnyMore(t *testing.T) {
	s := &script{product: "other", version: "1"}
	over := make(chan struct{})
	s.consume = func(c *scriptConn, tag string, _ uint16, _ []byte) {
		c.deliver(tag, false, nil)
		c.close(0, 320, "CONNECTION_FORCED - bye")
		<-over // and reads no octet
	}
	c, stop := s.start(t, Config{Mode: source.Drain, Heartbeat: 50 * time.Millisecond})
	until(t, "the connection is given up", func() bool { return c.Status().State == source.Reconnecting })
	if st := c.Status(); st.Kind != KindLost && st.Kind != KindClosed {
		t.Errorf("%s: %s", st.Kind, st.Error)
	}
	close(over)
	stop()
}

// TestStreamWithoutARunningReplicaIsTriedSoonAgain: a restart of the node mends that, and so it is
// no refusal.
func TestStreamWithoutARunningReplicaIsTriedSoonAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{product: "RabbitMQ", version: "4.0.5"}
		s.refusal = "PRECONDITION_FAILED - queue 's' in vhost '/' does not have a running replica on the local node"
		c, stop := s.start(t, Config{Mode: source.Stream, Offset: "first"})
		defer stop()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		st := c.Status()
		if st.Kind != KindNoReplica || !strings.Contains(st.Error, "has no running replica") {
			t.Errorf("%s, %s: %s", st.State, st.Kind, st.Error)
		}
		if n := s.dialled.Load(); n < 8 { // of 1.25 s at most; refusals would have made 4
			t.Errorf("%d attempts in 10 s", n)
		}
	})
}
