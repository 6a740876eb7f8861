package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/headerglass/headerglass/fieldtable/archive"
	"github.com/headerglass/headerglass/web/eventually"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

const patience = 2 * time.Minute // for events that come sooner or never

// running is a relay that a test runs.
type running struct {
	*Relay
	address string
	stop    func()
}

// run starts a relay to address, which ends with the test at the latest.
func run(tb testing.TB, cfg Config) *running {
	tb.Helper()
	l := listen(tb)
	return runOn(tb, cfg, l)
}

func runOn(tb testing.TB, cfg Config, l net.Listener) *running {
	tb.Helper()
	if cfg.Archive == nil {
		cfg.Archive = archive.New(archive.Config{MaxBytes: 64 << 20})
	}
	r, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx, l) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				tb.Error(err)
			}
		case <-time.After(patience):
			tb.Fatal("Serve does not return")
		}
	}
	tb.Cleanup(stop)
	return &running{r, l.Addr().String(), stop}
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return l
}

// pair opens a connection through the relay to a broker that the test plays.
func pair(t *testing.T, r *running, broker net.Listener) (client, server *net.TCPConn) {
	t.Helper()
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := broker.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	for _, conn := range []net.Conn{c, s} {
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
	}
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

func send(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// expect reads exactly b.
func expect(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	got := make([]byte, len(b))
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatalf("%v after %q", err, got)
	}
	if string(got) != string(b) {
		t.Fatalf("arrived: %q, want %q", got, b)
	}
}

// ends expects the end of the stream.
func ends(t *testing.T, c net.Conn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d octets, %v: the stream goes on", n, err)
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	eventually.True(t, patience, what, ok)
}
